#include "engine/frame/state/initial_state.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "engine/base/status.h"
#include "engine/chunk/encode_options.h"
#include "engine/chunk/encoder.h"
#include "engine/codec/codec_set.h"

namespace cairn::frame {

namespace {

absl::Status CheckMetalayers(const std::vector<Metalayer>& metalayers) {
  if (metalayers.size() > kMaxMetalayers) {
    return InvalidArgument("metalayers: at most %d, got %d", kMaxMetalayers, metalayers.size());
  }
  std::set<std::string> names;
  int64_t size = 0;
  for (const Metalayer& layer : metalayers) {
    CAIRN_RETURN_IF_ERROR(format::CheckLayerName(layer.name));
    if (!names.insert(layer.name).second) {
      return InvalidArgument("metalayer %s is given twice", layer.name);
    }
    size += static_cast<int64_t>(layer.content.size());
  }
  // header_len and the offsets in the header are 32-bit numbers.
  constexpr int64_t kMaxContent = int64_t{1} << 30;
  if (size > kMaxContent) {
    return InvalidArgument("metalayers: at most %d bytes, got %d", kMaxContent, size);
  }
  return absl::OkStatus();
}

int32_t HeaderChunksize(const CreateOptions& options) {
  if (options.chunksize == ChunkSize::Variable()) return format::kChunksizeVariable;
  if (options.chunksize == ChunkSize::AsFirstChunk()) return format::kChunksizeUnknown;
  return WholeItems(*options.chunksize.nbytes(), options.compression.typesize);
}

}  // namespace

int32_t WholeItems(int32_t chunksize, int32_t typesize) {
  return std::max(chunksize - chunksize % typesize, typesize);
}

absl::StatusOr<StatePtr> MakeInitialState(const CreateOptions& options,
                                          std::shared_ptr<const FrameContext> env) {
  const CompressionOptions& compression = options.compression;
  if (compression.format != ChunkFormat::kBlosc2) {
    return InvalidArgument("frames hold chunks of the Blosc2 format only");
  }
  if (const std::optional<int32_t> nbytes = options.chunksize.nbytes();
      nbytes.has_value() && (*nbytes < 1 || *nbytes > kMaxChunkBytes)) {
    return InvalidArgument("chunksize: expected 1 to %d, or variable chunks, got %d",
                           kMaxChunkBytes, *nbytes);
  }
  CAIRN_RETURN_IF_ERROR(CheckMetalayers(options.metalayers));
  CAIRN_RETURN_IF_ERROR(chunk::Encoder::Make(compression, &env->pool).status());

  format::FrameHeader header;
  header.codec = compression.codec;
  header.codec_meta = compression.codec_meta;
  header.clevel = compression.clevel;
  header.split_mode = compression.split_mode;
  header.typesize = compression.typesize;
  // This is the block size that chunks will have.
  const int32_t item = chunk::HeaderTypesize(compression.typesize);
  header.blocksize = compression.blocksize < item ? compression.blocksize
                                                  : WholeItems(compression.blocksize, item);
  header.chunksize = HeaderChunksize(options);
  header.filters = chunk::SlotsOf(compression);
  header.use_dict = compression.use_dict;
  header.layout = options.layout;
  header.metalayers = options.metalayers;
  std::vector<std::byte> bytes = format::EncodeNewHeader(header);
  header.frame_size = header.header_len;

  StateBuilder builder(std::move(env));
  builder.SetHeader(std::move(header), std::move(bytes));
  builder.checkpoint->fingerprint = options.fingerprint;
  builder.state->chunks_end = builder.checkpoint->header.header_len;
  SetContiguousSource(*builder.state);
  return std::move(builder).Finish();
}

CompressionOptions CompressionOf(const format::FrameHeader& header) {
  CompressionOptions options;
  options.codec = header.codec;
  options.codec_meta = header.codec_meta;
  options.clevel = header.clevel;
  options.split_mode = header.split_mode;
  options.typesize = header.typesize;
  options.blocksize = header.blocksize;
  options.use_dict = header.use_dict && codec::SupportsDictionary(header.codec);
  options.filters.clear();
  for (FilterStage stage : header.filters) {
    // New chunks use the repaired filter instead of the one that is only read.
    if (stage.filter == Filter::kByteDeltaBuggy) stage.filter = Filter::kByteDelta;
    if (stage.filter != Filter::kNone) options.filters.push_back(stage);
  }
  return options;
}

}  // namespace cairn::frame
