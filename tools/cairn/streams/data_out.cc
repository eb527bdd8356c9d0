#include "tools/cairn/streams/data_out.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "tools/cairn/io/io.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

constexpr int64_t kPieceSize = 4 << 20;

// Returns where a piece that begins at `begin` ends. If chunks are small, it ends with a chunk, so
// that none is decoded twice. The piece is never large.
int64_t PieceEnd(int64_t begin, int64_t end, int32_t chunksize) {
  if (end - begin <= kPieceSize) return end;
  if (chunksize <= 0 || chunksize > kPieceSize) return begin + kPieceSize;
  return (begin + kPieceSize) / chunksize * chunksize;
}

// Reads into memory that it keeps from piece to piece.
class PieceWriter {
 public:
  explicit PieceWriter(const Snapshot& snapshot) : snapshot_(snapshot) {}

  absl::Status Write(int64_t begin, int64_t end) {
    const auto size = static_cast<size_t>(end - begin);
    if (!buffer_ || buffer_->bytes().size() < size) buffer_.emplace(size);
    const MutableBytes piece = buffer_->first(size);
    const absl::Status status = snapshot_.ReadBytes(begin, piece);
    return status.ok() ? WriteStdout(piece) : status;
  }

 private:
  const Snapshot& snapshot_;
  std::optional<Buffer> buffer_;
};

// Writes pieces that end where chunks do, however large these are. A chunk of variable blocks
// begins with a table of them all, which every read goes through.
absl::Status WriteVariableBlocks(const Snapshot& snapshot, const Range& bytes, Progress& progress) {
  const int64_t chunksize = snapshot.info().chunksize.value_or(0);
  PieceWriter writer(snapshot);
  int64_t chunk = chunksize > 0 ? bytes.begin / chunksize : 0;
  int64_t end = chunk * chunksize;  // end of the chunks so far
  for (int64_t at = bytes.begin; at < bytes.end; ++chunk) {
    ASSIGN_OR_RETURN(const int32_t size, snapshot.ChunkNbytes(chunk));
    end += std::min<int64_t>(size, bytes.end - end);
    if (end < bytes.end && end - at < kPieceSize) continue;
    RETURN_IF_ERROR(writer.Write(at, end));
    progress.Show(end - bytes.begin);
    at = end;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteChunks(const Snapshot& snapshot, const Range& chunks, Progress& progress) {
  int64_t done = 0;
  for (int64_t i = chunks.begin; i < chunks.end; ++i) {
    ASSIGN_OR_RETURN(const int32_t size, snapshot.ChunkNbytes(i));
    const Buffer buffer(static_cast<size_t>(size));
    RETURN_IF_ERROR(snapshot.ReadChunk(i, buffer.bytes()));
    RETURN_IF_ERROR(WriteStdout(buffer.bytes()));
    progress.Show(done += size);
  }
  return absl::OkStatus();
}

absl::Status WriteBytes(const Snapshot& snapshot, const Range& bytes, Progress& progress) {
  if (snapshot.info().vlblocks) return WriteVariableBlocks(snapshot, bytes, progress);
  PieceWriter writer(snapshot);
  for (int64_t at = bytes.begin; at < bytes.end;) {
    const int64_t end = PieceEnd(at, bytes.end, snapshot.info().chunksize.value_or(0));
    RETURN_IF_ERROR(writer.Write(at, end));
    progress.Show(end - bytes.begin);
    at = end;
  }
  return absl::OkStatus();
}

absl::Status WriteItems(const Snapshot& snapshot, const Range& items, Progress& progress) {
  const int64_t typesize = snapshot.info().typesize;
  if (!snapshot.array()) {
    return WriteBytes(snapshot, {items.begin * typesize, items.end * typesize}, progress);
  }
  // A piece of rows decodes all blocks that it touches, so large pieces decode few of them twice.
  constexpr int64_t kArrayPieceSize = 64 << 20;
  const int64_t piece = std::max<int64_t>(kArrayPieceSize / typesize, 1);
  // Reading nothing checks that the frame has what its array claims.
  RETURN_IF_ERROR(snapshot.ReadItems(items.begin, MutableBytes()));
  std::optional<Buffer> buffer;
  for (int64_t at = items.begin; at < items.end; at += piece) {
    const int64_t end = std::min(at + piece, items.end);
    const auto size = static_cast<size_t>((end - at) * typesize);
    if (!buffer) buffer.emplace(size);
    RETURN_IF_ERROR(snapshot.ReadItems(at, buffer->first(size)));
    RETURN_IF_ERROR(WriteStdout(buffer->first(size)));
    progress.Show((end - items.begin) * typesize);
  }
  return absl::OkStatus();
}

}  // namespace cairn::tool
