// The input is a chunk. When C-Blosc2 takes it too, both give the same bytes. It runs in a process
// of its own, for it may not outlive the input.

#include <blosc2.h>
#include <optional>
#include <vector>

#include "cairn/chunk.h"
#include "fuzz/apart.h"
#include "fuzz/check.h"
#include "fuzz/mutator.h"
#include "fuzz/peer_defects.h"

namespace cairn::fuzz {
namespace {

using Buffer = std::vector<std::byte>;

constexpr int32_t kMostBytes = 1 << 20;

// Empty when the chunk is refused.
Buffer DecodeTheirs(Bytes chunk, int32_t nbytes) {
  blosc2_init();
  Buffer decoded(static_cast<size_t>(nbytes));
  blosc2_context* const context = blosc2_create_dctx(blosc2_get_blosc2_dparams_defaults());
  const int size = blosc2_decompress_ctx(context, chunk.data(), static_cast<int32_t>(chunk.size()),
                                         decoded.data(), nbytes);
  return size == nbytes ? decoded : Buffer();
}

void Compare(Bytes chunk) {
  const absl::StatusOr<ChunkInfo> info = InspectChunk(chunk);
  if (!info.ok() || info->nbytes > kMostBytes || info->nbytes == 0) return;
  Buffer ours(static_cast<size_t>(info->nbytes));
  if (!DecompressChunk(chunk, ours).ok() || PeerIsKnownToDiffer(chunk)) return;
  const std::optional<Buffer> theirs = RunApart([&] { return DecodeTheirs(chunk, info->nbytes); });
  if (theirs.has_value() && !theirs->empty()) {
    CheckSame(ours, *theirs, "what both decode is the same");
  }
}

}  // namespace
}  // namespace cairn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cairn::fuzz::Compare(cairn::fuzz::AsBytes(data, size));
  return 0;
}
