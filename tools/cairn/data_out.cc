#include "tools/cairn/data_out.h"

#include <cstddef>
#include <optional>

#include "tools/cairn/io.h"

namespace cairn::tool {

namespace {

// Where a piece that begins at `begin` ends: at a chunk's end where chunks are small, so that none
// is decoded twice, and never so far that the piece is large.
int64_t PieceEnd(int64_t begin, int64_t end, int32_t chunksize) {
  constexpr int64_t kPiece = 4 << 20;
  if (end - begin <= kPiece) return end;
  if (chunksize <= 0 || chunksize > kPiece) return begin + kPiece;
  return (begin + kPiece) / chunksize * chunksize;
}

}  // namespace

absl::Status WriteChunks(const Snapshot& snapshot, const Range& chunks, Progress& progress) {
  int64_t done = 0;
  for (int64_t i = chunks.begin; i < chunks.end; ++i) {
    const absl::StatusOr<int32_t> size = snapshot.ChunkSize(i);
    if (!size.ok()) return size.status();
    const Buffer buffer(static_cast<size_t>(*size));
    if (absl::Status status = snapshot.ReadChunk(i, buffer.bytes()); !status.ok()) return status;
    if (absl::Status status = WriteStdout(buffer.bytes()); !status.ok()) return status;
    progress.Show(done += *size);
  }
  return absl::OkStatus();
}

absl::Status WriteBytes(const Snapshot& snapshot, const Range& bytes, Progress& progress) {
  std::optional<Buffer> buffer;
  for (int64_t at = bytes.begin; at < bytes.end;) {
    const int64_t end = PieceEnd(at, bytes.end, snapshot.info().chunksize);
    const auto size = static_cast<size_t>(end - at);
    if (!buffer || buffer->bytes().size() < size) buffer.emplace(size);
    const MutableBytes piece = buffer->first(size);
    if (absl::Status status = snapshot.ReadBytes(at, piece); !status.ok()) return status;
    if (absl::Status status = WriteStdout(piece); !status.ok()) return status;
    progress.Show(end - bytes.begin);
    at = end;
  }
  return absl::OkStatus();
}

}  // namespace cairn::tool
