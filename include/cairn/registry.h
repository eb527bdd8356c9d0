// Codecs and filters of a program's own, under the ids 160..255 that the format leaves to users.
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

// The stream or block that a plug-in is called for.
struct PluginCall {
  int32_t typesize = 1;  // as in the chunk header: 1..255
  int clevel = 0;        // compression only; 1..9
  uint8_t meta = 0;      // the parameter byte of the codec or of the filter's slot
  // Codecs only: items of a block in each dimension of the array that the frame is; else empty.
  std::span<const int32_t> blockshape = {};
};

// A codec. Called from several threads at once.
class CAIRN_EXPORT CodecPlugin {
 public:
  virtual ~CodecPlugin() = default;
  // Returns the compressed size, or 0 when it would not fit into dst.
  virtual absl::StatusOr<size_t> Compress(Bytes src, MutableBytes dst,
                                          const PluginCall& call) const = 0;
  // Fills dst exactly.
  virtual absl::Status Decompress(Bytes src, MutableBytes dst, const PluginCall& call) const = 0;
};

// A filter over one block. src and dst have the same size and do not overlap. Called from several
// threads at once.
class CAIRN_EXPORT FilterPlugin {
 public:
  virtual ~FilterPlugin() = default;
  virtual absl::Status Forward(Bytes src, MutableBytes dst, const PluginCall& call) const = 0;
  virtual absl::Status Backward(Bytes src, MutableBytes dst, const PluginCall& call) const = 0;
};

// The plug-ins of one program. Fill it first, then share it: reading is thread-safe. It must
// outlive every frame, snapshot, writer and call that uses it.
class CAIRN_EXPORT Registry {
 public:
  // kInvalidArgument outside 160..255, kAlreadyExists when the id is taken.
  absl::Status AddCodec(uint8_t id, std::unique_ptr<const CodecPlugin> codec);
  absl::Status AddFilter(uint8_t id, std::unique_ptr<const FilterPlugin> filter);

  // Null when nothing is registered under the id. Owned by the registry.
  [[nodiscard]] const CodecPlugin* codec(uint8_t id) const;
  [[nodiscard]] const FilterPlugin* filter(uint8_t id) const;

 private:
  std::map<uint8_t, std::unique_ptr<const CodecPlugin>> codecs_;
  std::map<uint8_t, std::unique_ptr<const FilterPlugin>> filters_;
};

}  // namespace cairn

#endif  // CAIRN_REGISTRY_H_
