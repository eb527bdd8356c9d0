#include "engine/format/index_entry.h"

#include <algorithm>
#include <functional>

#include "engine/base/endian.h"
#include "engine/base/status.h"
#include "engine/chunk/encoder.h"

namespace cairn::format {

namespace {

constexpr int kCodeShift = 56;
constexpr uint64_t kZeros = 0x81;
constexpr uint64_t kNans = 0x82;
constexpr uint64_t kUninit = 0x84;

}  // namespace

absl::StatusOr<SpecialValue> SpecialOfEntry(int64_t entry) {
  switch (static_cast<uint64_t>(entry)) {
    case kZeros << kCodeShift:
      return SpecialValue::kZeros;
    case kNans << kCodeShift:
      return SpecialValue::kNans;
    case kUninit << kCodeShift:
      return SpecialValue::kUninit;
    default:
      return DataLoss("index entry 0x%016x names no special value", entry);
  }
}

int64_t EntryOfSpecial(SpecialValue special) {
  switch (special) {
    case SpecialValue::kNans:
      return static_cast<int64_t>(kNans << kCodeShift);
    case SpecialValue::kUninit:
      return static_cast<int64_t>(kUninit << kCodeShift);
    default:
      return static_cast<int64_t>(kZeros << kCodeShift);
  }
}

absl::StatusOr<std::vector<std::byte>> EncodeIndex(std::span<const int64_t> entries,
                                                   chunk::WorkspacePool* pool) {
  CompressionOptions options;
  options.codec = Codec::kBloscLz;
  options.typesize = kIndexTypesize;
  options.blocksize = kIndexBlockSize;
  options.split_mode = SplitMode::kNever;
  CAIRN_ASSIGN_OR_RETURN(const chunk::Encoder encoder, chunk::Encoder::Make(options, pool));

  const auto nbytes = static_cast<int32_t>(entries.size_bytes());
  const bool uniform =
      std::ranges::adjacent_find(entries, std::ranges::not_equal_to()) == entries.end();
  if (IsSpecialEntry(entries[0]) && uniform) {
    std::byte value[kIndexTypesize];
    StoreLe<uint64_t>(value, static_cast<uint64_t>(entries[0]));
    return encoder.EncodeSpecial(SpecialValue::kRepeat, nbytes, value);
  }
  std::vector<std::byte> raw(entries.size_bytes());
  for (size_t i = 0; i < entries.size(); ++i) {
    StoreLe<uint64_t>(raw.data() + i * kIndexTypesize, static_cast<uint64_t>(entries[i]));
  }
  std::vector<std::byte> out(MaxCompressedSize(raw.size()));
  CAIRN_ASSIGN_OR_RETURN(const size_t size,
                         encoder.Encode(raw, out, chunk::Encoder::Zeros::kBlocks));
  out.resize(size);
  return out;
}

}  // namespace cairn::format
