#include "engine/chunk/encode_options.h"

#include <algorithm>
#include <bit>
#include <string>
#include <string_view>

#include "absl/strings/str_join.h"

#include "engine/base/names.h"
#include "engine/base/status.h"
#include "engine/chunk/header.h"
#include "engine/codec/codec_set.h"
#include "engine/filter/filters.h"

namespace cairn::chunk {

namespace {

bool IsLossy(Filter filter) {
  return filter == Filter::kTruncPrec || filter == Filter::kIntTrunc || filter == Filter::kNdMean;
}

// Returns the bytes of a block of the shape in the options.
int64_t BlockBytes(const CompressionOptions& options) {
  int64_t size = options.typesize;
  for (const int32_t extent : options.blockshape) {
    if (extent < 1 || size > kMaxBlockSize / extent) return -1;
    size *= extent;
  }
  return size;
}

// Checks that NDCELL or NDMEAN can be applied with the options, whose blockshape is valid.
absl::Status CheckCells(const CompressionOptions& options, const FilterStage& stage) {
  if (options.blockshape.empty()) {
    return InvalidArgument("filter id %d%s works on n-dimensional arrays only",
                           static_cast<int>(stage.filter), ShownName(stage.filter));
  }
  return filter::CheckCells(stage, options.blockshape, static_cast<size_t>(options.typesize),
                            static_cast<size_t>(BlockBytes(options)));
}

absl::Status CheckFilters(const CompressionOptions& options) {
  if (options.filters.size() > kMaxFilters) {
    return InvalidArgument("filters: at most %d, got %d", kMaxFilters, options.filters.size());
  }
  bool lossy = false;
  for (const FilterStage& stage : options.filters) {
    // DELTA is undone against the decoded block 0, which a lossy filter before it has changed.
    if (stage.filter == Filter::kDelta && lossy) {
      return InvalidArgument("filters: delta must come before a filter that loses bits");
    }
    lossy = lossy || IsLossy(stage.filter);
    // Meta 0 stands for the typesize, but no chunk header can hold this one.
    if (stage.filter == Filter::kByteDelta && stage.meta == 0 && options.typesize > 255) {
      return InvalidArgument("filters: bytedelta needs a number of channels for typesize %d",
                             options.typesize);
    }
    if (NeedsBlockshape(stage.filter)) CAIRN_RETURN_IF_ERROR(CheckCells(options, stage));
    if (stage.filter == Filter::kByteDeltaBuggy) {
      return Unimplemented("filter id %d%s is decoded only", static_cast<int>(stage.filter),
                           ShownName(stage.filter));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckBlosc1(const CompressionOptions& options) {
  if (options.use_dict) return InvalidArgument("Blosc1 chunks have no dictionaries");
  if (static_cast<uint8_t>(options.codec) > static_cast<uint8_t>(Codec::kZstd)) {
    return InvalidArgument("Blosc1 chunks cannot name codec id %d%s",
                           static_cast<int>(options.codec), ShownName(options.codec));
  }
  int filters = 0;
  for (const FilterStage& stage : options.filters) {
    if (stage.filter == Filter::kNone) continue;
    const bool known = stage.filter == Filter::kShuffle || stage.filter == Filter::kBitShuffle;
    if (!known || stage.meta != 0 || ++filters > 1) {
      return InvalidArgument("Blosc1 chunks have at most one filter, shuffle or bitshuffle");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckBlockshape(const CompressionOptions& options) {
  const int64_t size = BlockBytes(options);
  if (size < 0) {
    return InvalidArgument("blockshape: expected positive extents of at most %d bytes together",
                           kMaxBlockSize);
  }
  if (options.blocksize != 0 && options.blocksize != size) {
    return InvalidArgument("blocksize: expected the %d bytes of blockshape, got %d", size,
                           options.blocksize);
  }
  return absl::OkStatus();
}

// Checks that NDLZ or ZFP can code anything at all with the options.
absl::Status CheckArrayCodec(const CompressionOptions& options) {
  const int id = static_cast<int>(options.codec);
  const std::string name = ShownName(options.codec);
  if (options.blockshape.empty()) {
    return InvalidArgument("codec id %d%s codes n-dimensional arrays only", id, name);
  }
  if (options.codec == Codec::kNdlz) {
    if (options.codec_meta != 4 && options.codec_meta != 8) {
      return InvalidArgument("codec id %d%s: meta: expected 4 or 8, got %d", id, name,
                             options.codec_meta);
    }
    if (options.blockshape.size() != 2) {
      return InvalidArgument("codec id %d%s: dimensions: expected 2, got %d", id, name,
                             options.blockshape.size());
    }
    if (options.typesize > 1 && options.split_mode != SplitMode::kAlways) {
      return InvalidArgument("codec id %d%s codes single bytes: typesize %d needs split blocks", id,
                             name, options.typesize);
    }
    return absl::OkStatus();
  }
  if (options.typesize != 4 && options.typesize != 8) {
    return InvalidArgument("codec id %d%s: typesize: expected 4 or 8, got %d", id, name,
                           options.typesize);
  }
  if (options.blockshape.size() > 4 || std::ranges::min(options.blockshape) < 4) {
    return InvalidArgument(
        "codec id %d%s: blockshape: expected 1 to 4 dimensions, and blocks of at least 4 items "
        "along each, got %s",
        id, name, absl::StrJoin(options.blockshape, " x "));
  }
  for (const FilterStage& stage : options.filters) {
    if (stage.filter == Filter::kShuffle || stage.filter == Filter::kBitShuffle) {
      return InvalidArgument("codec id %d%s codes numbers, which filter id %d%s takes apart", id,
                             name, static_cast<int>(stage.filter), ShownName(stage.filter));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckColumns(const CompressionOptions& options) {
  int64_t size = 0;
  for (const ItemColumn& column : options.columns) {
    const int least = column.kind == 3 ? 2 : 1;  // no float has one byte
    const int most = column.kind == 0 ? 1 : 8;
    if (column.kind > 3 || column.size < least || column.size > most ||
        !std::has_single_bit(static_cast<uint32_t>(column.size)) || column.count < 1) {
      return InvalidArgument("columns: %d numbers of kind %d and %d bytes", column.count,
                             column.kind, column.size);
    }
    size += int64_t{column.size} * column.count;
  }
  if (size != options.typesize) {
    return InvalidArgument("columns: expected %d bytes, the typesize, got %d", options.typesize,
                           size);
  }
  return absl::OkStatus();
}

// Checks that a codec of numbers gets numbers, or else one that takes any bytes.
absl::Status CheckNumberCodec(const CompressionOptions& options) {
  const std::string_view name = NameOf(options.codec);
  if (!options.columns.empty()) {
    CAIRN_RETURN_IF_ERROR(CheckColumns(options));
  } else if (options.codec != Codec::kAuto &&
             (!std::has_single_bit(static_cast<uint32_t>(options.typesize)) ||
              options.typesize > 8)) {
    return InvalidArgument(
        "%s: expected items of 1, 2, 4 or 8 bytes, or an array of records with little-endian "
        "numbers in fields that do not overlap; got items of %d bytes",
        name, options.typesize);
  }
  const int most = !options.columns.empty() ? 0 : options.typesize > 1 ? 3 : 2;
  if (options.codec_meta > most) {
    return InvalidArgument("%s: meta: expected 0 to %d, got %d", name, most, options.codec_meta);
  }
  for (const FilterStage& stage : options.filters) {
    if (stage.filter == Filter::kNone || stage.filter == Filter::kTruncPrec ||
        stage.filter == Filter::kIntTrunc) {
      continue;
    }
    return InvalidArgument("%s codes numbers, which filter id %d%s takes apart", name,
                           static_cast<int>(stage.filter), ShownName(stage.filter));
  }
  if (options.split_mode == SplitMode::kAlways) {
    return InvalidArgument("%s codes whole numbers: blocks cannot be split", name);
  }
  return absl::OkStatus();
}

constexpr int64_t kKiB = 1024;
constexpr int32_t kMaxStreams = 16;
constexpr int32_t kMinStreamItems = 32;

int32_t WholeBlockSize(const CompressionOptions& options) {
  constexpr std::array<int32_t, 10> kQuarters = {1, 2, 4, 8, 16, 16, 32, 32, 32, 32};
  const bool high_ratio = codec::IsHighRatio(options.codec);
  int64_t size = 32 * kKiB * (high_ratio ? 2 : 1);
  size = size * kQuarters[static_cast<size_t>(options.clevel)] / 4;
  if (options.clevel == 9 && high_ratio) size *= 2;
  return static_cast<int32_t>(size);
}

int32_t SplitBlockSize(int clevel, int32_t typesize) {
  constexpr std::array<int32_t, 10> kStreamKiB = {32, 32, 32, 32, 64, 64, 64, 128, 256, 512};
  const int64_t size = kStreamKiB[static_cast<size_t>(clevel)] * kKiB * typesize;
  return static_cast<int32_t>(std::clamp<int64_t>(size, 32 * kKiB, 4096 * kKiB));
}

}  // namespace

absl::Status CheckOptions(const CompressionOptions& options) {
  if (options.clevel < 0 || options.clevel > 9) {
    return InvalidArgument("clevel: expected 0 to 9, got %d", options.clevel);
  }
  if (options.typesize < 1 || options.typesize > kMaxBlockSize) {
    return InvalidArgument("typesize: expected 1 to %d, got %d", kMaxBlockSize, options.typesize);
  }
  if (options.blocksize < 0 || options.blocksize > kMaxBlockSize) {
    return InvalidArgument("blocksize: expected 0 to %d, got %d", kMaxBlockSize, options.blocksize);
  }
  if (options.use_dict && !codec::SupportsDictionary(options.codec)) {
    return InvalidArgument("codec id %d%s takes no dictionary", static_cast<int>(options.codec),
                           ShownName(options.codec));
  }
  if (!options.blockshape.empty()) CAIRN_RETURN_IF_ERROR(CheckBlockshape(options));
  CAIRN_RETURN_IF_ERROR(CheckFilters(options));
  if (codec::IsOfArrays(options.codec)) CAIRN_RETURN_IF_ERROR(CheckArrayCodec(options));
  if (CodesNumbers(options.codec)) CAIRN_RETURN_IF_ERROR(CheckNumberCodec(options));
  return options.format == ChunkFormat::kBlosc1 ? CheckBlosc1(options) : absl::OkStatus();
}

std::array<FilterStage, kMaxFilters> SlotsOf(const CompressionOptions& options) {
  std::array<FilterStage, kMaxFilters> slots{};
  std::ranges::copy_backward(options.filters, slots.end());
  for (FilterStage& stage : slots) {
    // The header names the number of channels, for decoders that know no frame.
    if (stage.filter == Filter::kByteDelta && stage.meta == 0) {
      stage.meta = static_cast<uint8_t>(options.typesize);
    }
  }
  return slots;
}

uint8_t HeaderTypesize(int32_t typesize) {
  return typesize > 255 ? uint8_t{1} : static_cast<uint8_t>(typesize);
}

bool SplitsBlocks(const CompressionOptions& options, int32_t typesize, int32_t blocksize) {
  if (options.split_mode == SplitMode::kAlways) return true;
  if (options.split_mode == SplitMode::kNever) return false;
  const bool gains = options.codec == Codec::kBloscLz || options.codec == Codec::kLz4 ||
                     (options.codec == Codec::kZstd && options.clevel <= 5);
  const auto& filters = options.filters;
  const bool shuffles =
      std::ranges::find(filters, Filter::kShuffle, &FilterStage::filter) != filters.end();
  return gains && shuffles && typesize <= kMaxStreams && blocksize / typesize >= kMinStreamItems;
}

int32_t ChooseBlockSize(const CompressionOptions& options, int32_t nbytes) {
  if (nbytes < options.typesize) return std::max(nbytes, 1);
  int32_t size = nbytes;
  if (!options.blockshape.empty()) {
    size = static_cast<int32_t>(BlockBytes(options));
  } else if (options.blocksize > 0) {
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
