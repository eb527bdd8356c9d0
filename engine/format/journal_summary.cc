#include "engine/format/journal_summary.h"

#include <algorithm>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/base/endian.h"
#include "engine/base/hash.h"
#include "engine/base/status.h"
#include "engine/chunk/special.h"
#include "engine/format/seal.h"

namespace cairn::format {

namespace {

constexpr size_t kPieceHashSize = sizeof(uint64_t);
constexpr size_t kLeastPiece = 2;  // bytes
// The version of everything that follows the record. With another version there are no summaries.
constexpr uint64_t kSummaryVersion = 2;

// Returns a hash that differs for a copy elsewhere, or after another checkpoint.
uint64_t BoundHash(Bytes bytes, uint64_t identity) { return Xxh3(bytes) + identity; }

std::vector<EntryTable> ReadTables(int64_t end, ByteReader& reader) {
  std::vector<EntryTable> tables;
  const auto count = reader.Le<uint64_t>("tables");
  for (uint64_t i = 0; i < count && reader.ok(); ++i) {
    const EntryTable table{.position = reader.Le<int64_t>("table"),
                           .entries = reader.Le<int64_t>("entries of a table"),
                           .hash = reader.Le<uint64_t>("hash of a table")};
    // Tables must not overlap, so that no byte is read twice.
    const int64_t least = tables.empty() ? 0 : tables.back().position + tables.back().size();
    if (table.entries < 0 || table.entries > end / kTableEntrySize || table.position < least ||
        !RangeFits(table.position, table.size(), end)) {
      reader.Fail("table", "%d entries at byte %d", table.entries, table.position);
    }
    tables.push_back(table);
  }
  return tables;
}

// Returns true if `count` entries from the source on exist.
bool IsThere(int64_t source, int64_t count, int64_t committed, int64_t in_tables) {
  return source >= 0 ? RangeFits(source, count, committed) : RangeFits(~source, count, in_tables);
}

// Turns numbers near 0, of either sign, into small numbers.
uint64_t ZigZag(int64_t step) {
  return static_cast<uint64_t>(step) << 1 ^ static_cast<uint64_t>(step >> 63);
}
int64_t UndoZigZag(uint64_t code) { return static_cast<int64_t>(code >> 1 ^ -(code & 1)); }

std::vector<IndexPiece> ReadPieces(int64_t chunks, int64_t committed, int64_t in_tables,
                                   ByteReader& reader) {
  std::vector<IndexPiece> pieces;
  const uint64_t count = reader.Varint("pieces");
  if (count > reader.remaining() / kLeastPiece) {
    reader.Fail("pieces", "%d of them", count);
    return pieces;
  }
  pieces.reserve(static_cast<size_t>(count));
  int64_t begin = 0;
  int64_t next = 0;  // in the index
  for (uint64_t i = 0; i < count; ++i) {
    const auto size = static_cast<int64_t>(reader.Varint("piece"));
    const uint64_t code = reader.Varint("piece");
    const int64_t source = code % 2 == 1
                               ? ~static_cast<int64_t>(code / 2)
                               : CheckedAdd(next, UndoZigZag(code / 2)).value_or(INT64_MAX);
    if (size <= 0 || size > chunks - begin || !IsThere(source, size, committed, in_tables)) {
      reader.Fail("piece", "number %d is none", i);
      break;
    }
    pieces.push_back({.begin = begin, .source = source});
    begin += size;
    if (source >= 0) next = source + size;
  }
  if (begin < chunks) reader.Fail("pieces", "are missing");
  return pieces;
}

void WritePieces(std::span<const IndexPiece> pieces, int64_t chunks, ByteWriter& writer) {
  writer.Varint(pieces.size());
  int64_t next = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const auto [begin, source] = pieces[i];
    const int64_t size = (i + 1 < pieces.size() ? pieces[i + 1].begin : chunks) - begin;
    writer.Varint(static_cast<uint64_t>(size));
    if (source < 0) {
      writer.Varint(static_cast<uint64_t>(~source) * 2 + 1);
    } else {
      writer.Varint(ZigZag(source - next) * 2);
      next = source + size;
    }
  }
}

}  // namespace

uint64_t SummaryIdentity(uint64_t base, int64_t frame_size) {
  ByteWriter writer;
  writer.Le(base, frame_size, kSummaryVersion);
  return Xxh3(writer.written());
}

std::vector<std::byte> EncodeSlot(const SummarySlot& slot, uint64_t identity) {
  ByteWriter writer;
  writer.Le(slot.position, slot.size, slot.generation, slot.last, slot.boot);
  writer.Le(BoundHash(writer.written(), identity));
  return std::move(writer).Take();
}

std::optional<SummarySlot> FindSlot(Bytes bytes, uint64_t identity) {
  if (std::ssize(bytes) < kSlotSize) return std::nullopt;
  ByteReader reader(bytes, "slot");
  SummarySlot slot;
  slot.position = reader.Le<int64_t>("position");
  slot.size = reader.Le<int64_t>("size");
  slot.generation = reader.Le<uint64_t>("generation");
  slot.last = reader.Le<uint64_t>("last");
  slot.boot = reader.Le<uint64_t>("boot");
  const uint64_t hash = BoundHash(bytes.first(reader.offset()), identity);
  const bool fits = slot.position >= 0 && RangeFits(slot.size, slot.position, INT64_MAX);
  if (reader.Le<uint64_t>("hash") != hash || !fits) return std::nullopt;
  return slot;
}

