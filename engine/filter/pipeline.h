// The filter pipeline of a chunk: up to six stages over one block.
#ifndef CAIRN_ENGINE_FILTER_PIPELINE_H_
#define CAIRN_ENGINE_FILTER_PIPELINE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "absl/status/status.h"

#include "cairn/registry.h"
#include "cairn/types.h"
#include "engine/filter/block_part.h"

namespace cairn::filter {

struct PipelineParams {
  std::array<FilterStage, kMaxFilters> slots{};  // slot 0 is applied first when compressing
  int32_t typesize = 1;                          // as the chunk header says: 1..255
  // typesize of the frame around it, for BYTEDELTA with meta 0; 0: same
  int32_t frame_typesize = 0;
  // Blocks whose number of elements is not a multiple of 8 were not bitshuffled at all. This is the
  // rule of C-Blosc 1.x and of Blosc2 before 2.0.0.beta.5.
  bool whole_block_bitshuffle = false;
  // Extents of a block of an n-dimensional array, for NDCELL and NDMEAN. Empty if they are not
  // known. The caller keeps them.
  std::span<const int32_t> blockshape;
  const Registry* registry = nullptr;
};

// Thread-safe once it is set up. Every stage maps a block to a block of the same size.
class Pipeline {
 public:
  // Leaves blocks as they are, until SetUp.
  Pipeline() = default;
  // Sets the pipeline up, once. Errors: kUnimplemented, naming the id, for a filter that neither
  // this build nor the registry has; kInvalidArgument for a parameter or typesize that a filter
  // does not take.
  absl::Status SetUp(const PipelineParams& params);

  // Returns the number of stages that change a block. If there are none, callers skip the pipeline.
  int active() const { return static_cast<int>(active_); }
  // Returns true if blocks are coded against block 0 of their chunk (DELTA).
  bool uses_reference() const { return uses_reference_; }
  // Returns true if Forward also takes a part of a block, without the others, to try how well it
  // compresses.
  bool takes_samples() const { return !uses_reference_ && !has_cells_; }

  // Filters src into dst and changes nothing else. `scratch` is needed if there is more than one
  // stage. All three have the same size and do not overlap. `reference` is the plain block 0, or
  // empty if src is that block.
  absl::Status Forward(Bytes src, Bytes reference, MutableBytes dst, MutableBytes scratch) const;

  // Undoes Forward. src is used as scratch space. `reference` is the decoded block 0, or empty if
  // this is that block.
  absl::Status Backward(MutableBytes src, Bytes reference, MutableBytes dst,
                        MutableBytes scratch) const;

  // Returns the bytes of an element if blocks are plain SHUFFLE, which puts each of them in a plane
  // of its own. Otherwise returns 0.
  size_t PlanesOfShuffle() const;

  // Returns the part of a block that bytes [begin, begin + size) are made of, or nothing if that is
  // the whole block.
  std::optional<BlockPart> PartOf(size_t block, size_t begin, size_t size) const;
  // Undoes the filters for a part of a block alone. `small` holds its pieces, and scratch is as
  // large.
  void BackwardPart(const BlockPart& part, Bytes small, MutableBytes scratch,
                    MutableBytes dst) const;

 private:
  absl::Status RunStage(FilterStage stage, bool forward, Bytes src, Bytes reference,
                        MutableBytes dst) const;
  // Returns the only stage that Backward has something to do for, or null if there are several.
  const FilterStage* SoleStage() const;
  std::span<const FilterStage> stages() const { return {params_.slots.data(), active_}; }
  size_t typesize() const { return static_cast<size_t>(params_.typesize); }
  size_t frame_typesize() const { return static_cast<size_t>(params_.frame_typesize); }
  // Returns null for a filter of this build.
  const FilterPlugin* PluginOf(FilterStage stage) const {
    const Registry* const registry = params_.registry;
    return registry == nullptr ? nullptr : registry->filter(static_cast<uint8_t>(stage.filter));
  }

  bool CopiesVerbatim(size_t block) const;
  size_t ByteDeltaChannels(FilterStage stage) const;

  PipelineParams params_;  // only `active_` of the slots are used
  size_t active_ = 0;
  size_t undoable_ = 0;  // stages that Backward has something to do for
  bool uses_reference_ = false;
  bool has_cells_ = false;  // a stage needs the blockshape
};

}  // namespace cairn::filter

#endif  // CAIRN_ENGINE_FILTER_PIPELINE_H_
