#include "engine/filter/pipeline.h"

#include <algorithm>
#include <cassert>
#include <span>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/filter/bitshuffle.h"
#include "engine/filter/bytedelta.h"
#include "engine/filter/delta.h"
#include "engine/filter/ndcell.h"
#include "engine/filter/shuffle.h"
#include "engine/filter/truncate.h"

namespace cairn::filter {

namespace {

int IdOf(const FilterStage& spec) { return static_cast<int>(spec.filter); }

bool IsLossyOnly(Filter filter) {
  return filter == Filter::kTruncPrec || filter == Filter::kIntTrunc;
}

size_t ShuffleWidth(const FilterStage& spec, const PipelineParams& params) {
  return static_cast<size_t>(spec.meta != 0 ? spec.meta : params.typesize);
}

size_t FrameTypesize(const PipelineParams& params) {
  return static_cast<size_t>(params.frame_typesize != 0 ? params.frame_typesize : params.typesize);
}

size_t ByteDeltaChannels(const FilterStage& spec, const PipelineParams& params) {
  return spec.meta != 0 ? spec.meta : FrameTypesize(params);
}

bool CopiesBlockVerbatim(const PipelineParams& params, size_t size) {
  return params.whole_block_bitshuffle && size / static_cast<size_t>(params.typesize) % 8 != 0;
}

// Whether the stage changes no block at all. kInvalidArgument or kUnimplemented as for Make.
absl::StatusOr<bool> IsIdentity(const FilterStage& spec, const PipelineParams& params) {
  switch (spec.filter) {
    case Filter::kNone:
      return true;
    case Filter::kShuffle:
      return ShuffleWidth(spec, params) == 1;
    case Filter::kTruncPrec:
    case Filter::kIntTrunc: {
      CAIRN_ASSIGN_OR_RETURN(const int bits, BitsToClear(spec, params.typesize));
      return bits == 0;
    }
    case Filter::kBitShuffle:
    case Filter::kDelta:
    case Filter::kNdCell:
    case Filter::kNdMean:
    case Filter::kByteDeltaBuggy:
    case Filter::kByteDelta:
      return false;
  }
  return Unimplemented("filter id %d is not in this build", IdOf(spec));
}

}  // namespace

absl::StatusOr<Pipeline> Pipeline::Make(const PipelineParams& params) {
  if (params.typesize < 1 || params.typesize > 255) {
    return InvalidArgument("filters: typesize %d: expected 1 to 255", params.typesize);
  }
  if (params.frame_typesize < 0) {
    return InvalidArgument("filters: typesize %d of the frame: expected 0 or more",
                           params.frame_typesize);
  }
  Pipeline pipeline(params);
  for (const FilterStage& spec : params.slots) {
    if (spec.filter == Filter::kNone && params.registry == nullptr) continue;
    Stage stage{.spec = spec};
    if (params.registry != nullptr) {
      stage.plugin = params.registry->filter(static_cast<uint8_t>(spec.filter));
    }
    if (stage.plugin == nullptr) {
      CAIRN_ASSIGN_OR_RETURN(const bool identity, IsIdentity(spec, params));
      if (identity) continue;
    }
    pipeline.uses_reference_ |= spec.filter == Filter::kDelta;
    pipeline.undoable_ += IsLossyOnly(spec.filter) ? 0 : 1;
    pipeline.stages_[pipeline.active_++] = stage;
  }
  return pipeline;
}

absl::Status Pipeline::Forward(Bytes src, Bytes reference, MutableBytes dst,
                               MutableBytes scratch) const {
  assert(dst.size() == src.size());
  if (active_ == 0) CopyBytes(src, dst);
  // The last stage writes dst, the one before it scratch, and so on.
  size_t left = active_;
  for (const Stage& stage : stages()) {
    const MutableBytes to = --left % 2 == 0 ? dst : scratch;
    assert(to.size() == src.size());
    CAIRN_RETURN_IF_ERROR(ForwardStage(stage, src, reference, to));
    src = to;
  }
  return absl::OkStatus();
}

absl::Status Pipeline::Backward(MutableBytes src, Bytes reference, MutableBytes dst,
                                MutableBytes scratch) const {
  assert(dst.size() == src.size());
  if (undoable_ == 0) CopyBytes(src, dst);
  size_t left = undoable_;
  for (size_t i = active_; i-- > 0;) {
    const Stage& stage = stages_[i];
    if (IsLossyOnly(stage.spec.filter)) continue;
    const MutableBytes to = --left % 2 == 0 ? dst : scratch;
    assert(to.size() == src.size());
    CAIRN_RETURN_IF_ERROR(BackwardStage(stage, src, reference, to));
    src = to;
  }
  return absl::OkStatus();
}

const Pipeline::Stage* Pipeline::SoleStage() const {
  if (undoable_ != 1) return nullptr;
  return &*std::ranges::find_if(stages(),
                                [](const Stage& stage) { return !IsLossyOnly(stage.spec.filter); });
}

std::optional<BlockPart> Pipeline::PartOf(size_t block, size_t begin, size_t size) const {
  if (undoable_ == 0) return PartOfPlain(block, begin, size);
  const Stage* const stage = SoleStage();
  if (stage == nullptr || stage->plugin != nullptr) return std::nullopt;
  size_t width = 0;
  size_t items = 1;  // that share a byte of a plane
  if (stage->spec.filter == Filter::kShuffle) {
    width = ShuffleWidth(stage->spec, params_);
  } else if (stage->spec.filter == Filter::kBitShuffle && !CopiesBlockVerbatim(params_, block)) {
    width = static_cast<size_t>(params_.typesize);
    items = 8;
  } else {
    return std::nullopt;
  }
  BlockPart part{.planes = width * items, .stride = block / (width * items)};
  const size_t group = part.planes;  // bytes that a byte of every plane makes
  // What fills no group is not filtered, and lies behind.
  if (begin + size > part.stride * group) return std::nullopt;
  part.begin = begin / group;
  part.piece = CeilDiv(begin + size, group) - part.begin;
  part.skip = begin % group;
  return part;
}

void Pipeline::BackwardPart(const BlockPart& part, Bytes small, MutableBytes scratch,
                            MutableBytes dst) const {
  const Stage* const stage = SoleStage();
  if (stage == nullptr) return CopyBytes(small, dst);
  const MutableBytes plain = dst.size() == small.size() ? dst : scratch;
  if (stage->spec.filter == Filter::kShuffle) {
    Unshuffle(ShuffleWidth(stage->spec, params_), small, plain);
  } else {
    BitUnshuffle(static_cast<size_t>(params_.typesize), small, plain);
  }
  if (plain.data() != dst.data()) CopyBytes(plain.subspan(part.skip, dst.size()), dst);
}

absl::Status Pipeline::ForwardStage(const Stage& stage, Bytes src, Bytes reference,
                                    MutableBytes dst) const {
  const FilterStage& spec = stage.spec;
  const size_t typesize = static_cast<size_t>(params_.typesize);
  if (stage.plugin != nullptr) {
    return stage.plugin->Forward(src, dst, {.typesize = params_.typesize, .meta = spec.meta});
  }
  switch (spec.filter) {
    case Filter::kShuffle:
      Shuffle(ShuffleWidth(spec, params_), src, dst);
      return absl::OkStatus();
    case Filter::kBitShuffle:
      if (CopiesBlockVerbatim(params_, src.size())) {
        CopyBytes(src, dst);
      } else {
        BitShuffle(typesize, src, dst);
      }
      return absl::OkStatus();
    case Filter::kDelta:
      DeltaForward(typesize, src, reference, dst);
      return absl::OkStatus();
    case Filter::kTruncPrec:
    case Filter::kIntTrunc: {
      CAIRN_ASSIGN_OR_RETURN(const int bits, BitsToClear(spec, params_.typesize));
      ClearLowBits(typesize, bits, src, dst);
      return absl::OkStatus();
    }
    case Filter::kByteDelta:
      ByteDeltaForward(ByteDeltaChannels(spec, params_), src, dst);
      return absl::OkStatus();
    default:
      return Unimplemented("filter id %d can be undone but not applied", IdOf(spec));
  }
}

absl::Status Pipeline::BackwardStage(const Stage& stage, Bytes src, Bytes reference,
                                     MutableBytes dst) const {
  const FilterStage& spec = stage.spec;
  const size_t typesize = static_cast<size_t>(params_.typesize);
  if (stage.plugin != nullptr) {
    return stage.plugin->Backward(src, dst, {.typesize = params_.typesize, .meta = spec.meta});
  }
  switch (spec.filter) {
    case Filter::kShuffle:
      Unshuffle(ShuffleWidth(spec, params_), src, dst);
      return absl::OkStatus();
    case Filter::kBitShuffle:
      if (CopiesBlockVerbatim(params_, src.size())) {
        CopyBytes(src, dst);
      } else {
        BitUnshuffle(typesize, src, dst);
      }
      return absl::OkStatus();
    case Filter::kDelta:
      DeltaBackward(typesize, src, reference, dst);
      return absl::OkStatus();
    case Filter::kByteDelta:
      ByteDeltaBackward(ByteDeltaChannels(spec, params_), src, dst);
      return absl::OkStatus();
    case Filter::kByteDeltaBuggy:
      ByteDeltaBuggyBackward(ByteDeltaChannels(spec, params_), src, dst);
      return absl::OkStatus();
    default:  // NDCELL and NDMEAN; Make lets no other pass
      if (params_.blockshape.empty()) {
        return Unimplemented("filter id %d outside of an n-dimensional array", IdOf(spec));
      }
      return CellsBackward(spec, params_.blockshape, FrameTypesize(params_), src, dst);
  }
}

}  // namespace cairn::filter