std::vector<std::byte> EncodeAnchor(uint64_t identity) {
  ByteWriter slots;
  for (int64_t i = 0; i < kSlots; ++i) slots.Append(EncodeSlot({}, identity));
  return chunk::MemcpyedChunk(slots.written());
}

std::vector<std::byte> EncodeEntries(std::span<const IndexEntry> entries) {
  ByteWriter writer;
  for (const IndexEntry& entry : entries) {
    writer.Le(entry.value, entry.fingerprint, entry.cbytes);
  }
  return std::move(writer).Take();
}

IndexEntry EntryAt(Bytes table, int64_t number) {
  const std::byte* const at = table.data() + number * kTableEntrySize;
  return {.value = LoadLe<int64_t>(at),
          .fingerprint = LoadLe<uint64_t>(at + 8),
          .cbytes = std::max(LoadLe<int32_t>(at + 16), 0)};
}

absl::StatusOr<JournalSummary> ParseSummary(Bytes summary, const SummarySlot& slot,
                                            uint64_t identity, int64_t committed) {
  constexpr std::string_view kSection = "summary of the journal";
  ByteReader reader(summary, kSection);
  reader.Seek(chunk::kHeaderSize, "record");
  CAIRN_RETURN_IF_ERROR(reader.status());
  const Bytes payload = summary.subspan(reader.offset());
  const std::optional<RecordHead> head = FindRecordHead(payload);
  if (!head.has_value() || head->kind != RecordKind::kCommit || head->size > std::ssize(payload)) {
    return DataLoss("%s: its record is missing", kSection);
  }
  JournalSummary parsed;
  CAIRN_ASSIGN_OR_RETURN(
      parsed.record,
      ParseCommit(reader.Take(static_cast<uint64_t>(head->size), "record"), slot.position));
  parsed.edits = reader.Le<int64_t>("edits");
  parsed.reused = reader.Le<int64_t>("reused bytes");
  parsed.tables = ReadTables(slot.end(), reader);
  int64_t in_tables = 0;
  for (const EntryTable& table : parsed.tables) {
    in_tables = CheckedAdd(in_tables, table.entries).value_or(INT64_MAX);
  }
  parsed.pieces = ReadPieces(parsed.record.totals->nchunks, committed, in_tables, reader);
  const Bytes hashed = payload.first(reader.offset() - chunk::kHeaderSize);
  const auto hash = reader.Le<uint64_t>("hash");
  CAIRN_RETURN_IF_ERROR(reader.status());
  const CommitLinks& links = parsed.record.links;
  const bool is_own = links.base == identity && links.generation == slot.generation &&
                      links.previous == slot.last &&
                      hash == BoundHash(hashed, identity + static_cast<uint64_t>(slot.position));
  // Sums of such numbers cannot overflow.
  constexpr int64_t kMost = INT64_MAX / 8;
  const bool fits = RangeFits(parsed.edits, 0, kMost) && RangeFits(parsed.reused, 0, kMost) &&
                    RangeFits(links.durable_end, 0, slot.position) &&
                    links.generation <= kMaxGeneration;
  if (!is_own || !fits) {
    return DataLoss("%s: at byte %d: it is another one", kSection, slot.position);
  }
  return parsed;
}

std::vector<std::byte> EncodeSummary(JournalSummary& summary, const CommitRecordParts& commit,
                                     Bytes entries, int64_t position, uint64_t identity) {
  std::vector<std::byte> record;
  AppendRecord(commit, position, record);
  ByteWriter pieces;
  WritePieces(summary.pieces, commit.totals->nchunks, pieces);
  const size_t fields = 3 * sizeof(uint64_t) + (summary.tables.size() + 1) * 3 * sizeof(uint64_t) +
                        pieces.size() + kPieceHashSize;
  const size_t nbytes = record.size() + fields + entries.size();
  summary.tables.push_back(
      {.position = position + chunk::kHeaderSize + static_cast<int64_t>(record.size() + fields),
       .entries = std::ssize(entries) / kTableEntrySize,
       .hash = Xxh3(entries)});
  std::vector<std::byte> bytes = chunk::MemcpyedHeader(static_cast<int32_t>(nbytes));
  bytes.reserve(bytes.size() + nbytes);
  ByteWriter writer(std::move(bytes));
  writer.Append(record);
  writer.Le(summary.edits, summary.reused, static_cast<uint64_t>(summary.tables.size()));
  for (const EntryTable& table : summary.tables) {
    writer.Le(table.position, table.entries, table.hash);
  }
  writer.Append(pieces.written());
  const Bytes hashed = Bytes(writer.written()).subspan(chunk::kHeaderSize);
  writer.Le(BoundHash(hashed, identity + static_cast<uint64_t>(position)));
  writer.Append(entries);
  return std::move(writer).Take();
}

}  // namespace cairn::format
