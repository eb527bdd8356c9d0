// The interface of a codec, which codes one stream.
#ifndef CAIRN_ENGINE_CODEC_STREAM_CODEC_H_
#define CAIRN_ENGINE_CODEC_STREAM_CODEC_H_

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/items.h"
#include "cairn/options.h"
#include "cairn/registry.h"
#include "cairn/types.h"
#include "engine/codec/numbers/stream_head.h"

namespace cairn::codec {

// The bytes of a stream that are wanted: [begin, end). If there are fields, these are whole items,
// of which only the fields are wanted: their values go into the arrays of the fields instead of the
// decoded stream, whose bytes are of no use then.
struct StreamPart {
  size_t begin = 0;
  size_t end = 0;
  size_t item_size = 0;
  std::span<const FieldSpan> fields = {};

  // Returns true if bytes [offset, offset + width) of items of `size` bytes are wanted.
  bool Wants(size_t size, size_t offset, size_t width) const {
    if (fields.empty() || size != item_size) return true;
    return std::ranges::any_of(fields, [&](const FieldSpan& field) {
      const auto begin_of_field = static_cast<size_t>(field.offset);
      return begin_of_field < offset + width &&
             offset < begin_of_field + static_cast<size_t>(field.size);
    });
  }
  // Returns the only field that wants these bytes, if it wants just them. Otherwise returns null.
  const FieldSpan* FieldOf(size_t offset, size_t width) const {
    const FieldSpan* found = nullptr;
    for (const FieldSpan& field : fields) {
      const auto begin_of_field = static_cast<size_t>(field.offset);
      const auto size = static_cast<size_t>(field.size);
      if (begin_of_field >= offset + width || offset >= begin_of_field + size) continue;
      if (found != nullptr || begin_of_field != offset || size != width) return nullptr;
      found = &field;
    }
    return found;
  }
  // Copies the values of one field, or of all, out of the decoded stream.
  void Gather(Bytes stream, const FieldSpan& field) const;
  void Gather(Bytes stream) const;
};

// The state of one codec in one thread, which is reused from stream to stream so that a warm call
// allocates nothing. Streams are independent of each other.
class StreamCodec {
 public:
  virtual ~StreamCodec() = default;

  // Codes all streams against `dict` until the next call. An empty one means none. The bytes must
  // stay alive. Codecs without dictionaries ignore it, as the format asks.
  virtual void UseDictionary(Bytes /*dict*/) {}

  // Takes the columns of items until the next call, for codecs of numbers.
  virtual void UseColumns(std::span<const ItemColumn> /*columns*/) {}

  // Chooses how to code the columns of these items, whose streams have `stream` bytes. Other codecs
  // than Codec::kAuto choose nothing.
  virtual absl::StatusOr<std::vector<numbers::Column>> ChooseColumns(Bytes /*items*/,
                                                                     size_t /*stream*/,
                                                                     const PluginCall& /*call*/) {
    return std::vector<numbers::Column>();
  }
  // Takes what was chosen until the next call of UseColumns. Otherwise each stream is coded by its
  // own choice.
  virtual void UseChosen(std::span<const numbers::Column> /*columns*/) {}

  // Compresses src (not empty) into dst and returns the size, which is below that of src. Returns 0
  // if it does not fit. The caller then stores the stream raw.
  virtual absl::StatusOr<size_t> Compress(Bytes src, MutableBytes dst, const PluginCall& call) = 0;

  // Fills dst exactly from all of src. Errors: kDataLoss if the stream is malformed or of another
  // size.
  virtual absl::Status Decompress(Bytes src, MutableBytes dst, const PluginCall& call) = 0;

  // Decompresses as above, but only the first `wanted` bytes of dst count. If it saves time, no
  // more is decoded, and damage after them is not seen.
  virtual absl::Status DecompressStart(Bytes src, MutableBytes dst, size_t /*wanted*/,
                                       const PluginCall& call) {
    return Decompress(src, dst, call);
  }

  // Decompresses as above, but only the bytes of `part` count. Others may be written or not.
  virtual absl::Status DecompressPart(Bytes src, MutableBytes dst, const StreamPart& part,
                                      const PluginCall& call) {
    if (part.end == dst.size()) return Decompress(src, dst, call);
    return DecompressStart(src, dst, part.end, call);
  }
};

// Returns the part of dst that a stream of src may take, which is less than src. Some libraries
// decide by the capacity that they get, so a larger dst must not change their output.
inline MutableBytes UsefulPart(Bytes src, MutableBytes dst) {
  return dst.first(std::min(dst.size(), src.empty() ? 0 : src.size() - 1));
}

std::unique_ptr<StreamCodec> MakeBloscLz();
std::unique_ptr<StreamCodec> MakeLz4();
std::unique_ptr<StreamCodec> MakeLz4Hc();
std::unique_ptr<StreamCodec> MakeZlib();
std::unique_ptr<StreamCodec> MakeZstd();
std::unique_ptr<StreamCodec> MakeNdlz();
std::unique_ptr<StreamCodec> MakePco();
std::unique_ptr<StreamCodec> MakeBitpack();
std::unique_ptr<StreamCodec> MakeAuto();
// Returns null in a build without libzfp.
std::unique_ptr<StreamCodec> MakeZfp(Codec mode);

// Reads the columns of a stream of a codec of numbers. Errors: kDataLoss if its head is malformed;
// kUnimplemented if it has another version.
absl::Status ReadColumns(Codec codec, Bytes stream, std::vector<numbers::Column>& columns);

// Trains a dictionary for zstd of at most `capacity` bytes, from samples that follow each other in
// `samples` and have the given sizes. Returns nothing if the samples do not suffice. The caller
// then codes without one.
std::vector<std::byte> TrainZstdDictionary(Bytes samples, std::span<const size_t> sample_sizes,
                                           size_t capacity);

}  // namespace cairn::codec

#endif  // CAIRN_ENGINE_CODEC_STREAM_CODEC_H_
