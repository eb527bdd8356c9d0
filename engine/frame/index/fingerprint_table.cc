#include "engine/frame/index/fingerprint_table.h"

#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/base/status.h"
#include "engine/chunk/header.h"
#include "engine/chunk/plain.h"

namespace cairn::frame {

absl::StatusOr<FingerprintTable> FingerprintTable::Open(Chunk layer, int64_t nchunks) {
  CAIRN_ASSIGN_OR_RETURN(const chunk::Header header, chunk::ParseHeader(layer.bytes()));
  if (header.nbytes != nchunks * kEntrySize) {
    return DataLoss("fingerprint table: expected %d bytes for %d chunks, got %d",
                    nchunks * kEntrySize, nchunks, header.nbytes);
  }
  if (header.special == SpecialValue::kZeros) return FingerprintTable(std::move(layer), {});
  CAIRN_ASSIGN_OR_RETURN(const Bytes entries, chunk::PlainPayload(layer.bytes()));
  // The header was read again, and another process may write it.
  if (std::ssize(entries) != header.nbytes) return DataLoss("fingerprint table: it has changed");
  return FingerprintTable(std::move(layer), entries);
}

std::vector<std::byte> FingerprintTable::Encode(Bytes entries) {
  return IsRunOfZeros(entries) ? chunk::PlainZeros(static_cast<int32_t>(entries.size()))
                               : chunk::PlainChunk(entries);
}

uint64_t FingerprintTable::At(int64_t nchunk) const {
  if (entries_.empty()) return 0;
  return LoadLe<uint64_t>(entries_.data() + nchunk * kEntrySize);
}

Bytes FingerprintTable::Part(int64_t first, int64_t count, std::vector<std::byte>& zeros) const {
  const auto size = static_cast<size_t>(count * kEntrySize);
  if (!entries_.empty()) return entries_.subspan(static_cast<size_t>(first * kEntrySize), size);
  zeros.assign(size, std::byte{0});
  return zeros;
}

}  // namespace cairn::frame
