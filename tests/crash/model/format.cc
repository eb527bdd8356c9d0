#include "tests/crash/model/format.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "tests/crash/model/random.h"

namespace cairn::model {
namespace {

constexpr std::string_view kFrameMagic = "b2frameX";
constexpr std::string_view kRecordMagic = "CRNB";
constexpr std::string_view kReceiptMagic = "CRNR";
constexpr std::string_view kEndedMagic = "CRNE";
constexpr std::string_view kChunkMagic = "CHNK";
constexpr std::string_view kTrailerMagic = "TRLR";
constexpr size_t kRecordFixedSize = 72;
constexpr size_t kChunkRefSize = 24;
constexpr size_t kRemovedSize = 8;
constexpr size_t kExtentSize = 16;
constexpr size_t kHashSize = 8;
constexpr size_t kTrailerSize = 80;

void PutText(Bytes& bytes, std::string_view text) {
  bytes.insert(bytes.end(), text.begin(), text.end());
}

void Put(Bytes& bytes, uint64_t value, size_t width = 8) {
  for (size_t i = 0; i < width; ++i) bytes.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

uint64_t Get(const Bytes& bytes, size_t offset, size_t width = 8) {
  uint64_t value = 0;
  for (size_t i = 0; i < width; ++i) value |= static_cast<uint64_t>(bytes[offset + i]) << (8 * i);
  return value;
}

bool HasText(const Bytes& bytes, size_t offset, std::string_view text) {
  return offset + text.size() <= bytes.size() &&
         std::memcmp(bytes.data() + offset, text.data(), text.size()) == 0;
}

void PutChunks(Bytes& bytes, const std::vector<ChunkRef>& chunks) {
  for (const ChunkRef& chunk : chunks) {
    Put(bytes, chunk.offset);
    Put(bytes, chunk.size);
    Put(bytes, chunk.hash);
  }
}

std::vector<ChunkRef> GetChunks(const Bytes& bytes, size_t offset, size_t count) {
  std::vector<ChunkRef> chunks;
  for (size_t i = 0; i < count; ++i, offset += kChunkRefSize) {
    chunks.push_back({Get(bytes, offset), Get(bytes, offset + 8), Get(bytes, offset + 16)});
  }
  return chunks;
}

std::vector<uint64_t> GetNumbers(const Bytes& bytes, size_t offset, size_t count) {
  std::vector<uint64_t> numbers;
  for (size_t i = 0; i < count; ++i) numbers.push_back(Get(bytes, offset + i * kRemovedSize));
  return numbers;
}

void PutExtents(Bytes& bytes, const std::vector<Extent>& extents) {
  Put(bytes, extents.size());
  for (const Extent& extent : extents) {
    Put(bytes, extent.begin);
    Put(bytes, extent.end);
  }
}

// False when they do not end before `limit`. `offset` moves past them.
bool GetExtents(const Bytes& bytes, size_t& offset, size_t limit, std::vector<Extent>& extents) {
  if (offset + 8 > limit) return false;
  const uint64_t count = Get(bytes, offset);
  offset += 8;
  if (count > (limit - offset) / kExtentSize) return false;
  for (uint64_t i = 0; i < count; ++i, offset += kExtentSize) {
    extents.push_back({Get(bytes, offset), Get(bytes, offset + 8)});
  }
  return true;
}

bool HashFits(const Bytes& file, size_t begin, size_t size) {
  const size_t end = begin + size - kHashSize;
  return Get(file, end) == Hash(file, begin, end);
}

void PutBase(Bytes& bytes, const Base& base, uint64_t position) {
  Put(bytes, base.end);
  Put(bytes, base.id + position);
}

Base GetBase(const Bytes& bytes, size_t offset, uint64_t position) {
  return {Get(bytes, offset), Get(bytes, offset + 8) - position};
}

// False, and nothing read, when it is damaged.
bool ReadTrailer(const Bytes& file, size_t end, Checkpoint& checkpoint) {
  const size_t trailer = end - kTrailerSize;
  const size_t size = Get(file, trailer + 4, 4);
  if (size > trailer) return false;
  size_t at = trailer - size;
  const uint64_t id = Hash(file, at, end - kHashSize);
  if (Get(file, end - kHashSize) != id) return false;
  checkpoint.base = {end, id};
  checkpoint.generation = Get(file, trailer + 16);
  checkpoint.journal = {.begin = Get(file, trailer + 24),
                        .base = GetBase(file, trailer + 32, 0),
                        .previous = Get(file, trailer + 48),
                        .born = Get(file, trailer + 56)};
  if (checkpoint.journal.begin == 0) {
    checkpoint.journal = {end, checkpoint.base, id, checkpoint.generation};
  }
  return GetExtents(file, at, trailer, checkpoint.space.free) &&
         GetExtents(file, at, trailer, checkpoint.space.dead) && at == trailer;
}

}  // namespace

uint64_t Hash(const Bytes& bytes, size_t begin, size_t end, uint64_t seed) {
  uint64_t hash = seed ^ 0x1234567u;
  size_t i = begin;
  for (; i + 8 <= end; i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, 8);
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 29;
  }
  for (; i < end; ++i) {
    hash = (hash ^ bytes[i]) * 0x100000001b3u;
    hash ^= hash >> 31;
  }
  hash *= 0xBF58476D1CE4E5B9u;
  return (hash ^ (hash >> 32)) | 1;
}

bool ChunkIsIntact(const Bytes& file, const ChunkRef& chunk) {
  return chunk.offset <= chunk.end() && chunk.end() <= file.size() &&
         Hash(file, chunk.offset, chunk.end()) == chunk.hash;
}

void Apply(const BatchRecord& record, State& state) {
  for (const uint64_t number : record.removed) {
    state.chunks.erase(state.chunks.begin() + static_cast<ptrdiff_t>(number));
  }
  state.chunks.insert(state.chunks.end(), record.chunks.begin(), record.chunks.end());
  if (record.metadata != 0) state.metadata = record.metadata;
}

size_t RecordSize(size_t chunks, size_t removed) {
  return kRecordFixedSize + chunks * kChunkRefSize + removed * kRemovedSize + kHashSize;
}

Bytes Encode(const BatchRecord& record, uint64_t position) {
  Bytes bytes;
  PutText(bytes, kRecordMagic);
  Put(bytes, RecordSize(record.chunks.size(), record.removed.size()), 4);
  PutBase(bytes, record.base, position);
  Put(bytes, record.generation);
  Put(bytes, record.previous);
  Put(bytes, record.durable_end);
  Put(bytes, record.metadata);
  Put(bytes, record.chunks.size());
  Put(bytes, record.removed.size());
  PutChunks(bytes, record.chunks);
  for (const uint64_t number : record.removed) Put(bytes, number);
  Put(bytes, Hash(bytes, 0, bytes.size()));
  return bytes;
}

Bytes Encode(const Receipt& receipt, uint64_t position) {
  Bytes bytes;
  PutText(bytes, kReceiptMagic);
  Put(bytes, kReceiptSize, 4);
  PutBase(bytes, receipt.base, position);
  Put(bytes, receipt.generation);
  Put(bytes, receipt.boot);
  Put(bytes, 0);
  Put(bytes, receipt.durable_generation);
  Put(bytes, Hash(bytes, 0, bytes.size()));
  return bytes;
}

Bytes Encode(const Ended& ended, uint64_t position) {
  Bytes bytes;
  PutText(bytes, kEndedMagic);
  Put(bytes, kEndedSize, 4);
  PutBase(bytes, ended.base, position);
  Put(bytes, ended.generation);
  Put(bytes, Hash(bytes, 0, bytes.size()));
  return bytes;
}

std::optional<FoundRecord> FindRecord(const Bytes& file, size_t position, bool bound) {
  if (!HasText(file, position, kRecordMagic) || position + RecordSize(0, 0) > file.size()) {
    return std::nullopt;
  }
  const size_t size = Get(file, position + 4, 4);
  const uint64_t count = Get(file, position + 56);
  const uint64_t removed = Get(file, position + 64);
  if (count > 1000 || removed > 1000 || size != RecordSize(count, removed) ||
      position + size > file.size() || !HashFits(file, position, size)) {
    return std::nullopt;
  }
  const size_t chunks = position + kRecordFixedSize;
  return FoundRecord{
      .record = {.base = GetBase(file, position + 8, bound ? position : 0),
                 .generation = Get(file, position + 24),
                 .previous = Get(file, position + 32),
                 .durable_end = Get(file, position + 40),
                 .metadata = Get(file, position + 48),
                 .removed = GetNumbers(file, chunks + count * kChunkRefSize, removed),
                 .chunks = GetChunks(file, chunks, count)},
      .begin = position,
      .end = position + size,
      .hash = Get(file, position + size - kHashSize)};
}

std::optional<Receipt> FindReceipt(const Bytes& file, size_t position, bool bound) {
  if (!HasText(file, position, kReceiptMagic) || position + kReceiptSize > file.size() ||
      Get(file, position + 4, 4) != kReceiptSize || !HashFits(file, position, kReceiptSize)) {
    return std::nullopt;
  }
  return Receipt{.base = GetBase(file, position + 8, bound ? position : 0),
                 .generation = Get(file, position + 24),
                 .boot = Get(file, position + 32),
                 .durable_generation = Get(file, position + kReceiptDurableAt)};
}

std::optional<Ended> FindEnded(const Bytes& file, size_t position, bool bound) {
  if (!HasText(file, position, kEndedMagic) || position + kEndedSize > file.size() ||
      !HashFits(file, position, kEndedSize)) {
    return std::nullopt;
  }
  return Ended{.base = GetBase(file, position + 8, bound ? position : 0),
               .generation = Get(file, position + 24)};
}

std::optional<uint64_t> TrailerGeneration(const Bytes& file, const Base& base) {
  Checkpoint checkpoint;
  const bool is_there = base.end >= kTrailerSize && base.end <= file.size() &&
                        HasText(file, base.end - kTrailerSize, kTrailerMagic) &&
                        ReadTrailer(file, base.end, checkpoint) && checkpoint.base == base;
  return is_there ? std::optional(checkpoint.generation) : std::nullopt;
}

std::optional<size_t> SkipChunk(const Bytes& file, size_t position) {
  if (!HasText(file, position, kChunkMagic) || position + kChunkHeaderSize > file.size()) {
    return std::nullopt;
  }
  const size_t size = Get(file, position + 4, 4);
  if (size < kChunkHeaderSize || position + size > file.size()) return std::nullopt;
  return position + size;
}

Bytes MakeChunkHeader(uint64_t id, uint64_t size) {
  Bytes header;
  PutText(header, kChunkMagic);
  Put(header, size, 4);
  Put(header, id);
  header.resize(kChunkHeaderSize);
  return header;
}

Bytes MakeChunk(uint64_t id, size_t size, const Bytes& embedded) {
  size = std::max(size, kChunkHeaderSize + embedded.size());
  Bytes chunk = MakeChunkHeader(id, size);
  chunk.insert(chunk.end(), embedded.begin(), embedded.end());
  Random content(id * 77 + 5);
  while (chunk.size() < size) chunk.push_back(static_cast<uint8_t>(content.Next()));
  return chunk;
}

CheckpointBytes EncodeCheckpoint(const Checkpoint& checkpoint, const HeaderFormat& format,
                                 uint64_t nonce) {
  const State& state = checkpoint.state;
  CheckpointBytes bytes;
  Bytes& rest = bytes.after_chunks;
  PutChunks(rest, state.chunks);
  const size_t lists = rest.size();
  PutExtents(rest, checkpoint.space.free);
  PutExtents(rest, checkpoint.space.dead);
  bytes.base.end = checkpoint.index_begin + rest.size() + kTrailerSize;
  Bytes& header = bytes.header;
  PutText(header, kFrameMagic);
  Put(header, format.size);
  Put(header, bytes.base.end);
  Put(header, state.chunks.size());
  Put(header, checkpoint.index_begin);
  Put(header, state.metadata);
  while (header.size() + 8 <= format.size) Put(header, format.changes_whole ? state.metadata : 0);
  header.resize(format.size);
  const size_t lists_size = rest.size() - lists;
  PutText(rest, kTrailerMagic);
  Put(rest, lists_size, 4);
  Put(rest, Hash(rest, 0, lists, Hash(header, 0, header.size())));
  Put(rest, checkpoint.generation);
  Put(rest, checkpoint.journal.begin);
  PutBase(rest, checkpoint.journal.base, 0);
  Put(rest, checkpoint.journal.previous);
  Put(rest, checkpoint.journal.born);
  Put(rest, nonce);
  bytes.base.id = Hash(rest, lists, rest.size());
  Put(rest, bytes.base.id);
  return bytes;
}

std::optional<Checkpoint> ReadCheckpoint(const Bytes& file, size_t header_size, std::string& why) {
  why = "header";
  if (file.size() < header_size + kTrailerSize || !HasText(file, 0, kFrameMagic)) {
    return std::nullopt;
  }
  const uint64_t end = Get(file, 16);
  const uint64_t count = Get(file, 24);
  const uint64_t index = Get(file, 32);
  if (end > file.size() || end < header_size + kTrailerSize || count > file.size() ||
      index < header_size || index > end) {
    return std::nullopt;
  }
  why = "trailer";
  Checkpoint checkpoint;
  checkpoint.index_begin = index;
  const size_t lists_begin = index + count * kChunkRefSize;
  if (end < lists_begin + kTrailerSize || !HasText(file, end - kTrailerSize, kTrailerMagic)) {
    return std::nullopt;
  }
  checkpoint.state = {GetChunks(file, index, count), Get(file, 40)};
  if (!ReadTrailer(file, end, checkpoint)) {
    checkpoint.trailer_damaged = true;
    checkpoint.journal.begin = end;
    return checkpoint;
  }
  const size_t trailer = end - kTrailerSize;
  const uint64_t hash = Hash(file, index, lists_begin, Hash(file, 0, header_size));
  if (lists_begin + Get(file, trailer + 4, 4) != trailer || Get(file, trailer + 8) != hash) {
    return std::nullopt;
  }
  return checkpoint;
}

uint64_t AnchorIdentity(const Checkpoint& checkpoint, bool binds) {
  return binds ? checkpoint.base.id * 3 + checkpoint.journal.base.id : checkpoint.journal.base.end;
}

Bytes Encode(const Slot& slot, uint64_t identity) {
  Bytes bytes;
  for (const uint64_t field :
       {slot.position, slot.size, slot.generation, slot.previous, slot.boot}) {
    Put(bytes, field);
  }
  Put(bytes, Hash(bytes, 0, bytes.size(), identity));
  return bytes;
}

Bytes EmptyAnchor(uint64_t identity) {
  Bytes anchor = MakeChunkHeader(0, kAnchorSize);
  for (int i = 0; i < 2; ++i) {
    const Bytes slot = Encode(Slot{}, identity);
    anchor.insert(anchor.end(), slot.begin(), slot.end());
  }
  return anchor;
}

uint64_t SlotPosition(const Checkpoint& checkpoint, size_t number) {
  return checkpoint.base.end + kChunkHeaderSize + number * kSlotSize;
}

std::optional<Slot> FindSlot(const Bytes& file, uint64_t position, uint64_t identity) {
  const uint64_t end = position + kSlotSize - kHashSize;
  if (end + kHashSize > file.size() || Get(file, end) != Hash(file, position, end, identity)) {
    return std::nullopt;
  }
  return Slot{.position = Get(file, position),
              .size = Get(file, position + 8),
              .generation = Get(file, position + 16),
              .previous = Get(file, position + 24),
              .boot = Get(file, position + 32)};
}

Bytes Encode(const Summary& summary, const Checkpoint& checkpoint, uint64_t identity) {
  constexpr uint64_t kNew = UINT64_MAX;
  Bytes payload;
  for (const uint64_t field : {summary.generation, summary.previous, summary.durable_end,
                               summary.state.metadata, summary.state.chunks.size()}) {
    Put(payload, field);
  }
  for (const ChunkRef& chunk : summary.state.chunks) {
    const auto there = std::ranges::find(checkpoint.state.chunks, chunk);
    const bool is_new = there == checkpoint.state.chunks.end();
    Put(payload, is_new ? kNew : static_cast<uint64_t>(there - checkpoint.state.chunks.begin()));
    PutChunks(payload, {is_new ? chunk : ChunkRef{}});
  }
  Put(payload, Hash(payload, 0, payload.size(), identity + summary.begin));
  Bytes bytes = MakeChunkHeader(0, kChunkHeaderSize + payload.size());
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  return bytes;
}

std::optional<Summary> FindSummary(const Bytes& file, const Slot& slot,
                                   const Checkpoint& checkpoint, uint64_t identity, bool hashes) {
  constexpr size_t kFields = 40;
  constexpr size_t kEntry = 8 + kChunkRefSize;
  const std::optional<size_t> end = SkipChunk(file, slot.position);
  if (!end.has_value() || *end != slot.position + slot.size) return std::nullopt;
  if (slot.size < kChunkHeaderSize + kFields + kHashSize) return std::nullopt;
  size_t at = slot.position + kChunkHeaderSize;
  const size_t hash_at = *end - kHashSize;
  if (hashes && Get(file, hash_at) != Hash(file, at, hash_at, identity + slot.position)) {
    return std::nullopt;
  }
  Summary summary{.generation = Get(file, at),
                  .previous = Get(file, at + 8),
                  .durable_end = Get(file, at + 16),
                  .state = {.chunks = {}, .metadata = Get(file, at + 24)},
                  .begin = slot.position,
                  .end = *end};
  const uint64_t count = Get(file, at + 32);
  if (count != (hash_at - at - kFields) / kEntry || summary.generation != slot.generation ||
      summary.previous != slot.previous) {
    return std::nullopt;
  }
  at += kFields;
  for (uint64_t i = 0; i < count; ++i, at += kEntry) {
    const uint64_t number = Get(file, at);
    const bool is_new = number >= checkpoint.state.chunks.size();
    summary.state.chunks.push_back(is_new ? GetChunks(file, at + 8, 1).front()
                                          : checkpoint.state.chunks[number]);
  }
  return summary;
}

}  // namespace cairn::model
