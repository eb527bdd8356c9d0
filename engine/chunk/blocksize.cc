#include "engine/chunk/blocksize.h"

#include <algorithm>
#include <array>

namespace cairn::chunk {

namespace {

constexpr int64_t kKiB = 1024;
constexpr int32_t kMaxStreams = 16;
constexpr int32_t kMinStreamItems = 32;

bool HasShuffle(const CompressionOptions& options) {
  return std::ranges::any_of(
      options.filters, [](const FilterStage& stage) { return stage.filter == Filter::kShuffle; });
}

// Codecs that gain from larger blocks.
bool IsHighRatio(Codec codec) {
  return codec == Codec::kLz4Hc || codec == Codec::kZlib || codec == Codec::kZstd;
}

int32_t WholeBlockSize(const CompressionOptions& options) {
  constexpr std::array<int32_t, 10> kQuarters = {1, 2, 4, 8, 16, 16, 32, 32, 32, 32};
  int64_t size = 32 * kKiB * (IsHighRatio(options.codec) ? 2 : 1);
  size = size * kQuarters[static_cast<size_t>(options.clevel)] / 4;
  if (options.clevel == 9 && IsHighRatio(options.codec)) size *= 2;
  return static_cast<int32_t>(size);
}

int32_t SplitBlockSize(int clevel, int32_t typesize) {
  constexpr std::array<int32_t, 10> kStreamKiB = {32, 32, 32, 32, 64, 64, 64, 128, 256, 512};
  const int64_t size = kStreamKiB[static_cast<size_t>(clevel)] * kKiB * typesize;
  return static_cast<int32_t>(std::clamp<int64_t>(size, 32 * kKiB, 4096 * kKiB));
}

}  // namespace

bool SplitsBlocks(const CompressionOptions& options, int32_t typesize, int32_t blocksize) {
  if (options.split_mode == SplitMode::kAlways) return true;
  if (options.split_mode == SplitMode::kNever) return false;
  const bool gains = options.codec == Codec::kBloscLz || options.codec == Codec::kLz4 ||
                     (options.codec == Codec::kZstd && options.clevel <= 5);
  return gains && HasShuffle(options) && typesize <= kMaxStreams &&
         blocksize / typesize >= kMinStreamItems;
}

int32_t ChooseBlockSize(const CompressionOptions& options, int32_t nbytes) {
  if (nbytes < options.typesize) return std::max(nbytes, 1);
  int32_t size = nbytes;
  if (options.blocksize > 0) {
    size = options.blocksize;
  } else {
    if (nbytes >= 32 * kKiB) size = WholeBlockSize(options);
    if (options.clevel > 0 && SplitsBlocks(options, options.typesize, nbytes)) {
      size = SplitBlockSize(options.clevel, options.typesize);
    }
  }
  size = std::min(size, nbytes);
  if (size > options.typesize) size -= size % options.typesize;
  return size;
}

}  // namespace cairn::chunk
