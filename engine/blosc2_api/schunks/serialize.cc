#include "engine/blosc2_api/schunks/serialize.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "cairn/frame.h"
#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "engine/blosc2_api/chunks/coders.h"
#include "engine/blosc2_api/process/plugins.h"
#include "engine/blosc2_api/schunks/schunk.h"
#include "engine/storage/memory_file_system.h"

namespace cairn::blosc2_api {

CreateOptions CreateOptionsOf(const blosc2_schunk& schunk) {
  CreateOptions options;
  CompressionOptions& compression = options.compression;
  compression.codec = static_cast<Codec>(schunk.compcode);
  compression.codec_meta = schunk.compcode_meta;
  compression.clevel = schunk.clevel;
  compression.typesize = schunk.typesize;
  compression.blocksize = schunk.blocksize;
  compression.use_dict = UseDict(schunk) != 0 && TakesDictionary(schunk.compcode);
  // Nothing is coded with them, but a frame names only codecs and filters that are known.
  compression.registry = PluginsFor(*schunk.cctx, schunk.compcode, schunk.filters);
  const bool known =
      schunk.splitmode >= BLOSC_ALWAYS_SPLIT && schunk.splitmode <= BLOSC_FORWARD_COMPAT_SPLIT;
  if (known) compression.split_mode = static_cast<SplitMode>(schunk.splitmode);
  compression.filters.clear();
  for (size_t i = 0; i < BLOSC2_MAX_FILTERS; ++i) {
    compression.filters.push_back(
        {.filter = static_cast<Filter>(schunk.filters[i]), .meta = schunk.filters_meta[i]});
  }
  options.chunksize = schunk.chunksize > 0    ? ChunkSize(schunk.chunksize)
                      : schunk.chunksize == 0 ? ChunkSize::Variable()
                                              : ChunkSize::AsFirstChunk();
  for (int i = 0; i < schunk.nmetalayers; ++i) {
    const blosc2_metalayer& layer = *schunk.metalayers[i];
    options.metalayers.push_back(
        {.name = layer.name, .content = ToVector(BytesAt(layer.content, layer.content_len))});
  }
  // The metalayer that makes an array of the super-chunk comes later, and then the frame is made
  // again.
  const bool is_array = std::ranges::any_of(options.metalayers, [](const Metalayer& layer) {
    return layer.name == "b2nd" || layer.name == "caterva";
  });
  if (!is_array && NeedsShape(schunk.compcode, schunk.filters)) {
    compression.codec = Codec::kLz4;
    compression.codec_meta = 0;
    compression.filters.clear();
  }
  // Frames in memory and copies of them are read at once, and have no commits to tell apart.
  options.fingerprint = FingerprintType::kNone;
  return options;
}

bool IsCairns(const blosc2_metalayer& layer) {
  const std::string_view name = layer.name;
  return name == "cairn" || name == "cairn.fp";
}

absl::Status StageAll(const blosc2_schunk& schunk, Writer& writer) {
  for (int64_t i = 0; i < schunk.nchunks; ++i) {
    CAIRN_ASSIGN_OR_RETURN(const Chunk chunk, GetChunk(schunk, i));
    CAIRN_RETURN_IF_ERROR(writer.AppendCompressed(chunk.bytes()));
  }
  int staged = 0;
  for (int i = 0; i < schunk.nvlmetalayers; ++i) {
    const blosc2_metalayer& layer = *schunk.vlmetalayers[i];
    if (IsCairns(layer)) continue;
    if (++staged > kMostVlmetalayers) return OutOfRange("frame: it has %d vlmetalayers", staged);
    CAIRN_RETURN_IF_ERROR(
        writer.SetVlmetalayer(layer.name, BytesAt(layer.content, layer.content_len)));
  }
  return absl::OkStatus();
}

absl::StatusOr<MutableBytes> Serialize(const blosc2_schunk& schunk) {
  // A frame that is begun without fingerprints has no layers of Cairn's, so equal super-chunks
  // give equal bytes.
  constexpr char kPath[] = "frame";
  const auto files = std::make_shared<storage::MemoryFileSystem>();
  CreateOptions options = CreateOptionsOf(schunk);
  options.file_system = files;
  CAIRN_ASSIGN_OR_RETURN(Writer writer, Frame::BeginCreate(kPath, options));
  CAIRN_RETURN_IF_ERROR(StageAll(schunk, writer));
  CAIRN_RETURN_IF_ERROR(writer.Close());
  CAIRN_ASSIGN_OR_RETURN(const std::unique_ptr<File> file, files->Open(kPath, FileMode::kRead));
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, file->Size());
  std::unique_ptr<void, decltype(&std::free)> memory(std::malloc(static_cast<size_t>(size)),
                                                     std::free);
  if (memory == nullptr) return absl::ResourceExhaustedError("frame: no memory for it");
  const MutableBytes cframe = MutableBytesAt(memory.get(), size);
  CAIRN_RETURN_IF_ERROR(file->ReadAt(0, cframe));
  static_cast<void>(memory.release());
  return cframe;
}

}  // namespace cairn::blosc2_api
