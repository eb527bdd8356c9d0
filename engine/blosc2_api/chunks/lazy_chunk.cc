#include "engine/blosc2_api/chunks/lazy_chunk.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/frame_info.h"
#include "cairn/snapshot.h"
#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/base/hash.h"
#include "engine/blosc2_api/files/frame_store.h"
#include "engine/blosc2_api/process/codes.h"

namespace cairn::blosc2_api {

namespace {

constexpr size_t kHeader = BLOSC_EXTENDED_HEADER_LENGTH;
constexpr size_t kPlace = sizeof(int32_t) + sizeof(int64_t);

size_t PositionsSize(const ChunkHead& head) { return 4 * static_cast<size_t>(head.nblocks()); }

// Returns the stored size of each block, which is the way to the next one.
std::vector<int32_t> StoredSizes(const ChunkHead& head, Bytes positions) {
  std::vector<std::pair<int32_t, size_t>> starts;
  for (size_t i = 0; 4 * i < positions.size(); ++i) {
    starts.emplace_back(LoadLe<int32_t>(&positions[4 * i]), i);
  }
  std::ranges::sort(starts);
  std::vector<int32_t> sizes(starts.size());
  for (size_t i = 0; i < starts.size(); ++i) {
    const int32_t end = i + 1 < starts.size() ? starts[i + 1].first : head.cbytes;
    sizes[starts[i].second] = end - starts[i].first;
  }
  return sizes;
}

// Returns true if the stored bytes of a chunk have this fingerprint.
bool IsChunk(const Chunk& chunk, uint64_t fingerprint) {
  return Xxh3(chunk.bytes()) == fingerprint;
}

// Returns the chunk with this fingerprint, which had the number `nchunk`. If it has another one,
// the frame must tell its fingerprint.
absl::StatusOr<Chunk> FindChunk(const Snapshot& state, int64_t nchunk, uint64_t fingerprint) {
  absl::StatusOr<Chunk> chunk = state.GetChunk(nchunk);
  if (chunk.ok() && IsChunk(*chunk, fingerprint)) return chunk;
  for (int64_t i = 0; i < state.info().nchunks; ++i) {
    const absl::StatusOr<ChunkEntry> entry = state.GetEntry(i);
    if (!entry.ok() || entry->fingerprint != fingerprint) continue;
    chunk = state.GetChunk(i);
    if (chunk.ok() && IsChunk(*chunk, fingerprint)) return chunk;
  }
  return absl::NotFoundError("lazy chunk: the file has it no more");
}

}  // namespace

int MakeLazyChunk(const Chunk& chunk, int64_t nchunk, uint8_t*& lazy) {
  const Bytes bytes = chunk.bytes();
  ChunkHead head;
  const int code = ReadHead(bytes.data(), static_cast<int32_t>(bytes.size()), true, head);
  if (code < 0) return code;
  const bool whole = !head.extended || head.special() != BLOSC2_NO_SPECIAL || head.nbytes <= 0;
  const size_t positions = whole ? 0 : PositionsSize(head);
  if (!whole && !head.memcpyed() && kHeader + positions > bytes.size()) {
    return Failed(BLOSC2_ERROR_INVALID_HEADER, "chunk: its blocks do not fit into it");
  }
  const size_t size = whole ? bytes.size() : kHeader + positions + kPlace + positions;
  lazy = static_cast<uint8_t*>(std::malloc(size));
  if (lazy == nullptr) return Failed(BLOSC2_ERROR_MEMORY_ALLOC, "lazy chunk: memory");
  const MutableBytes out = MutableBytesAt(lazy, static_cast<int64_t>(size));
  if (whole) {
    CopyBytes(bytes, out);
    return static_cast<int>(size);
  }
  FillBytes(out, std::byte{0});
  CopyBytes(bytes.first(kHeader + (head.memcpyed() ? 0 : positions)), out);
  out[BLOSC2_CHUNK_BLOSC2_FLAGS] |= std::byte{kLazyFlag};
  StoreLe(&out[kHeader + positions], static_cast<int32_t>(nchunk));
  StoreLe(&out[kHeader + positions + sizeof(int32_t)], Xxh3(bytes));
  std::vector<int32_t> sizes(positions / 4, head.blocksize);
  if (!head.memcpyed()) sizes = StoredSizes(head, bytes.subspan(kHeader, positions));
  for (size_t i = 0; i < sizes.size(); ++i) {
    StoreLe(&out[kHeader + positions + kPlace + 4 * i], sizes[i]);
  }
  return static_cast<int>(size);
}

int FetchLazyChunk(const blosc2_schunk* schunk, const void* lazy, int32_t size,
                   const ChunkHead& head, Chunk& chunk) {
  if (schunk == nullptr || schunk->frame == nullptr) {
    return Failed(BLOSC2_ERROR_INVALID_PARAM, "lazy chunk: its context has no file");
  }
  const Bytes bytes = BytesAt(lazy, size);
  const size_t at = kHeader + PositionsSize(head);
  if (at + kPlace > bytes.size()) {
    return Failed(BLOSC2_ERROR_READ_BUFFER, "lazy chunk: it is cut");
  }
  const auto nchunk = LoadLe<int32_t>(&bytes[at]);
  // The store of a file knows how many chunks there are. The field may change meanwhile.
  if (nchunk < 0 || (!schunk->frame->on_disk() && nchunk >= schunk->nchunks)) {
    return Failed(BLOSC2_ERROR_INVALID_HEADER, "lazy chunk: there is no such chunk");
  }
  const absl::StatusOr<std::optional<PinnedState>> now = schunk->frame->Pin(nullptr);
  if (!now.ok()) return CodeOf(now.status());
  const auto fingerprint = LoadLe<uint64_t>(&bytes[at + sizeof(int32_t)]);
  absl::StatusOr<Chunk> fetched =
      now->has_value() ? FindChunk((*now)->state, nchunk, fingerprint) : schunk->frame->Get(nchunk);
  if (!fetched.ok()) return CodeOf(fetched.status());
  ChunkHead fetched_head;
  const Bytes whole = fetched->bytes();
  const int code = ReadHead(whole.data(), static_cast<int32_t>(whole.size()), true, fetched_head);
  if (code < 0) return code;
  if (fetched_head.nbytes != head.nbytes || fetched_head.vlblocks() != head.vlblocks()) {
    return Failed(BLOSC2_ERROR_FILE_READ, "lazy chunk: the chunk has changed in the file");
  }
  chunk = *std::move(fetched);
  return BLOSC2_ERROR_SUCCESS;
}

}  // namespace cairn::blosc2_api
