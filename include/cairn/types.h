// Byte spans, and the enums and numbers of the Blosc2 format.
#ifndef CAIRN_TYPES_H_
#define CAIRN_TYPES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#if __cplusplus < 202002L
#error "Cairn's headers need C++20: compile with -std=c++20"
#endif

#define CAIRN_EXPORT __attribute__((visibility("default")))

namespace cairn {

using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

// Codec ids, as cparams, frame headers and byte 0x16 of a chunk header write them. They are frozen
// in the format. Ids 160..255 belong to programs; see registry.h.
enum class Codec : uint8_t {
  kBloscLz = 0,
  kLz4 = 1,
  kLz4Hc = 2,
  kZlib = 4,
  kZstd = 5,
  // These codecs are for blocks of n-dimensional arrays; see docs/cpp-api.md. ZFP loses bits, and
  // is only in a build with libzfp.
  kNdlz = 32,          // 2 dimensions of single bytes; meta: side of a cell, 4 or 8
  kZfpAccuracy = 33,   // meta: an int8, the exponent to base 10 of the largest error
  kZfpPrecision = 34,  // meta: number of bit planes
  kZfpRate = 35,       // meta: per cent of the size
  // Numbers of 1, 2, 4 or 8 bytes, or records of them, without filters. Other Blosc2 libraries need
  // a plug-in. The id is one of those for programs. meta: 1 unsigned, 2 signed, 3 float, 0 not
  // known or records.
  kPco = 227,
  // Numbers and records like kPco's, which take more space and are decoded much faster, also one by
  // one.
  kBitpack = 228,
  // Numbers and records like kPco's, or bytes. Samples of each chunk choose, for each column, what
  // codes it: kPco, kBitpack, kZstd or kLz4. CodedColumns tells.
  kAuto = 229,
};

// Returns true for codecs of numbers. They take records apart, and no filters.
constexpr bool CodesNumbers(Codec codec) {
  return codec == Codec::kPco || codec == Codec::kBitpack || codec == Codec::kAuto;
}

// Filter ids, as chunk and frame headers write them. They are frozen in the format. Ids 160..255
// belong to programs; see registry.h.
enum class Filter : uint8_t {
  kNone = 0,
  kShuffle = 1,
  kBitShuffle = 2,
  kDelta = 3,
  kTruncPrec = 4,  // meta: mantissa bits kept (> 0) or cleared (< 0), as int8
  // These two need the blockshape of an array. meta: side of a cell, which is an int8 above 0 for
  // kNdMean.
  kNdCell = 32,          // stores the items cell by cell
  kNdMean = 33,          // replaces floats by the mean of their cell, so it loses bits
  kByteDeltaBuggy = 34,  // decoded only, never written
  kByteDelta = 35,       // meta: number of byte channels, 0 for the typesize
  kIntTrunc = 36,        // meta: bits kept (> 0) or cleared (<= 0), as int8
};

// Returns true for filters of arrays, which need the shape of their blocks.
constexpr bool NeedsBlockshape(Filter filter) {
  return filter == Filter::kNdCell || filter == Filter::kNdMean;
}

// The value of a chunk that stores no data. The numbers are frozen in the format.
enum class SpecialValue : uint8_t { kNone = 0, kZeros = 1, kNans = 2, kRepeat = 3, kUninit = 4 };

// Says how a block is compressed: as one stream, or as one stream per byte position of its items.
// The numbers are frozen in the format.
enum class SplitMode : uint8_t { kAlways = 1, kNever = 2, kAuto = 3, kForwardCompat = 4 };

// The type of the fingerprints in a frame's trailer. The numbers are frozen in the format.
enum class FingerprintType : uint8_t {
  kNone = 0,
  k32Bit = 1,   // XXH32
  k64Bit = 2,   // XXH3-64
  k128Bit = 3,  // XXH3-128
};

// Says whether a frame is a file (kContiguous) or a directory (kSparse).
enum class Layout : uint8_t { kContiguous = 0, kSparse = 1 };

// The age of a frame's format. Frames of all eras except kCurrent are read-only.
enum class Era : uint8_t {
  kPacked2015,  // the packed super-chunk of 2.0.0a2
  kFrame2019,   // the first frames, up to 2.0.0 beta.1
  kBeta,        // 2.0.0 beta.2 to beta.5
  kCurrent,     // 2.0.0 rc1 and later
};

// The failure that a commit survives.
enum class Durability {
  kProcess,  // the end of the process, even if it is killed
  kMachine,  // a power cut
};

// A step of the filter pipeline.
struct FilterStage {
  Filter filter = Filter::kNone;
  uint8_t meta = 0;
  bool operator==(const FilterStage&) const = default;
};

// A named value in a frame's header (metalayer) or trailer (vlmetalayer).
struct Metalayer {
  std::string name;  // at most kMaxMetalayerName bytes
  std::vector<std::byte> content = {};
  bool operator==(const Metalayer&) const = default;
};

// The largest payload of one chunk, in bytes.
inline constexpr int32_t kMaxChunkBytes = 2147483615;
// The number of slots of the filter pipeline.
inline constexpr int kMaxFilters = 6;
// The largest number of metalayers in a frame header.
inline constexpr int kMaxMetalayers = 16;
// The largest number of vlmetalayers that a reader accepts.
inline constexpr int kMaxVlMetalayers = 8192;
// The largest number of vlmetalayers that C-Blosc2 can write back, including Cairn's own two.
inline constexpr int kMaxSharedVlMetalayers = 16;
// The longest name of a metalayer, in bytes.
inline constexpr int kMaxMetalayerName = 31;

}  // namespace cairn

#endif  // CAIRN_TYPES_H_
