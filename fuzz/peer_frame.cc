// The input is a frame of today. Chunks that C-Blosc2 takes too have the same bytes for both. It
// runs in a process of its own, for it may not outlive the input.

#include <algorithm>
#include <blosc2.h>
#include <memory>
#include <optional>
#include <vector>

#include "fuzz/apart.h"
#include "fuzz/check.h"
#include "fuzz/mutator.h"
#include "fuzz/peer_defects.h"
#include "fuzz/read_all.h"

namespace cairn::fuzz {
namespace {

using Buffer = std::vector<std::byte>;

constexpr int64_t kMostChunks = 64;

// One byte a chunk, 1 when it was read, and the chunks that were. Empty when the frame is refused.
Buffer ReadTheirs(Bytes file, const std::vector<int32_t>& sizes) {
  Buffer copy(file.begin(), file.end());
  blosc2_init();
  blosc2_schunk* const frame =
      blosc2_schunk_from_buffer(reinterpret_cast<uint8_t*>(copy.data()), std::ssize(copy), true);
  if (frame == nullptr || frame->nchunks != std::ssize(sizes)) return {};
  Buffer result(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    Buffer chunk(static_cast<size_t>(sizes[i]));
    if (chunk.empty() || blosc2_schunk_decompress_chunk(frame, static_cast<int64_t>(i),
                                                        chunk.data(), sizes[i]) != sizes[i]) {
      continue;
    }
    result[i] = std::byte{1};
    result.insert(result.end(), chunk.begin(), chunk.end());
  }
  return result;
}

void Compare(Bytes file) {
  const absl::StatusOr<Frame> frame = Frame::OpenBuffer(file, SmallLimits());
  if (!frame.ok()) return;
  const Snapshot snapshot = frame->snapshot();
  const FrameInfo& info = snapshot.info();
  if (info.era != Era::kCurrent || info.nchunks > kMostChunks || info.journal_size > 0) return;
  std::vector<int32_t> sizes;
  for (int64_t i = 0; i < info.nchunks; ++i) sizes.push_back(snapshot.ChunkSize(i).value_or(0));
  const std::optional<Buffer> theirs = RunApart([&] { return ReadTheirs(file, sizes); });
  if (!theirs.has_value() || theirs->size() < sizes.size()) return;
  Bytes rest = Bytes(*theirs).subspan(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    if ((*theirs)[i] == std::byte{0}) continue;
    const Bytes other = rest.first(static_cast<size_t>(sizes[i]));
    rest = rest.subspan(other.size());
    Buffer chunk(other.size());
    const auto nchunk = static_cast<int64_t>(i);
    const absl::StatusOr<Chunk> stored = snapshot.GetChunk(nchunk);
    if (!stored.ok() || !snapshot.ReadChunk(nchunk, chunk).ok()) continue;
    if (PeerIsKnownToDiffer(stored->bytes())) continue;
    CheckSame(chunk, other, "what both read is the same");
  }
}

}  // namespace
}  // namespace cairn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cairn::fuzz::Compare(cairn::fuzz::AsBytes(data, size));
  return 0;
}
