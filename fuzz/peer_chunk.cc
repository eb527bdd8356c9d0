// The input is a chunk. When C-Blosc2 takes it too, both give the same bytes, and as many. It runs
// in a process of its own, for it may not outlive the input.

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

// A byte and what the chunk decodes to; empty when it is refused.
Buffer DecodeTheirs(Bytes chunk) {
  blosc2_init();
  // There is room for more than ours, to see when they give more.
  Buffer decoded(1 + kMostBytes);
  blosc2_context* const context = blosc2_create_dctx(blosc2_get_blosc2_dparams_defaults());
  const int size = blosc2_decompress_ctx(context, chunk.data(), static_cast<int32_t>(chunk.size()),
                                         decoded.data() + 1, kMostBytes);
  if (size < 0) return {};
  decoded.resize(1 + static_cast<size_t>(size));
  return decoded;
}

void Compare(Bytes chunk) {
  const absl::StatusOr<ChunkInfo> info = InspectChunk(chunk);
  if (!info.ok() || info->nbytes > kMostBytes) return;
  Buffer ours(static_cast<size_t>(info->nbytes));
  if (!DecompressChunk(chunk, ours).ok() || PeerIsKnownToDiffer(chunk)) return;
  const std::optional<Buffer> theirs = RunApart([&] { return DecodeTheirs(chunk); });
  if (theirs.has_value() && !theirs->empty()) {
    CheckSame(ours, Bytes(*theirs).subspan(1), "what both decode is the same");
  }
}

}  // namespace
}  // namespace cairn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cairn::fuzz::Compare(cairn::fuzz::AsBytes(data, size));
  return 0;
}
