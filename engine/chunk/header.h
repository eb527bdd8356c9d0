// The header of a chunk: 16 bytes since Blosc 1, 32 since Blosc2.
#ifndef CAIRN_ENGINE_CHUNK_HEADER_H_
#define CAIRN_ENGINE_CHUNK_HEADER_H_

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"

#include "cairn/types.h"
#include "engine/base/checked.h"

namespace cairn::chunk {

inline constexpr int kBlosc1HeaderSize = 4 + 3 * 4;
inline constexpr int kHeaderSize = kBlosc1HeaderSize + 6 + 2 + 6 + 2;
static_assert(kHeaderSize == 32);

inline constexpr int32_t kMaxBlockSize = 536866816;
inline constexpr int32_t kMaxDictionary = 32768;

// C-Blosc 1.x splits a block only into at most this many streams, of at least this many bytes each.
// Flags in newer chunks tell whether they are split.
inline constexpr int32_t kMaxBlosc1Streams = 16;
inline constexpr int32_t kMinBlosc1Stream = 128;

// Chunk format versions. Frozen in the format.
inline constexpr uint8_t kVersionBlosc1 = 2;
inline constexpr uint8_t kVersionAlpha = 3;  // slot 5 of the filters is garbage
inline constexpr uint8_t kVersionBeta = 4;   // never split with a dictionary
inline constexpr uint8_t kVersion = 5;
inline constexpr uint8_t kVersionVlBlocks = 6;

// A header whose fields mean the same for all versions. `filters` holds the pipeline also for
// 16-byte headers, and `blocksize` is the size that the blocks were really cut with.
struct Header {
  uint8_t version = kVersion;
  bool extended = true;
  bool memcpyed = false;    // the payload follows the header as it is
  bool unsplit = false;     // one stream a block
  uint8_t format_code = 0;  // the codec in the numbering of the flags byte
  uint8_t typesize = 1;
  int32_t nbytes = 0;
  int32_t blocksize = 0;  // vlblocks: the number of blocks
  int32_t cbytes = 0;
  std::array<FilterStage, kMaxFilters> filters{};
  uint8_t codec_id = 0;  // byte 0x16; decides only where format_code is kUserFormatCode
  uint8_t codec_meta = 0;
  bool vlblocks = false;
  bool has_dict = false;
  bool instrumented = false;  // streams hold measurements instead of data
  SpecialValue special = SpecialValue::kNone;

  int size() const { return extended ? kHeaderSize : kBlosc1HeaderSize; }
  // Returns true if blocks and their positions follow the header.
  bool has_blocks() const { return nbytes > 0 && !memcpyed && special == SpecialValue::kNone; }
  // Returns the number of blocks of the chunk, or 0 if it has none.
  int32_t nblocks() const {
    if (!has_blocks()) return 0;
    if (vlblocks) return blocksize;
    // usually one, found without a division
    return nbytes <= blocksize ? 1 : CeilDiv(nbytes, blocksize);
  }
};

// Returns the number of streams of a block that decodes to this many bytes.
int32_t StreamsOf(const Header& header, int32_t block_nbytes);

// Codecs in the flags byte are numbered by stream format. Frozen in the format.
inline constexpr uint8_t kUserFormatCode = 6;
uint8_t FormatCodeOf(Codec codec);

// Returns the codec that decodes the chunk. Errors: kUnimplemented for a format that no build has.
absl::StatusOr<Codec> CodecOf(const Header& header);

// Parameters of Codec::kAuto, beside the kind of numbers: all columns of the chunk are coded by
// bitpack, or by bitpack or pco.
inline constexpr uint8_t kAllPages = 4;
inline constexpr uint8_t kAllSingle = 8;
// Returns the parameter of the codec that a writer of such chunks has.
uint8_t ParameterOf(const Header& header);

// Returns true if the streams of the chunk hold numbers as they are.
bool HoldsNumbers(const Header& header);
// Returns true if a few items of a block are decoded without the others.
bool DecodesSingleItems(const Header& header);

// Parses the header at the start of `bytes` and checks it against the `available` bytes that the
// chunk may have. `bytes` holds the first 32 of them, or all if there are fewer.
absl::StatusOr<Header> ParseHeader(Bytes bytes, int64_t available);
inline absl::StatusOr<Header> ParseHeader(Bytes chunk) {
  return ParseHeader(chunk, static_cast<int64_t>(chunk.size()));
}

// Parses a header in place, because chunks are many. `header` must have its defaults.
absl::Status ParseHeader(Bytes bytes, int64_t available, Header& header);

// Writes header.size() bytes to the start of dst.
void StoreHeader(const Header& header, MutableBytes dst);

}  // namespace cairn::chunk

#endif  // CAIRN_ENGINE_CHUNK_HEADER_H_
