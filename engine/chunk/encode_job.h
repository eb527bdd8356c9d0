// Codes the blocks of one chunk.
#ifndef CAIRN_ENGINE_CHUNK_ENCODE_JOB_H_
#define CAIRN_ENGINE_CHUNK_ENCODE_JOB_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/options.h"
#include "engine/chunk/header.h"
#include "engine/chunk/workspace.h"
#include "engine/filter/pipeline.h"

namespace cairn::chunk {

// What an encoder has for all of its chunks. Outlives the job.
struct EncodeTools {
  const CompressionOptions& options;
  const filter::Pipeline& pipeline;
  WorkspacePool& pool;
};

// One chunk with blocks on its way.
class EncodeJob {
 public:
  EncodeJob(const EncodeTools& tools, const Header& header, Bytes src,
            std::span<const Bytes> vlblocks)
      : tools_(tools), header_(header), src_(src), vlblocks_(vlblocks) {}

  // Lays out the chunk in dst; returns its size, or 0 when dst is too small.
  absl::StatusOr<size_t> Run(MutableBytes dst);

 private:
  class InOrder;
  class InSlots;

  static constexpr size_t kRun = 8;  // blocks

  size_t nblocks() const { return static_cast<size_t>(header_.nblocks()); }
  Bytes Block(size_t i) const;
  size_t StreamsOf(Bytes block) const;
  // The most that a coded block may take.
  size_t CapacityFor(Bytes block) const { return block.size() + 4 * StreamsOf(block); }

  absl::Status TrainDictionary(Workspace& workspace);
  absl::Status Prepare(Workspace& workspace) const;
  // The block after the filters: in the workspace, or the block itself where there are none.
  absl::StatusOr<Bytes> Filtered(size_t i, Workspace& workspace) const;
  // What is known of a block before it is coded.
  struct Probed {
    bool incompressible = false;
    Bytes filtered;  // as from Filtered, or empty when that was not needed
  };
  // Finds incompressible blocks. The first block of each run is probed in full; where it is
  // incompressible, a quick sample of the others is enough. Depends on nothing but the bytes.
  absl::StatusOr<Probed> ProbeBlock(size_t i, Workspace& workspace);
  absl::StatusOr<Probed> ProbeFully(size_t i, Workspace& workspace) const;
  absl::StatusOr<bool> QuickSampleIsIncompressible(size_t i, Workspace& workspace) const;
  // Whether the first block of the run that i is in was incompressible.
  absl::StatusOr<bool> FollowsIncompressible(size_t i, Workspace& workspace);
  static bool Leads(size_t i) { return i % kRun == 0; }
  // Whether streams may be taken for incompressible at all.
  bool MayBeIncompressible() const;
  // Stretches of a stream that may differ from each other.
  size_t PartsOfStream() const;
  bool AllStreamsAreIncompressible(Bytes filtered, size_t nstreams, Workspace& workspace) const;
  // The same of a sample of a block, so that not all of it has to be filtered. `parts`: streams, or
  // stretches of one, that are probed each on its own.
  absl::StatusOr<bool> SampleIsIncompressible(const SampleWindows& windows, size_t parts,
                                              Workspace& workspace) const;
  // These write the block and return its size, or 0 when dst is too small.
  absl::StatusOr<size_t> StoreBlock(size_t i, MutableBytes dst, Workspace& workspace) const;
  absl::StatusOr<size_t> EncodeBlock(size_t i, Bytes filtered, MutableBytes dst,
                                     Workspace& workspace) const;
  absl::StatusOr<size_t> EncodeStream(Bytes stream, MutableBytes dst, Workspace& workspace) const;
  absl::StatusOr<size_t> CompressOrCopy(Bytes stream, MutableBytes dst, Workspace& workspace) const;
  absl::StatusOr<size_t> RunInSlots(MutableBytes dst, size_t begin);

  const EncodeTools tools_;
  Header header_;
  Bytes src_;
  std::span<const Bytes> vlblocks_;
  std::vector<std::byte> dict_;
  // What is known of the first block of each run, from any thread.
  enum class Verdict : uint8_t { kUnknown, kCompressible, kIncompressible };
  std::vector<std::atomic<Verdict>> leaders_;  // none where there is one block
};

}  // namespace cairn::chunk

#endif  // CAIRN_ENGINE_CHUNK_ENCODE_JOB_H_
