#include "engine/filter/pipeline.h"

#include <algorithm>

#include "engine/base/bytes.h"
#include "engine/base/check.h"
#include "engine/base/checked.h"
#include "engine/base/names.h"
#include "engine/base/status.h"
#include "engine/filter/filters.h"

namespace cairn::filter {

namespace {

int IdOf(const FilterStage& spec) { return static_cast<int>(spec.filter); }

// Returns true for the lossy filters that are never undone.
bool IsLossyOnly(Filter filter) {
  return filter == Filter::kTruncPrec || filter == Filter::kIntTrunc;
}

size_t ShuffleWidth(const FilterStage& spec, size_t typesize) {
  return spec.meta != 0 ? spec.meta : typesize;
}

// Returns true if the stage changes no block at all. Errors are those of SetUp.
absl::StatusOr<bool> IsIdentity(const FilterStage& spec, int32_t typesize) {
  switch (spec.filter) {
    case Filter::kNone:
      return true;
    case Filter::kShuffle:
      return ShuffleWidth(spec, static_cast<size_t>(typesize)) == 1;
    case Filter::kTruncPrec:
    case Filter::kIntTrunc: {
      CAIRN_ASSIGN_OR_RETURN(const int bits, BitsToClear(spec, typesize));
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
  return Unimplemented("filter id %d%s is not in this build", IdOf(spec), ShownName(spec.filter));
}

}  // namespace

absl::Status Pipeline::SetUp(const PipelineParams& params) {
  if (params.typesize < 1 || params.typesize > 255) {
    return InvalidArgument("filters: typesize %d: expected 1 to 255", params.typesize);
  }
  if (params.frame_typesize < 0) {
    return InvalidArgument("filters: typesize %d of the frame: expected 0 or more",
                           params.frame_typesize);
  }
  params_ = params;
  if (params_.frame_typesize == 0) params_.frame_typesize = params_.typesize;
  for (const FilterStage stage : params.slots) {
    if (stage.filter == Filter::kNone) continue;
    if (PluginOf(stage) == nullptr) {
      has_cells_ |= NeedsBlockshape(stage.filter);
      CAIRN_ASSIGN_OR_RETURN(const bool identity, IsIdentity(stage, params.typesize));
      if (identity) continue;
    }
    uses_reference_ |= stage.filter == Filter::kDelta;
    undoable_ += IsLossyOnly(stage.filter) ? 0 : 1;
    params_.slots[active_++] = stage;
  }
  return absl::OkStatus();
}

bool Pipeline::CopiesVerbatim(size_t block) const {
  return params_.whole_block_bitshuffle && block / typesize() % 8 != 0;
}

size_t Pipeline::ByteDeltaChannels(FilterStage stage) const {
  return stage.meta != 0 ? stage.meta : frame_typesize();
}

absl::Status Pipeline::Forward(Bytes src, Bytes reference, MutableBytes dst,
                               MutableBytes scratch) const {
  CAIRN_DCHECK(dst.size() == src.size());
  if (active_ == 0) CopyBytes(src, dst);
  // The last stage writes dst, the one before it scratch, and so on.
  size_t left = active_;
  for (const FilterStage stage : stages()) {
    const MutableBytes to = --left % 2 == 0 ? dst : scratch;
    CAIRN_DCHECK(to.size() == src.size());
    CAIRN_RETURN_IF_ERROR(RunStage(stage, true, src, reference, to));
    src = to;
  }
  return absl::OkStatus();
}

absl::Status Pipeline::Backward(MutableBytes src, Bytes reference, MutableBytes dst,
                                MutableBytes scratch) const {
  CAIRN_DCHECK(dst.size() == src.size());
  if (undoable_ == 0) CopyBytes(src, dst);
  size_t left = undoable_;
  for (size_t i = active_; i-- > 0;) {
    const FilterStage stage = params_.slots[i];
    if (IsLossyOnly(stage.filter)) continue;
    const MutableBytes to = --left % 2 == 0 ? dst : scratch;
    CAIRN_DCHECK(to.size() == src.size());
    CAIRN_RETURN_IF_ERROR(RunStage(stage, false, src, reference, to));
    src = to;
  }
  return absl::OkStatus();
}

const FilterStage* Pipeline::SoleStage() const {
  if (undoable_ != 1) return nullptr;
  return &*std::ranges::find_if(stages(),
                                [](FilterStage stage) { return !IsLossyOnly(stage.filter); });
}

size_t Pipeline::PlanesOfShuffle() const {
  const FilterStage* const stage = SoleStage();
  const bool plain =
      stage != nullptr && stage->filter == Filter::kShuffle && PluginOf(*stage) == nullptr;
  return plain ? ShuffleWidth(*stage, typesize()) : 0;
}

std::optional<BlockPart> Pipeline::PartOf(size_t block, size_t begin, size_t size) const {
  if (undoable_ == 0) return BlockPart{.stride = block, .begin = begin, .piece = size};
  const FilterStage* const stage = SoleStage();
  if (stage == nullptr || PluginOf(*stage) != nullptr) return std::nullopt;
  size_t width = 0;
  size_t items = 1;  // items that share a byte of a plane
  if (stage->filter == Filter::kShuffle) {
    width = ShuffleWidth(*stage, typesize());
  } else if (stage->filter == Filter::kBitShuffle && !CopiesVerbatim(block)) {
    width = typesize();
    items = 8;
  } else {
    return std::nullopt;
  }
  BlockPart part{.planes = width * items, .stride = block / (width * items)};
  const size_t group = part.planes;  // bytes that one byte of every plane makes
  // The bytes that do not fill a group are not filtered, and come last.
  if (begin + size > part.stride * group) return std::nullopt;
  part.begin = begin / group;
  part.piece = CeilDiv(begin + size, group) - part.begin;
  part.skip = begin % group;
  return part;
}

void Pipeline::BackwardPart(const BlockPart& part, Bytes small, MutableBytes scratch,
                            MutableBytes dst) const {
  const FilterStage* const stage = SoleStage();
  if (stage == nullptr) return CopyBytes(small, dst);
  const MutableBytes plain = dst.size() == small.size() ? dst : scratch;
  if (stage->filter == Filter::kShuffle) {
    Unshuffle(ShuffleWidth(*stage, typesize()), small, plain);
  } else {
    BitUnshuffle(typesize(), small, plain);
  }
  if (plain.data() != dst.data()) CopyBytes(plain.subspan(part.skip, dst.size()), dst);
}

absl::Status Pipeline::RunStage(FilterStage stage, bool forward, Bytes src, Bytes reference,
                                MutableBytes dst) const {
  if (const FilterPlugin* const plugin = PluginOf(stage); plugin != nullptr) {
    const PluginCall call{.typesize = params_.typesize, .meta = stage.meta};
    return forward ? plugin->Forward(src, dst, call) : plugin->Backward(src, dst, call);
  }
  switch (stage.filter) {
    case Filter::kShuffle:
      (forward ? Shuffle : Unshuffle)(ShuffleWidth(stage, typesize()), src, dst);
      return absl::OkStatus();
    case Filter::kBitShuffle:
      if (CopiesVerbatim(src.size())) {
        CopyBytes(src, dst);
      } else {
        (forward ? BitShuffle : BitUnshuffle)(typesize(), src, dst);
      }
      return absl::OkStatus();
    case Filter::kDelta:
      (forward ? DeltaForward : DeltaBackward)(typesize(), src, reference, dst);
      return absl::OkStatus();
    case Filter::kByteDelta:
      (forward ? ByteDeltaForward : ByteDeltaBackward)(ByteDeltaChannels(stage), src, dst);
      return absl::OkStatus();
    case Filter::kTruncPrec:
    case Filter::kIntTrunc: {  // never undone
      CAIRN_ASSIGN_OR_RETURN(const int bits, BitsToClear(stage, params_.typesize));
      const bool floats = stage.filter == Filter::kTruncPrec;
      (floats ? ClearLowBitsOfFloats : ClearLowBits)(typesize(), bits, src, dst);
      return absl::OkStatus();
    }
    case Filter::kNdCell:
    case Filter::kNdMean:
      if (params_.blockshape.empty()) {
        return Unimplemented("filter id %d%s outside of an n-dimensional array", IdOf(stage),
                             ShownName(stage.filter));
      }
      return (forward ? CellsForward : CellsBackward)(stage, params_.blockshape, frame_typesize(),
                                                      src, dst);
    default:  // kByteDeltaBuggy
      break;
  }
  if (forward)
    return Unimplemented("filter id %d%s can be undone but not applied", IdOf(stage),
                         ShownName(stage.filter));
  ByteDeltaBuggyBackward(ByteDeltaChannels(stage), src, dst);
  return absl::OkStatus();
}

}  // namespace cairn::filter
