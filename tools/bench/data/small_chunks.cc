#include "tools/bench/data/small_chunks.h"

#include <utility>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/chunk.h"
#include "cairn/frame.h"
#include "tools/bench/data/datasets.h"

namespace cairn::bench {

namespace {

// Few different chunks, again and again: the index does not tell.
absl::StatusOr<std::vector<std::vector<std::byte>>> MakeChunks(const CompressionOptions& options) {
  std::vector<std::vector<std::byte>> chunks;
  DataSource source(DataSet::kA, kSmallChunk);
  for (int i = 0; i < 64; ++i) {
    std::vector<std::byte> chunk(MaxCompressedSize(kSmallChunk));
    const absl::StatusOr<size_t> size = CompressChunk(source.Next(), options, chunk);
    if (!size.ok()) return size.status();
    chunk.resize(*size);
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
  const auto chunks = MakeChunks(options.compression);
  if (!chunks.ok()) return chunks.status();
  absl::StatusOr<Writer> writer = Frame::Build(path, options);
  if (!writer.ok()) return writer.status();
  for (int64_t i = 0; i < nchunks; ++i) {
    const auto& chunk = (*chunks)[static_cast<uint64_t>(i) * 2654435761 % chunks->size()];
    if (absl::Status status = writer->AppendCompressed(chunk); !status.ok()) return status;
  }
  return writer->Close();
}

}  // namespace cairn::bench
