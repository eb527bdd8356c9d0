// What a codec is to the rest of the engine: something that codes one stream.
#ifndef CAIRN_ENGINE_CODEC_STREAM_CODEC_H_
#define CAIRN_ENGINE_CODEC_STREAM_CODEC_H_

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/registry.h"
#include "cairn/types.h"

namespace cairn::codec {

// One thread's state of one codec, reused from stream to stream so that a warm call allocates
// nothing. Streams are independent of each other.
class StreamCodec {
 public:
  virtual ~StreamCodec() = default;

  // Codes all streams against `dict` until the next call; empty means without. The bytes must stay
  // alive. Codecs without dictionaries ignore it, as the format asks.
  virtual void UseDictionary(Bytes /*dict*/) {}

  // Compresses src (not empty) into dst and returns the size, which is below that of src, or 0 when
  // it does not fit: the caller then stores the stream raw.
  virtual absl::StatusOr<size_t> Compress(Bytes src, MutableBytes dst, const PluginCall& call) = 0;

  // Fills dst exactly from all of src; kDataLoss when the stream is malformed or of another size.
  virtual absl::Status Decompress(Bytes src, MutableBytes dst, const PluginCall& call) = 0;

  // The same, but only the first `wanted` bytes of dst count: where it pays, no more is decoded,
  // and damage after them is not seen.
  virtual absl::Status DecompressStart(Bytes src, MutableBytes dst, size_t /*wanted*/,
                                       const PluginCall& call) {
    return Decompress(src, dst, call);
  }
};

// The part of dst that a stream of src may take: one that saves nothing is not wanted. Some
// libraries decide by the capacity they are given, so more of it must not change their output.
inline MutableBytes UsefulPart(Bytes src, MutableBytes dst) {
  return dst.first(std::min(dst.size(), src.empty() ? 0 : src.size() - 1));
}

std::unique_ptr<StreamCodec> MakeBloscLz();
std::unique_ptr<StreamCodec> MakeLz4();
std::unique_ptr<StreamCodec> MakeLz4Hc();
std::unique_ptr<StreamCodec> MakeZlib();
std::unique_ptr<StreamCodec> MakeZstd();
std::unique_ptr<StreamCodec> MakeNdlz();
// Null in a build without libzfp.
std::unique_ptr<StreamCodec> MakeZfp(Codec mode);

// A dictionary for zstd of at most `capacity` bytes, from samples that follow each other in
// `samples` and have the given sizes. Empty when the samples do not suffice: then code without one.
std::vector<std::byte> TrainZstdDictionary(Bytes samples, std::span<const size_t> sample_sizes,
                                           size_t capacity);

}  // namespace cairn::codec

#endif  // CAIRN_ENGINE_CODEC_STREAM_CODEC_H_
