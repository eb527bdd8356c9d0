#include "engine/frame/commit/gradual_checkpoint.h"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>
#include <vector>

#include "engine/base/status.h"
#include "engine/chunk/special.h"
#include "engine/frame/open/state_loader.h"

namespace cairn::frame {

namespace {

// A search for commits after damage does not go past more zeros than a writer reserves ahead.
constexpr int64_t kMilestones = int64_t{32} << 20;

CheckpointPlan PlanAt(const CommittedFrame& frame, const FrameSpace& space, const Extent& region) {
  const JournalPosition& journal = *frame.state->journal;
  CheckpointPlan plan = frame.PlanCheckpoint(region.begin + chunk::kHeaderSize, false);
  // That of the commit whose state it is.
  plan.seal.generation = plan.seal.oldest_generation = journal.generation;
  plan.seal.space = space.List();
  plan.seal.journal = {.generation = journal.generation,
                       .begin = region.end,
                       .base = journal.base,
                       .last = journal.last,
                       .since = space.journal_since()};
  return plan;
}

}  // namespace

absl::StatusOr<std::unique_ptr<GradualCheckpoint>> GradualCheckpoint::Begin(CommittedFrame& frame,
                                                                            FrameSpace space) {
  const int64_t begin = CommittedEnd(*frame.state);
  // Readers of the journal so far need the header of the chunk that hides the rest from them.
  space = space.Next(frame.state->generation(), begin + chunk::kHeaderSize, true);
  space.PlaceIndex(begin + chunk::kHeaderSize);
  const int64_t size = CheckpointSteps::MostBytes(*frame.state, space.List());
  if (size > kMaxChunkBytes) return ResourceExhausted("checkpoint: %d bytes", size);
  const Extent region = {begin, begin + chunk::kHeaderSize + size};
  CheckpointPlan plan = PlanAt(frame, space, region);
  std::unique_ptr<GradualCheckpoint> checkpoint(
      new GradualCheckpoint(frame, std::move(space), region, std::move(plan)));
  CAIRN_RETURN_IF_ERROR(checkpoint->Reserve());
  return checkpoint;
}

GradualCheckpoint::GradualCheckpoint(CommittedFrame& frame, FrameSpace space, const Extent& region,
                                     CheckpointPlan plan)
    : frame_(frame),
      state_(frame.state),
      region_(region),
      space_(std::move(space)),
      steps_(frame.file, *state_, std::move(plan)),
      chunks_(ChunkIndex::OfBase(state_->chunks.size())) {}

// The header of the chunk comes last: without it the journal ends here.
absl::Status GradualCheckpoint::Reserve() {
  File& file = *frame_.file;
  const absl::Status reserved = file.Reserve(region_.end);
  if (absl::IsResourceExhausted(reserved)) return reserved;
  static constexpr std::array<std::byte, 1> kMilestone = {std::byte{1}};
  for (int64_t at = region_.begin + kMilestones; at < region_.end; at += kMilestones) {
    CAIRN_RETURN_IF_ERROR(file.WriteAt(at, kMilestone));
  }
  CAIRN_RETURN_IF_ERROR(file.WriteAt(region_.end - 1, kMilestone));
  const auto nbytes = static_cast<int32_t>(region_.size() - chunk::kHeaderSize);
  return file.WriteAt(region_.begin, chunk::MemcpyedHeader(nbytes));
}

bool GradualCheckpoint::Follow(const StagedState& staged, std::span<const Extent> placed) {
  for (const Extent& chunk : placed) footprint_.placed.push_back({.bytes = chunk});
  const int64_t header_len = state_->header().header_len;
  for (const IndexEntry& entry : staged.removed) {
    const int64_t begin = header_len + entry.value;
    footprint_.removed.push_back({begin, begin + entry.cbytes});
  }
  for (const format::ChunkEdit& edit : staged.chunk_edits.Decode()) {
    // Its new order is all that it says, and entries are not at hand.
    if (std::holds_alternative<format::ReorderEdit>(edit)) return false;
    if (!ApplyEdit(edit, chunks_).ok()) return false;
  }
  return true;
}

void GradualCheckpoint::StartSync() {
  const bool use_thread = frame_.core->env()->checkpoints.use_thread;
  sync_.Start(frame_.sync, frame_.committed(), use_thread);
}

absl::Status GradualCheckpoint::Advance(int64_t steps) {
  for (; steps > 0 && phase_ == Phase::kWriting; --steps) {
    CAIRN_RETURN_IF_ERROR(steps_.Step());
    if (!steps_.done()) continue;
    StartSync();
    phase_ = Phase::kSyncing;
  }
  if (phase_ == Phase::kWriting || phase_ == Phase::kDurable) return absl::OkStatus();
  const std::optional<absl::Status> synced = sync_.Poll();
  if (!synced.has_value()) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(*synced);
  return AfterSync();
}

absl::Status GradualCheckpoint::AfterSync() {
  if (phase_ == Phase::kSyncing) return Flip();
  phase_ = Phase::kDurable;
  return absl::OkStatus();
}

absl::Status GradualCheckpoint::Flip() {
  CAIRN_RETURN_IF_ERROR(frame_.CheckNotReplaced());
  const Bytes header(steps_.header());
  CAIRN_RETURN_IF_ERROR(
      frame_.file->WriteAt(0, header.first(static_cast<size_t>(format::kFixedHeaderSize))));
  StartSync();
  phase_ = Phase::kConfirming;
  return absl::OkStatus();
}

absl::StatusOr<FrameSpace> GradualCheckpoint::TakeOver() {
  CAIRN_ASSIGN_OR_RETURN(const StatePtr loaded,
                         LoadCheckpoint(frame_.source, steps_.header(), frame_.core->env()));
  if (!loaded->checkpoint->seal_holds) return DataLoss("checkpoint: its seal does not hold");
  const State& newest = *frame_.state;
  const auto state = std::make_shared<State>(newest);
  state->checkpoint = loaded->checkpoint;
  chunks_.SetBase(loaded->chunks);
  state->chunks = std::move(chunks_);
  JournalPosition& journal = *state->journal;
  const JournalPosition& before = *state_->journal;
  journal.begin = region_.end;
  journal.edits -= before.edits;
  journal.reused -= before.reused;
  CAIRN_ASSIGN_OR_RETURN(FrameView region,
                         frame_.source.ViewMore(loaded->region, CommittedEnd(newest)));
  SetRegion(std::move(region), *state);
  frame_.Adopt(state);
  frame_.NoteCheckpoint();
  space_.Follow(footprint_);
  return std::move(space_);
}

}  // namespace cairn::frame
