// The codecs of one thread. Each is made when it is first needed.
#ifndef CAIRN_ENGINE_CODEC_CODEC_SET_H_
#define CAIRN_ENGINE_CODEC_CODEC_SET_H_

#include <array>
#include <memory>

#include "absl/status/statusor.h"

#include "cairn/registry.h"
#include "cairn/types.h"
#include "engine/codec/stream_codec.h"

namespace cairn::codec {

// Not thread-safe.
class CodecSet {
 public:
  // Returns a codec, which stays valid until the set returns another one of a registry. `registry`
  // may be null.
  //
  // Errors: kUnimplemented, naming the id, if neither this build nor `registry` has the codec.
  absl::StatusOr<StreamCodec*> Get(Codec id, const Registry* registry);

 private:
  std::array<std::unique_ptr<StreamCodec>, 39> own_;  // by id, and last those of numbers
  std::unique_ptr<StreamCodec> plugin_;
  const CodecPlugin* wrapped_ = nullptr;  // by plugin_
};

// Returns true if streams of this codec may be coded against a dictionary.
constexpr bool SupportsDictionary(Codec id) {
  return id == Codec::kLz4 || id == Codec::kLz4Hc || id == Codec::kZstd;
}

// Returns true if the codec spends time on a higher ratio, and gains from larger blocks.
constexpr bool IsHighRatio(Codec id) {
  return id == Codec::kLz4Hc || id == Codec::kZlib || id == Codec::kZstd || id == Codec::kPco ||
         id == Codec::kAuto;
}

constexpr bool IsZfp(Codec id) { return id >= Codec::kZfpAccuracy && id <= Codec::kZfpRate; }

// Returns true if streams can be coded only if the shape of a block is known.
constexpr bool IsOfArrays(Codec id) { return id == Codec::kNdlz || IsZfp(id); }

}  // namespace cairn::codec

#endif  // CAIRN_ENGINE_CODEC_CODEC_SET_H_
