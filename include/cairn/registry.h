// Registry: a program's own codecs and filters, with the ids 160..255 that the format leaves to
// programs, and codecs that the format registers and this library does not have.
#ifndef CAIRN_REGISTRY_H_
#define CAIRN_REGISTRY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/types.h"

namespace cairn {

// Describes the stream or the block that a plug-in is called for.
struct PluginCall {
  int32_t typesize = 1;  // typesize of the chunk header, 1..255
  int clevel = 0;        // compression level, 1..9; only for compression
  uint8_t meta = 0;      // the parameter byte of the codec or of the filter's slot
  // Items of a block in each dimension, for a codec in a frame that is an array. Otherwise empty.
  std::span<const int32_t> blockshape = {};
  // Header of the chunk, for a codec. While a chunk is compressed its cbytes is not known yet.
  Bytes chunk_header = {};
};

// A codec of the program's own. It is called from several threads at once.
class CAIRN_EXPORT CodecPlugin {
 public:
  virtual ~CodecPlugin() = default;
  // Compresses src into dst. Returns the compressed size, or 0 if it would not fit into dst.
  virtual absl::StatusOr<size_t> Compress(Bytes src, MutableBytes dst,
                                          const PluginCall& call) const = 0;
  // Decompresses src and fills dst exactly.
  virtual absl::Status Decompress(Bytes src, MutableBytes dst, const PluginCall& call) const = 0;
};

// A filter of the program's own, which works on one block. src and dst have the same size and do
// not overlap. It is called from several threads at once.
class CAIRN_EXPORT FilterPlugin {
 public:
  virtual ~FilterPlugin() = default;
  // Apply the filter before compression, and undo it after decompression.
  virtual absl::Status Forward(Bytes src, MutableBytes dst, const PluginCall& call) const = 0;
  virtual absl::Status Backward(Bytes src, MutableBytes dst, const PluginCall& call) const = 0;
};

// Holds the plug-ins of one program. Fill it first, then share it: reading is thread-safe.
class CAIRN_EXPORT Registry {
 public:
  // Add a codec or a filter.
  // Errors: kInvalidArgument if `id` is not 160..255, or for a codec 36..255, or if the plug-in is
  // null; kAlreadyExists if the id is taken, as those of Codec::kPco, kBitpack and kAuto are.
  absl::Status AddCodec(uint8_t id, std::unique_ptr<const CodecPlugin> codec);
  absl::Status AddFilter(uint8_t id, std::unique_ptr<const FilterPlugin> filter);

  // Return the plug-in with this id, which the registry owns, or null if there is none.
  [[nodiscard]] const CodecPlugin* codec(uint8_t id) const;
  [[nodiscard]] const FilterPlugin* filter(uint8_t id) const;

 private:
  std::map<uint8_t, std::unique_ptr<const CodecPlugin>> codecs_;
  std::map<uint8_t, std::unique_ptr<const FilterPlugin>> filters_;
};

}  // namespace cairn

#endif  // CAIRN_REGISTRY_H_
