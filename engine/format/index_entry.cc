#include "engine/format/index_entry.h"

#include <algorithm>
#include <utility>

#include "cairn/chunk.h"
#include "engine/base/endian.h"
#include "engine/base/status.h"
#include "engine/chunk/encoder.h"

namespace cairn::format {

namespace {

absl::StatusOr<chunk::Encoder> IndexEncoder(chunk::WorkspacePool* pool) {
  CompressionOptions options;
  options.codec = Codec::kBloscLz;
  options.typesize = kIndexTypesize;
  options.blocksize = kIndexBlockSize;
  options.split_mode = SplitMode::kNever;
  return chunk::Encoder::Make(std::move(options), pool);
}

}  // namespace

absl::StatusOr<SpecialValue> SpecialOfEntry(int64_t entry) {
  const auto special = static_cast<SpecialValue>(entry >> 56 & 0x7F);
  if (IsIndexSpecial(special) && entry == EntryOfSpecial(special)) return special;
  return DataLoss("index entry 0x%016x names no special value", entry);
}

absl::StatusOr<std::vector<std::byte>> EncodeIndexBlocks(std::span<const int64_t> entries,
                                                         chunk::WorkspacePool* pool) {
  CAIRN_ASSIGN_OR_RETURN(const chunk::Encoder encoder, IndexEncoder(pool));
  std::vector<std::byte> raw(entries.size_bytes());
  for (size_t i = 0; i < entries.size(); ++i) {
    StoreLe(raw.data() + i * kIndexTypesize, entries[i]);
  }
  std::vector<std::byte> out(MaxCompressedSize(raw.size()));
  CAIRN_ASSIGN_OR_RETURN(const size_t size,
                         encoder.Encode(raw, out, chunk::Encoder::Zeros::kBlocks));
  out.resize(size);
  return out;
}

absl::StatusOr<std::vector<std::byte>> EncodeIndex(std::span<const int64_t> entries,
                                                   chunk::WorkspacePool* pool) {
  const bool uniform =
      std::ranges::adjacent_find(entries, std::ranges::not_equal_to()) == entries.end();
  if (!IsSpecialEntry(entries[0]) || !uniform) return EncodeIndexBlocks(entries, pool);
  CAIRN_ASSIGN_OR_RETURN(const chunk::Encoder encoder, IndexEncoder(pool));
  std::byte value[kIndexTypesize];
  StoreLe(value, entries[0]);
  const auto nbytes = static_cast<int32_t>(entries.size_bytes());
  return encoder.EncodeSpecial(SpecialValue::kRepeat, nbytes, value);
}

}  // namespace cairn::format
