#include "tests/interop/chunk_case.h"

#include <algorithm>
#include <cstring>

namespace cairn::interop {
namespace {

constexpr int32_t kTypesizes[] = {1, 2, 3, 4, 7, 8, 12, 16, 24, 32, 255, 300};
constexpr int kLevels[] = {0, 1, 5, 9};
constexpr size_t kSizes[] = {0, 1, 31, 32, 1000, 4096, 10000, 33333, 65536, 100001, 204800};
constexpr int32_t kBlocksizes[] = {0, 0, 0, 512, 1024, 4096, 16384, 100000};
constexpr SplitMode kSplitModes[] = {SplitMode::kAlways, SplitMode::kNever, SplitMode::kAuto,
                                     SplitMode::kForwardCompat};

using Filters = std::vector<FilterStage>;

FilterStage Stage(Filter filter, int meta = 0) {
  return {.filter = filter, .meta = static_cast<uint8_t>(meta)};
}

// Pipelines that this typesize allows.
std::vector<Filters> PipelinesFor(int32_t typesize) {
  std::vector<Filters> pipelines = {
      {},
      {Stage(Filter::kShuffle)},
      {Stage(Filter::kBitShuffle)},
      {Stage(Filter::kDelta)},
      {Stage(Filter::kDelta), Stage(Filter::kShuffle)},
      {Stage(Filter::kShuffle), Stage(Filter::kByteDelta, ChunkTypesize(typesize))}};
  if (typesize == 4 || typesize == 8) {
    pipelines.push_back({Stage(Filter::kTruncPrec, 10), Stage(Filter::kShuffle)});
    pipelines.push_back({Stage(Filter::kTruncPrec, -7), Stage(Filter::kShuffle)});
  }
  if (typesize == 1 || typesize == 2 || typesize == 4 || typesize == 8) {
    pipelines.push_back({Stage(Filter::kIntTrunc, -3), Stage(Filter::kShuffle)});
    pipelines.push_back({Stage(Filter::kIntTrunc, 5), Stage(Filter::kBitShuffle)});
  }
  return pipelines;
}

// Low bits of each item that the pipeline clears.
int ClearedBits(const CompressionOptions& options) {
  for (const FilterStage& stage : options.filters) {
    const int meta = static_cast<int8_t>(stage.meta);
    int width = 8 * options.typesize;
    if (stage.filter == Filter::kTruncPrec) width = options.typesize == 4 ? 23 : 52;
    if (stage.filter == Filter::kTruncPrec || stage.filter == Filter::kIntTrunc) {
      return meta > 0 ? width - meta : -meta;
    }
  }
  return 0;
}

Buffer WithoutLowBits(Buffer data, size_t typesize, int bits) {
  for (size_t i = 0; i + typesize <= data.size(); i += typesize) {
    uint64_t value = 0;
    std::memcpy(&value, &data[i], typesize);
    value = value >> bits << bits;
    std::memcpy(&data[i], &value, typesize);
  }
  return data;
}

bool KnowsDictionaries(Codec codec) {
  return codec == Codec::kZstd || codec == Codec::kLz4 || codec == Codec::kLz4Hc;
}

CompressionOptions RandomOptions(Random& random) {
  CompressionOptions options;
  options.codec = Pick(random, kAllCodecs);
  options.clevel = Pick(random, kLevels);
  options.typesize = Pick(random, kTypesizes);
  options.blocksize = Pick(random, kBlocksizes);
  options.split_mode = Pick(random, kSplitModes);
  options.filters = Pick(random, PipelinesFor(options.typesize));
  options.use_dict = KnowsDictionaries(options.codec) && random() % 4 == 0;
  return options;
}

void FillData(size_t size, Random& random, ChunkCase* c) {
  c->kind = Pick(random, kAllDataKinds);
  c->data = MakeData(c->kind, size, c->options.typesize, random);
  const int bits = ClearedBits(c->options);
  c->filtered = c->data;
  if (bits > 0) {
    c->filtered = WithoutLowBits(c->data, static_cast<size_t>(c->options.typesize), bits);
  }
}

}  // namespace

const Buffer& ChunkCase::WantedFrom(Bytes chunk) const {
  const bool stored = (chunk[2] & std::byte{2}) != std::byte{0};
  return stored ? data : filtered;
}

bool Uses(const CompressionOptions& options, Filter filter) {
  return std::ranges::any_of(options.filters,
                             [=](FilterStage stage) { return stage.filter == filter; });
}

std::string_view ToString(Codec codec) {
  switch (codec) {
    case Codec::kBloscLz:
      return "blosclz";
    case Codec::kLz4:
      return "lz4";
    case Codec::kLz4Hc:
      return "lz4hc";
    case Codec::kZlib:
      return "zlib";
    case Codec::kZstd:
      return "zstd";
    case Codec::kNdlz:
      return "ndlz";
    case Codec::kZfpAccuracy:
      return "zfp_acc";
    case Codec::kZfpPrecision:
      return "zfp_prec";
    case Codec::kZfpRate:
      return "zfp_rate";
    case Codec::kPco:
      return "pco";
    case Codec::kBitpack:
      return "bitpack";
    case Codec::kAuto:
      return "auto";
  }
  return "other";
}

bool PeerCanSlice(const CompressionOptions& options) {
  return !Uses(options, Filter::kDelta) && !options.use_dict;
}

std::ostream& operator<<(std::ostream& stream, const ChunkCase& c) {
  const CompressionOptions& o = c.options;
  stream << ToString(o.codec) << " level " << o.clevel << " typesize " << o.typesize << " block "
         << o.blocksize << " split " << static_cast<int>(o.split_mode) << " dict " << o.use_dict
         << " filters";
  for (const FilterStage& stage : o.filters) {
    stream << ' ' << static_cast<int>(stage.filter) << ':' << static_cast<int>(stage.meta);
  }
  return stream << " data " << ToString(c.kind) << " x " << c.data.size();
}

CompressionOptions MakeLosslessOptions(Random& random) {
  CompressionOptions options = RandomOptions(random);
  while (ClearedBits(options) > 0) options = RandomOptions(random);
  return options;
}

ChunkCase MakeChunkCase(Random& random) {
  ChunkCase c;
  c.options = RandomOptions(random);
  FillData(Pick(random, kSizes), random, &c);
  return c;
}

ChunkCase MakePeerChunkCase(Random& random) {
  ChunkCase c;
  c.options = RandomOptions(random);
  size_t size = Pick(random, kSizes);
  // C-Blosc2 puts a requested block size into the header as it is, but cuts the data by a size that
  // is bounded by the data and rounded down to a multiple of the typesize.
  c.options.blocksize -= c.options.blocksize % c.options.typesize;
  if (c.options.blocksize > static_cast<int64_t>(size)) c.options.blocksize = 0;
  // C-Blosc2 loses the bytes after the last complete item of a block.
  const bool loses_tails = Uses(c.options, Filter::kDelta) || Uses(c.options, Filter::kTruncPrec) ||
                           Uses(c.options, Filter::kIntTrunc);
  if (loses_tails) size -= size % static_cast<size_t>(c.options.typesize);
  // C-Blosc2 flags payloads under 32 bytes as stored if there is a dictionary, but compresses them.
  if (size < 32) c.options.use_dict = false;
  FillData(size, random, &c);
  return c;
}

}  // namespace cairn::interop
