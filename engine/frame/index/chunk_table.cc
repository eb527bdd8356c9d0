#include "engine/frame/index/chunk_table.h"

#include "engine/base/byte_writer.h"
#include "engine/base/endian.h"
#include "engine/base/status.h"
#include "engine/chunk/header.h"
#include "engine/chunk/special.h"
#include "engine/format/trailer.h"

namespace cairn::frame {

namespace {

constexpr int64_t kFingerprintSize = sizeof(uint64_t);
constexpr int64_t kSizeSize = sizeof(uint32_t);

Bytes PartOf(Bytes column, int64_t first, int64_t count, int64_t entry_size) {
  return column.subspan(static_cast<size_t>(first * entry_size),
                        static_cast<size_t>(count * entry_size));
}

}  // namespace

absl::StatusOr<ChunkTable> ChunkTable::Open(Chunk layer, int64_t nchunks) {
  CAIRN_ASSIGN_OR_RETURN(const chunk::Header header, chunk::ParseHeader(layer.bytes()));
  const int64_t fingerprints = nchunks * kFingerprintSize;
  const int64_t both = fingerprints + nchunks * kSizeSize;
  const int64_t head = format::TableHeadSize(header.nbytes);
  const int64_t columns = header.nbytes - head;
  const bool is_empty = head > 0 && columns == 0;
  if (columns != both && (head > 0 || columns != fingerprints) && !is_empty) {
    return DataLoss("fingerprint table: expected %d bytes for %d chunks, got %d", both, nchunks,
                    columns);
  }
  ChunkTable table(std::move(layer), columns == both || is_empty);
  if (header.special == SpecialValue::kZeros) return table;
  CAIRN_ASSIGN_OR_RETURN(const Bytes payload, chunk::MemcpyedPayload(table.layer_.bytes()));
  // The header was read again, and another process may have written it.
  if (std::ssize(payload) != header.nbytes) return DataLoss("fingerprint table: it has changed");
  if (is_empty) return table;
  const Bytes entries = payload.subspan(static_cast<size_t>(head));
  table.columns_ = {.fingerprints = entries.first(static_cast<size_t>(fingerprints)),
                    .sizes = entries.subspan(static_cast<size_t>(fingerprints))};
  return table;
}

std::vector<std::byte> ChunkTable::Head(int64_t columns) {
  ByteWriter writer(chunk::MemcpyedHeader(static_cast<int32_t>(columns + int64_t{kBinaryHead})));
  WriteBinaryHead(static_cast<size_t>(columns), writer);
  return std::move(writer).Take();
}

uint64_t ChunkTable::FingerprintAt(int64_t nchunk) const {
  if (columns_.fingerprints.empty()) return 0;
  return LoadLe<uint64_t>(columns_.fingerprints.data() + nchunk * kFingerprintSize);
}

int32_t ChunkTable::SizeAt(int64_t nchunk) const {
  if (columns_.sizes.empty()) return 0;
  return LoadLe<int32_t>(columns_.sizes.data() + nchunk * kSizeSize);
}

ChunkTable::Columns ChunkTable::Part(int64_t first, int64_t count,
                                     std::vector<std::byte>& zeros) const {
  if (columns_.fingerprints.empty()) {
    zeros.assign(static_cast<size_t>(count * kFingerprintSize), std::byte{0});
    return {.fingerprints = zeros,
            .sizes = Bytes(zeros).first(has_sizes_ ? static_cast<size_t>(count * kSizeSize) : 0)};
  }
  return {.fingerprints = PartOf(columns_.fingerprints, first, count, kFingerprintSize),
          .sizes = has_sizes_ ? PartOf(columns_.sizes, first, count, kSizeSize) : Bytes()};
}

}  // namespace cairn::frame
