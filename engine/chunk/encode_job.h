// Codes the blocks of one chunk.
#ifndef CAIRN_ENGINE_CHUNK_ENCODE_JOB_H_
#define CAIRN_ENGINE_CHUNK_ENCODE_JOB_H_

#include <span>

#include "absl/status/statusor.h"

#include "cairn/options.h"
#include "engine/chunk/header.h"
#include "engine/chunk/workspace.h"
#include "engine/filter/pipeline.h"

namespace cairn::chunk {

// The tools that an encoder uses for all of its chunks.
struct EncodeTools {
  const CompressionOptions& options;
  const filter::Pipeline& pipeline;
  WorkspacePool& pool;
};

// Lays out a chunk of the blocks of `src`, or of `vlblocks` if the header says so. Returns its
// size, or 0 if dst is too small or all blocks are incompressible.
absl::StatusOr<size_t> EncodeBlocks(const EncodeTools& tools, const Header& header, Bytes src,
                                    std::span<const Bytes> vlblocks, MutableBytes dst);

}  // namespace cairn::chunk

#endif  // CAIRN_ENGINE_CHUNK_ENCODE_JOB_H_
