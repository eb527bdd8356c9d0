// The header of a frame: 87 fixed bytes and the metalayers.
#ifndef CAIRN_ENGINE_FORMAT_FRAME_HEADER_H_
#define CAIRN_ENGINE_FORMAT_FRAME_HEADER_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/types.h"
#include "engine/base/byte_reader.h"
#include "engine/format/layers.h"

namespace cairn::format {

inline constexpr std::string_view kFrameHeaderSection = "frame header";
// These follow the first byte of every frame.
inline constexpr uint8_t kFrameMagicMarker = 0xA8;
inline constexpr std::string_view kFrameMagic("b2frame\0", 8);

// The bytes that every state of a frame may change. The metalayers follow them.
inline constexpr int64_t kFixedHeaderSize = 0x57;
// The place of the aligned word frame_size, which is big endian.
inline constexpr int64_t kFrameSizeOffset = 0x10;
// The frame format that this library reads and writes.
inline constexpr int kFrameVersion = 2;
inline constexpr int kFrameVersionVariable = 3;

// The chunksize of a frame that never held a chunk.
inline constexpr int32_t kChunksizeUnknown = -1;
inline constexpr int32_t kChunksizeVariable = 0;

struct FrameHeader {
  int64_t header_len = 0;
  int64_t frame_size = 0;
  int version = kFrameVersion;
  Layout layout = Layout::kContiguous;
  bool vlblocks = false;
  Codec codec = Codec::kBloscLz;
  uint8_t codec_meta = 0;
  int clevel = 5;
  SplitMode split_mode = SplitMode::kForwardCompat;
  int64_t nbytes = 0;
  int64_t cbytes = 0;  // offset of the index from the end of the header
  int32_t typesize = 1;
  int32_t blocksize = 0;
  int32_t chunksize = kChunksizeUnknown;
  bool has_vlmetalayers = false;
  std::array<FilterStage, kMaxFilters> filters{};
  bool use_dict = false;
  std::vector<Metalayer> metalayers;
  // The place of each metalayer's content in the header.
  std::vector<LayerPlace> places;

  bool variable_chunks() const { return chunksize == kChunksizeVariable; }
  // Returns where the index begins, after the chunks, or would begin in a frame without chunks.
  std::optional<int64_t> index_begin() const;
};

// Parses the header at the start of `bytes`, which hold all of it. For the frames of pre-releases
// see legacy/.
absl::StatusOr<FrameHeader> ParseFrameHeader(Bytes bytes);

// Returns the header's length, which is `least` or more, from that many bytes of it.
absl::StatusOr<int64_t> ParseHeaderLength(Bytes bytes, int64_t least = kFixedHeaderSize);

// Writes the bytes between the values of a header, which are equal in all headers, over those that
// are there: kFixedHeaderSize bytes and the first bytes of the list of metalayers. Returns how many
// differed.
int RestoreMarkers(MutableBytes header);
inline constexpr int64_t kMarkedHeaderSize = kFixedHeaderSize + 5;

// Encodes the fixed part, kFixedHeaderSize bytes. The version follows from the rest.
std::vector<std::byte> EncodeFixedHeader(const FrameHeader& header);

// Encodes the header of a new frame. Sets header_len and places.
std::vector<std::byte> EncodeNewHeader(FrameHeader& header);

// Parts that the shorter headers of pre-releases have too.
struct HeaderFlags {
  uint8_t general = 0;
  uint8_t frame_type = 0;
  uint8_t codec = 0;
  uint8_t other = 0;
};
// Reads from the start to the thread counts. Only a header of kFixedHeaderSize or more has a
// blocksize.
HeaderFlags ReadHeaderFields(ByteReader& reader, int64_t least, FrameHeader& header);
// Returns the 16 bytes of the slots.
Bytes ReadHeaderFilters(ByteReader& reader, FrameHeader& header);
// Checks the numbers of a header that was read from `bytes`, and copies its metalayers.
absl::StatusOr<FrameHeader> FinishHeader(Bytes bytes, const ByteReader& reader, FrameHeader header);

}  // namespace cairn::format

#endif  // CAIRN_ENGINE_FORMAT_FRAME_HEADER_H_
