#include "engine/format/journal.h"

#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/base/hash.h"
#include "engine/base/status.h"

namespace cairn::format {

namespace {

// Version 1 has no receipts, and does not tie records to their positions. In version 2 a receipt is
// a record, and there is no kAppend.
constexpr uint32_t kRecordVersion = 3;
constexpr auto kHashSize = static_cast<size_t>(kRecordHashSize);

// The codes follow the order of ChunkEdit.
enum class EditCode : uint32_t { kInsert = 1, kReplace = 2, kErase = 3, kReorder = 4 };

constexpr uint32_t kTotalsVlBlocks = 1;

// A flag of a kAppend: everything before the record was durable.
constexpr uint8_t kDurableUpToHere = 1;

constexpr uint32_t kPartialReplaced = 1;
constexpr uint32_t kPartialHasHead = 2;
constexpr uint32_t kPartialPadded = 4;

constexpr size_t kChunkSize = 8 + 8 + 4 + 4;
constexpr size_t kLinksSize = 8 + 8 + 8 + 8;
constexpr size_t kTotalsSize = 3 * 8 + 2 * 4;

void WriteChunk(const IndexedChunk& chunk, ByteWriter& writer) {
  writer.Le(chunk.entry.value, chunk.entry.fingerprint, chunk.nbytes, chunk.entry.cbytes);
}

IndexedChunk ReadChunk(ByteReader& reader) {
  IndexedChunk chunk;
  chunk.entry.value = reader.Le<int64_t>("entry");
  chunk.entry.fingerprint = reader.Le<uint64_t>("chunk fingerprint");
  chunk.nbytes = reader.Le<int32_t>("chunk nbytes");
  chunk.entry.cbytes = reader.Le<int32_t>("chunk cbytes");
  if (chunk.nbytes < 0 || chunk.entry.cbytes < 0) reader.Fail("chunk size", "is negative");
  return chunk;
}

ReorderEdit ReadOrder(uint64_t count, ByteReader& reader) {
  ReorderEdit edit;
  if (count > reader.remaining() / sizeof(uint32_t)) {
    reader.Fail("order", "%d chunks", count);
    return edit;
  }
  edit.order.reserve(static_cast<size_t>(count));
  for (uint64_t i = 0; i < count; ++i) edit.order.push_back(reader.Le<uint32_t>("order"));
  return edit;
}

ChunkEdit ReadEdit(ByteReader& reader) {
  const auto code = static_cast<EditCode>(reader.Le<uint32_t>("edit"));
  const auto nchunk = reader.Le<int64_t>("chunk number");
  switch (code) {
    case EditCode::kInsert:
      return InsertEdit{.nchunk = nchunk, .chunk = ReadChunk(reader)};
    case EditCode::kReplace:
      return ReplaceEdit{.nchunk = nchunk, .chunk = ReadChunk(reader)};
    case EditCode::kErase:
      return EraseEdit{.first = nchunk, .count = reader.Le<int64_t>("count")};
    case EditCode::kReorder:
      return ReadOrder(static_cast<uint64_t>(nchunk), reader);
  }
  reader.Fail("edit", "%d is not known", static_cast<uint32_t>(code));
  return EraseEdit{};
}

void WritePartial(const CommitRecordParts& commit, ByteWriter& writer) {
  const bool head = commit.partial_head.has_value();
  writer.Le((commit.partial_replaced ? kPartialReplaced : 0) | (head ? kPartialHasHead : 0) |
            (commit.partial_padded ? kPartialPadded : 0));
  if (head) WriteChunk(*commit.partial_head, writer);
  writer.Le(static_cast<uint64_t>(commit.partial_items.size()));
  writer.Append(commit.partial_items);
}

PartialEdit ReadPartial(ByteReader& reader) {
  PartialEdit partial;
  const uint32_t flags = reader.Le<uint32_t>("pending items");
  partial.replaces = (flags & kPartialReplaced) != 0;
  if ((flags & kPartialHasHead) != 0) partial.head = ReadChunk(reader);
  partial.padded = (flags & kPartialPadded) != 0;
  if (partial.head.has_value() && !partial.replaces)
    reader.Fail("pending items", "continues two chunks");
  if (partial.padded && !partial.replaces) reader.Fail("pending items", "are padded from here on");
  const uint64_t size = reader.Le<uint64_t>("size of pending items");
  partial.items = ToVector(reader.Take(size, "pending items"));
  return partial;
}

void WriteTotals(const CommitTotals& totals, ByteWriter& writer) {
  writer.Le(totals.nchunks, totals.nbytes, totals.stored_bytes, totals.chunksize,
            totals.vlblocks ? kTotalsVlBlocks : 0);
}

CommitTotals ReadTotals(ByteReader& reader) {
  CommitTotals totals;
  totals.nchunks = reader.Le<int64_t>("nchunks");
  totals.nbytes = reader.Le<int64_t>("nbytes");
  totals.stored_bytes = reader.Le<int64_t>("stored bytes");
  totals.chunksize = reader.Le<int32_t>("chunksize");
  totals.vlblocks = (reader.Le<uint32_t>("flags") & kTotalsVlBlocks) != 0;
  return totals;
}

// Reads from the first byte of a record to the end of its base.
uint64_t ReadBase(ByteReader& reader, int64_t position) {
  reader.Seek(kRecordMagic.size(), "version");
  const bool tied = reader.Le<uint32_t>("version") > 1;
  reader.Seek(kRecordHeadSize, "base");
  const auto base = reader.Le<uint64_t>("base");
  return tied ? base - static_cast<uint64_t>(position) : base;
}

// Appends a record. `write` writes its payload.
template <typename Write>
void Append(RecordKind kind, std::vector<std::byte>& out, const Write& write) {
  const size_t begin = out.size();
  ByteWriter writer(std::move(out));
  writer.Append(AsBytes(kRecordMagic));
  writer.Le(kRecordVersion, static_cast<uint32_t>(kind), uint64_t{0});
  write(writer);
  const uint64_t size = writer.size() - begin + kHashSize;
  StoreLe(writer.written().data() + begin + kRecordHeadSize - sizeof(size), size);
  writer.Le(Xxh3(writer.written().subspan(begin)));
  out = std::move(writer).Take();
}

void WriteLinks(const CommitLinks& links, int64_t position, ByteWriter& writer) {
  writer.Le(links.base + static_cast<uint64_t>(position), links.generation, links.previous);
}

CommitLinks ReadLinks(ByteReader& reader, int64_t position) {
  CommitLinks links;
  links.base = ReadBase(reader, position);
  links.generation = reader.Le<uint64_t>("generation");
  links.previous = reader.Le<uint64_t>("previous");
  return links;
}

// Reads a kAppend. The reader has read nothing yet.
CommitRecord ReadAppend(ByteReader& reader, int64_t position) {
  CommitRecord commit{.links = ReadLinks(reader, position)};
  const uint8_t flags = reader.U8("flags");
  if (flags > kDurableUpToHere) reader.Fail("flags", "%d is not known", flags);
  commit.links.durable_end =
      flags == kDurableUpToHere ? position : reader.Le<int64_t>("durable end");
  commit.partial.items = ToVector(reader.Take(reader.remaining(), "items"));
  return commit;
}

CommitRecord ReadCommit(ByteReader& reader, int64_t position) {
  CommitRecord commit{.links = ReadLinks(reader, position)};
  commit.links.durable_end = reader.Le<int64_t>("durable end");
  commit.totals = ReadTotals(reader);
  const uint32_t nchunks = reader.Le<uint32_t>("chunk edits");
  for (uint32_t i = 0; i < nchunks && reader.ok(); ++i) commit.chunks.push_back(ReadEdit(reader));
  const uint32_t nlayers = reader.Le<uint32_t>("layer edits");
  for (uint32_t i = 0; i < nlayers && reader.ok(); ++i)
    commit.layers.push_back(ReadLayerEdit(reader));
  commit.partial = ReadPartial(reader);
  return commit;
}

}  // namespace

void WriteLayerEdit(const LayerEdit& edit, ByteWriter& writer) {
  writer.Le(static_cast<uint32_t>(edit.kind), static_cast<uint32_t>(edit.name.size()),
            static_cast<uint64_t>(edit.content.size()));
  writer.Append(AsBytes(edit.name));
  writer.Append(edit.content);
}

LayerEdit ReadLayerEdit(ByteReader& reader) {
  LayerEdit edit;
  const uint32_t kind = reader.Le<uint32_t>("layer edit");
  if (kind < 1 || kind > 3) reader.Fail("layer edit", "%d is not known", kind);
  edit.kind = static_cast<LayerEdit::Kind>(kind);
  const uint32_t name_size = reader.Le<uint32_t>("layer name");
  const uint64_t size = reader.Le<uint64_t>("layer content");
  edit.name = AsText(reader.Take(name_size, "layer name"));
  edit.content = ToVector(reader.Take(size, "layer content"));
  return edit;
}

std::optional<RecordHead> FindRecordHead(Bytes bytes) {
  if (std::ssize(bytes) < kRecordHeadSize) return std::nullopt;
  const std::string_view magic = AsText(bytes.first(kRecordMagic.size()));
  if (magic == kReceiptMagic) return RecordHead{.kind = RecordKind::kReceipt, .size = kReceiptSize};
  if (magic != kRecordMagic) return std::nullopt;
  ByteReader reader(bytes, "record");
  reader.Take(kRecordMagic.size(), "magic");
  const uint32_t version = reader.Le<uint32_t>("version");
  const uint32_t kind = reader.Le<uint32_t>("kind");
  const uint64_t size = reader.Le<uint64_t>("size");
  if (size < kMinRecordSize || size > kMaxRecordSize) return std::nullopt;
  const bool known = version >= 1 && version <= kRecordVersion &&
                     kind >= static_cast<uint32_t>(RecordKind::kCommit) &&
                     kind <= static_cast<uint32_t>(RecordKind::kEnded);
  return RecordHead{.kind = known ? static_cast<RecordKind>(kind) : RecordKind::kUnknown,
                    .size = static_cast<int64_t>(size)};
}

bool ChecksumMatches(Bytes record) {
  return std::ssize(record) >= kMinRecordSize &&
         Xxh3(record.first(record.size() - kHashSize)) == StoredChecksum(record);
}

uint64_t StoredChecksum(Bytes record) { return LoadLe<uint64_t>(record.last(kHashSize).data()); }

absl::StatusOr<CommitRecord> ParseCommit(Bytes record, int64_t position) {
  const std::optional<RecordHead> head = FindRecordHead(record);
  const bool appends = head.has_value() && head->kind == RecordKind::kAppend;
  ByteReader reader(record.first(record.size() - kHashSize), "commit");
  CommitRecord commit = appends ? ReadAppend(reader, position) : ReadCommit(reader, position);
  if (reader.ok() && reader.remaining() > 0) {
    reader.Fail("end", "%d more bytes", reader.remaining());
  }
  CAIRN_RETURN_IF_ERROR(reader.status());
  return commit;
}

const IndexedChunk* StoredBy(const ChunkEdit& edit) {
  const IndexedChunk* chunk = nullptr;
  if (const auto* insert = std::get_if<InsertEdit>(&edit)) chunk = &insert->chunk;
  if (const auto* replace = std::get_if<ReplaceEdit>(&edit)) chunk = &replace->chunk;
  return chunk != nullptr && !IsSpecialEntry(chunk->entry.value) ? chunk : nullptr;
}

void EncodedEdits::Add(const ChunkEdit& edit) {
  ByteWriter writer(std::move(bytes_));
  writer.Le(static_cast<uint32_t>(edit.index() + 1));  // an EditCode
  const auto write = [&](const auto& fields) {
    if constexpr (requires { fields.chunk; }) {
      writer.Le(fields.nchunk);
      WriteChunk(fields.chunk, writer);
    } else if constexpr (requires { fields.order; }) {
      writer.Le(int64_t{std::ssize(fields.order)});
      for (const uint32_t nchunk : fields.order) writer.Le(nchunk);
    } else {
      writer.Le(fields.first, fields.count);
    }
  };
  std::visit(write, edit);
  bytes_ = std::move(writer).Take();
  ++count_;
}

void EncodedEdits::SetChunk(size_t begin, const IndexedChunk& chunk) {
  constexpr size_t kChunkAt = 4 + 8;
  ByteWriter writer;
  WriteChunk(chunk, writer);
  CopyBytes(std::move(writer).Take(), MutableBytes(bytes_).subspan(begin + kChunkAt));
}

std::vector<ChunkEdit> EncodedEdits::Decode() const {
  ByteReader reader(bytes_, "edits");
  std::vector<ChunkEdit> edits;
  for (int64_t i = 0; i < count_; ++i) edits.push_back(ReadEdit(reader));
  return edits;
}

void EncodedEdits::Clear() {
  bytes_.clear();
  count_ = 0;
}

int64_t RecordSize(const CommitRecordParts& commit) {
  if (!commit.totals.has_value()) {
    return kMinRecordSize + static_cast<int64_t>(kLinksSize + 1 + commit.partial_items.size());
  }
  size_t size = kLinksSize + kTotalsSize + 4 + commit.chunks.bytes().size() + 4;
  for (const LayerEdit& edit : commit.layers) {
    size += 4 + 4 + 8 + edit.name.size() + edit.content.size();
  }
  size += 4 + (commit.partial_head.has_value() ? kChunkSize : 0) + 8 + commit.partial_items.size();
  return kMinRecordSize + static_cast<int64_t>(size);
}

void AppendRecord(const CommitRecordParts& commit, int64_t position, std::vector<std::byte>& out) {
  if (!commit.totals.has_value()) {
    Append(RecordKind::kAppend, out, [&](ByteWriter& writer) {
      WriteLinks(commit.links, position, writer);
      const bool all_durable = commit.links.durable_end == position;
      writer.U8(all_durable ? kDurableUpToHere : 0);
      if (!all_durable) writer.Le(commit.links.durable_end);
      writer.Append(commit.partial_items);
    });
    return;
  }
  Append(RecordKind::kCommit, out, [&](ByteWriter& writer) {
    WriteLinks(commit.links, position, writer);
    writer.Le(commit.links.durable_end);
    WriteTotals(*commit.totals, writer);
    writer.Le(static_cast<uint32_t>(commit.chunks.count()));
    writer.Append(commit.chunks.bytes());
    writer.Le(static_cast<uint32_t>(commit.layers.size()));
    for (const LayerEdit& edit : commit.layers) WriteLayerEdit(edit, writer);
    WritePartial(commit, writer);
  });
}

std::optional<Receipt> FindReceipt(Bytes bytes, int64_t position) {
  const std::optional<RecordHead> head = FindRecordHead(bytes);
  if (!head.has_value() || head->kind != RecordKind::kReceipt || head->size > kMaxReceiptSize ||
      head->size > std::ssize(bytes)) {
    return std::nullopt;
  }
  const Bytes record = bytes.first(static_cast<size_t>(head->size));
  if (!ChecksumMatches(record)) return std::nullopt;
  const bool is_record = AsText(record.first(kRecordMagic.size())) == kRecordMagic;
  ByteReader reader(record, "receipt");
  Receipt receipt{.size = head->size};
  if (is_record) {
    receipt.base = ReadBase(reader, position);
  } else {
    reader.Seek(kReceiptMagic.size(), "base");
    receipt.base = reader.Le<uint64_t>("base") - static_cast<uint64_t>(position);
  }
  receipt.generation = reader.Le<uint64_t>("generation");
  receipt.boot = reader.Le<uint64_t>("boot");
  receipt.durable_generation = reader.Le<uint64_t>("durable generation");
  if (!reader.ok() || receipt.durable_generation > receipt.generation) return std::nullopt;
  return receipt;
}

void AppendReceipt(const Receipt& receipt, int64_t position, std::vector<std::byte>& out) {
  const size_t begin = out.size();
  ByteWriter writer(std::move(out));
  writer.Append(AsBytes(kReceiptMagic));
  writer.Le(receipt.base + static_cast<uint64_t>(position), receipt.generation, receipt.boot,
            receipt.durable_generation);
  writer.Le(Xxh3(writer.written().subspan(begin)));
  out = std::move(writer).Take();
}

std::optional<InheritedJournal> FindGoesOn(Bytes bytes, int64_t position) {
  const std::optional<RecordHead> head = FindRecordHead(bytes);
  if (!head.has_value() || head->kind != RecordKind::kGoesOn || head->size != kGoesOnSize ||
      std::ssize(bytes) != kGoesOnSize || !ChecksumMatches(bytes)) {
    return std::nullopt;
  }
  ByteReader reader(bytes, "record of where the journal continues");
  InheritedJournal journal;
  journal.base = ReadBase(reader, position);
  journal.generation = reader.Le<uint64_t>("generation");
  journal.begin = reader.Le<int64_t>("begin");
  journal.last = reader.Le<uint64_t>("last");
  journal.since = reader.Le<uint64_t>("since");
  // The record and the journal's begin lie in one chunk.
  if (journal.begin <= position || journal.begin - position > kMaxChunkBytes) return std::nullopt;
  return journal;
}

std::vector<std::byte> EncodeGoesOn(const InheritedJournal& journal, int64_t position) {
  std::vector<std::byte> record;
  Append(RecordKind::kGoesOn, record, [&](ByteWriter& writer) {
    writer.Le(journal.base + static_cast<uint64_t>(position), journal.generation, journal.begin,
              journal.last, journal.since);
  });
  return record;
}

std::optional<EndedJournal> FindEnded(Bytes bytes, int64_t position) {
  const std::optional<RecordHead> head = FindRecordHead(bytes);
  if (!head.has_value() || head->kind != RecordKind::kEnded || head->size != kEndedSize ||
      std::ssize(bytes) != kEndedSize || !ChecksumMatches(bytes)) {
    return std::nullopt;
  }
  ByteReader reader(bytes, "record of how the journal ended");
  EndedJournal ended;
  ended.base = ReadBase(reader, position);
  ended.last = reader.Le<uint64_t>("last generation");
  ended.generation = reader.Le<uint64_t>("generation");
  ended.frame_size = reader.Le<int64_t>("frame size");
  if (ended.last > ended.generation) return std::nullopt;
  return ended;
}

std::vector<std::byte> EncodeEnded(const EndedJournal& ended, int64_t position) {
  std::vector<std::byte> record;
  Append(RecordKind::kEnded, record, [&](ByteWriter& writer) {
    writer.Le(ended.base + static_cast<uint64_t>(position), ended.last, ended.generation,
              ended.frame_size);
  });
  return record;
}

std::vector<std::byte> EncodeReplaced() {
  std::vector<std::byte> record;
  Append(RecordKind::kReplaced, record, [](ByteWriter&) {});
  return record;
}

uint64_t BaseIdentity(const FrameHeader& header, Bytes trailer,
                      const std::vector<LayerPlace>& layers, uint64_t nonce) {
  ByteWriter writer;
  writer.Le(header.frame_size, header.nbytes, header.cbytes, nonce);
  writer.Append(TrailerFingerprint(FingerprintType::k64Bit, trailer, layers));
  return Xxh3(writer.written());
}

}  // namespace cairn::format
