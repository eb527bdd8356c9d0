#include "tools/bench/data/small_chunks.h"

#include <utility>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/chunk.h"
#include "cairn/frame.h"
#include "tools/bench/data/datasets.h"
#include "tools/status.h"

namespace cairn::bench {

namespace {

// A few different chunks are repeated, because the index is as large as for all different ones.
absl::StatusOr<std::vector<std::vector<std::byte>>> MakeChunks(const CompressionOptions& options) {
  std::vector<std::vector<std::byte>> chunks;
  DataSource source(DataSet::kA, kSmallChunk);
  for (int i = 0; i < 64; ++i) {
    std::vector<std::byte> chunk(MaxCompressedSize(kSmallChunk));
    ASSIGN_OR_RETURN(const size_t size, CompressChunk(source.Next(), options, chunk));
    chunk.resize(size);
    chunks.push_back(std::move(chunk));
  }
  return chunks;
}

}  // namespace

CreateOptions SmallChunkOptions(FingerprintType fingerprint) {
  CreateOptions options;
  options.compression.typesize = kSmallItem;
  options.chunksize = kSmallChunk;
  options.fingerprint = fingerprint;
  options.overwrite = true;
  return options;
}

absl::Status BuildSmallChunks(const std::string& path, FingerprintType fingerprint,
                              int64_t nchunks) {
  const CreateOptions options = SmallChunkOptions(fingerprint);
  ASSIGN_OR_RETURN(const auto chunks, MakeChunks(options.compression));
  ASSIGN_OR_RETURN(Writer writer, Frame::BeginCreate(path, options));
  for (int64_t i = 0; i < nchunks; ++i) {
    const auto& chunk = chunks[static_cast<uint64_t>(i) * 2654435761 % chunks.size()];
    RETURN_IF_ERROR(writer.AppendCompressed(chunk));
  }
  return writer.Close();
}

}  // namespace cairn::bench
