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
constexpr std::string_view kChunkMagic = "CHNK";
constexpr size_t kChunkHeaderSize = 32;
constexpr size_t kRecordFixedSize = 72;
constexpr size_t kChunkRefSize = 24;
constexpr size_t kHashSize = 8;
constexpr size_t kTrailerSize = 24;

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
  return chunk.end() <= file.size() && Hash(file, chunk.offset, chunk.end()) == chunk.hash;
}

size_t RecordSize(size_t chunks) { return kRecordFixedSize + chunks * kChunkRefSize + kHashSize; }

Bytes Encode(const BatchRecord& record, uint64_t position) {
  Bytes bytes;
  PutText(bytes, kRecordMagic);
  Put(bytes, RecordSize(record.chunks.size()), 4);
  PutBase(bytes, record.base, position);
  Put(bytes, record.generation);
  Put(bytes, record.previous);
  Put(bytes, record.durable_end);
  Put(bytes, record.metadata);
  Put(bytes, record.chunks.size());
  Put(bytes, 0);
  PutChunks(bytes, record.chunks);
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

std::optional<FoundRecord> FindRecord(const Bytes& file, size_t position, bool bound) {
  if (!HasText(file, position, kRecordMagic) || position + RecordSize(0) > file.size()) {
    return std::nullopt;
  }
  const size_t size = Get(file, position + 4, 4);
  const uint64_t count = Get(file, position + 56);
  if (count > 1000 || size != RecordSize(count) || position + size > file.size() ||
      !HashFits(file, position, size)) {
    return std::nullopt;
  }
  return FoundRecord{.record = {.base = GetBase(file, position + 8, bound ? position : 0),
                                .generation = Get(file, position + 24),
                                .previous = Get(file, position + 32),
                                .durable_end = Get(file, position + 40),
                                .metadata = Get(file, position + 48),
                                .chunks = GetChunks(file, position + kRecordFixedSize, count)},
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

std::optional<size_t> SkipChunk(const Bytes& file, size_t position) {
  if (!HasText(file, position, kChunkMagic) || position + kChunkHeaderSize > file.size()) {
    return std::nullopt;
  }
  const size_t size = Get(file, position + 4, 4);
  if (size < kChunkHeaderSize || position + size > file.size()) return std::nullopt;
  return position + size;
}

Bytes MakeChunk(uint64_t id, size_t size, const Bytes& embedded) {
  Bytes chunk;
  PutText(chunk, kChunkMagic);
  size = std::max(size, kChunkHeaderSize + embedded.size());
  Put(chunk, size, 4);
  Put(chunk, id);
  chunk.resize(kChunkHeaderSize);
  chunk.insert(chunk.end(), embedded.begin(), embedded.end());
  Random content(id * 77 + 5);
  while (chunk.size() < size) chunk.push_back(static_cast<uint8_t>(content.Next()));
  return chunk;
}

CheckpointBytes EncodeCheckpoint(const State& state, uint64_t generation, uint64_t position,
                                 const HeaderFormat& format, uint64_t nonce) {
  CheckpointBytes checkpoint;
  PutChunks(checkpoint.after_chunks, state.chunks);
  checkpoint.base.end = position + checkpoint.after_chunks.size() + kTrailerSize;
  Bytes& header = checkpoint.header;
  PutText(header, kFrameMagic);
  Put(header, format.size);
  Put(header, checkpoint.base.end);
  Put(header, state.chunks.size());
  Put(header, position);
  Put(header, state.metadata);
  while (header.size() + 8 <= format.size) Put(header, format.changes_whole ? state.metadata : 0);
  header.resize(format.size);
  Bytes& rest = checkpoint.after_chunks;
  Put(rest, generation);
  Put(rest, nonce);
  checkpoint.base.id = Hash(rest, 0, rest.size(), Hash(header, 0, header.size()));
  Put(rest, checkpoint.base.id);
  return checkpoint;
}

std::optional<Checkpoint> ReadCheckpoint(const Bytes& file, size_t header_size, std::string& why) {
  why = "header";
  if (file.size() < header_size + kTrailerSize || !HasText(file, 0, kFrameMagic)) {
    return std::nullopt;
  }
  const uint64_t end = Get(file, 16);
  const uint64_t count = Get(file, 24);
  const uint64_t index = Get(file, 32);
  if (end > file.size() || count > file.size() || index > end || index < header_size ||
      index + count * kChunkRefSize + kTrailerSize != end) {
    return std::nullopt;
  }
  why = "trailer";
  const uint64_t id = Hash(file, index, end - kHashSize, Hash(file, 0, header_size));
  if (Get(file, end - kHashSize) != id) return std::nullopt;
  return Checkpoint{.base = {end, id},
                    .generation = Get(file, end - kTrailerSize),
                    .state = {GetChunks(file, index, count), Get(file, 40)}};
}

}  // namespace cairn::model
