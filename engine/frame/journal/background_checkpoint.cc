#include "engine/frame/journal/background_checkpoint.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "engine/base/endian.h"
#include "engine/base/status.h"
#include "engine/chunk/special.h"
#include "engine/frame/open/state_loader.h"
#include "engine/frame/space/disk_reserve.h"

namespace cairn::frame {

namespace {

// Bytes between two bytes that are not zero. A search for commits after damage stops at more zeros
// than a writer reserves ahead, and must get past the region.
constexpr int64_t kMilestones = int64_t{32} << 20;

// Extents of the lists of space that are added with one commit.
constexpr int64_t kListPiece = 2048;

// Returns how the seal names the journal, which continues after the region at `begin`.
format::InheritedJournal Inherit(const JournalPosition& journal, int64_t begin, uint64_t since) {
  return {.generation = journal.generation,
          .begin = begin,
          .base = journal.base,
          .last = journal.last,
          .since = since};
}

// Returns the most bytes that a checkpoint of the committed state takes.
int64_t MostBytes(const State& state, const FrameSpace& space) {
  return CheckpointSteps::MostBytes(state,
                                    space.MostListed(state.generation(), CommittedEnd(state)));
}

// Returns `now` with each layer that is as it was `then` taken from the checkpoint that was loaded.
// The bytes where it lay before may be used again.
std::shared_ptr<const Metadata> MetadataIn(const Metadata& loaded, const Metadata& then,
                                           const Metadata& now) {
  std::unordered_map<const std::byte*, const VlMetalayer*> stored;
  const size_t count = std::min(loaded.vlmetalayers.size(), then.vlmetalayers.size());
  for (size_t i = 0; i < count; ++i) {
    const VlMetalayer& layer = then.vlmetalayers[i];
    if (layer.name != loaded.vlmetalayers[i].name) continue;
    stored.emplace(layer.chunk.bytes().data(), &loaded.vlmetalayers[i]);
  }
  auto metadata = std::make_shared<Metadata>(now);
  for (VlMetalayer& layer : metadata->vlmetalayers) {
    const auto found = stored.find(layer.chunk.bytes().data());
    if (found != stored.end()) layer = *found->second;
  }
  return metadata;
}

}  // namespace

absl::StatusOr<std::unique_ptr<BackgroundCheckpoint>> BackgroundCheckpoint::Begin(
    CommittedFrame& frame, FrameSpace& space) {
  const int64_t begin = CommittedEnd(*frame.state);
  const int64_t size = MostBytes(*frame.state, space);
  if (size > kMaxChunkBytes) return ResourceExhausted("checkpoint: %d bytes", size);
  const Extent region = {begin, begin + chunk::kHeaderSize + size};
  std::unique_ptr<BackgroundCheckpoint> checkpoint(
      new BackgroundCheckpoint(frame, space, region, std::nullopt));
  CAIRN_RETURN_IF_ERROR(checkpoint->Reserve());
  return checkpoint;
}

int64_t BackgroundCheckpoint::LeastRoom(const State& state, const FrameSpace& space) {
  const int64_t size = MostBytes(state, space);
  return size + size / 2;  // more than the commits write during the work
}

absl::StatusOr<std::unique_ptr<BackgroundCheckpoint>> BackgroundCheckpoint::BeginShrinking(
    CommittedFrame& frame, FrameSpace& space, const Extent& room) {
  const int64_t size = MostBytes(*frame.state, space);
  if (size > room.size()) return ResourceExhausted("checkpoint: %d bytes", size);
  const int64_t end = room.begin + size;
  // The room may be a hole. The first commits of the new journal need a part of it, too.
  const int64_t needed = size + RoomForNext(StagedState(*frame.state), *frame.state);
  const absl::Status reserved = frame.file->Allocate(room.begin, std::min(needed, room.size()));
  if (absl::IsResourceExhausted(reserved)) return reserved;
  OwnJournal journal(frame, {end, room.end});
  const absl::Status begun = journal.Begin();
  if (!begun.ok()) return begun;
  return std::unique_ptr<BackgroundCheckpoint>(
      new BackgroundCheckpoint(frame, space, {room.begin, end}, std::move(journal)));
}

// Leaves room for the header of the chunk that hides the checkpoint from readers of the journal.
BackgroundCheckpoint::BackgroundCheckpoint(CommittedFrame& frame, FrameSpace& space,
                                           const Extent& region, std::optional<OwnJournal> journal)
    : frame_(frame),
      space_(space),
      state_(frame.state),
      region_(region),
      journal_(std::move(journal)),
      index_begin_(is_shrinking() ? region.begin : region.begin + chunk::kHeaderSize),
      use_thread_(frame.core->env()->checkpoints.use_thread),
      plan_(frame.PlanCheckpoint(index_begin_, false)),
      most_free_(space.free().count()),
      most_born_(space.CountBorn()),
      chunks_(ChunkIndex::OfBase(state_->chunks.size())) {
  const JournalPosition& before = *state_->journal;
  // The checkpoint has the generation of the commit whose state it holds.
  plan_.seal.generation = plan_.seal.oldest_generation = before.generation;
  plan_.seal.journal = is_shrinking() ? journal_->Start(space.dying().journal_since())
                                      : Inherit(before, region.end, space.dying().journal_since());
  if (is_shrinking()) {
    plan_.seal.previous_end = 0;
    space_.BeginNext(before.generation, CommittedEnd(*state_), index_begin_);
  } else {
    space_.BeginNext(before.generation, index_begin_);
  }
}

BackgroundCheckpoint::~BackgroundCheckpoint() {
  stop_ = true;
  if (task_.is_running()) task_.Wait().IgnoreError();
  if (!is_taken_over_) space_.CancelNext();
}

// Writes the header of the chunk last, because the journal ends here until it is there.
absl::Status BackgroundCheckpoint::Reserve() {
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

absl::StatusOr<bool> BackgroundCheckpoint::Mirror(const Stager& stager,
                                                  const ContiguousSink& sink) {
  // A shrinking checkpoint ends the file, so all chunks must lie before it.
  const auto is_below = [this](const Extent& chunk) { return chunk.end <= region_.begin; };
  if (is_shrinking() && !std::ranges::all_of(sink.placed(), is_below)) return false;
  for (const format::ChunkEdit& edit : stager.staged().chunk_edits.Decode()) {
    // A reorder gives only the new order, and the entries are not loaded yet.
    if (std::holds_alternative<format::ReorderEdit>(edit)) return false;
    if (!ApplyEdit(edit, chunks_).ok()) return false;
  }
  if (!is_shrinking()) return true;
  return journal_->Add(stager, sink.reused());
}

// Space that commits take during the listing may be listed as free, and the births of their chunks
// may be missing. Readers learn both from the journal that the checkpoint inherits.
void BackgroundCheckpoint::ListSome() {
  std::vector<Extent>& free = plan_.seal.space.free;
  const int64_t most = std::min(kListPiece, most_free_ - std::ssize(free));
  const int64_t begin = free.empty() ? 0 : free.back().end;
  if (space_.free().pool().ListFrom(begin, most, free) && std::ssize(free) < most_free_) return;
  std::vector<format::BornExtent>& born = plan_.seal.space.born;
  const int64_t most_born = std::min(kListPiece, most_born_ - std::ssize(born));
  const int64_t born_begin = born.empty() ? 0 : born.back().bytes.end;
  if (space_.ListBorn(born_begin, most_born, born) && std::ssize(born) < most_born_) return;
  phase_ = Phase::kWriting;
  if (use_thread_) task_.Start([this] { return WriteSome(INT64_MAX); });
}

void BackgroundCheckpoint::Plan() {
  plan_.seal.space.dead = space_.NextDead();
  dead_ = DeadSpace(plan_.seal.space.dead, plan_.seal.generation);
  steps_.emplace(frame_.file, *state_, std::move(plan_));
}

absl::Status BackgroundCheckpoint::WriteSome(int64_t steps) {
  if (!steps_.has_value()) Plan();
  for (; steps > 0 && !steps_->done() && !stop_; --steps) CAIRN_RETURN_IF_ERROR(steps_->Step());
  return absl::OkStatus();
}

void BackgroundCheckpoint::StartSync() {
  task_.Start([sync = frame_.sync, point = frame_.committed()] { return sync->Sync(point); },
              use_thread_);
}

absl::Status BackgroundCheckpoint::SyncAndLoad(const CommitPoint& point) {
  CAIRN_RETURN_IF_ERROR(frame_.sync->Sync(point));
  CAIRN_ASSIGN_OR_RETURN(loaded_,
                         LoadCheckpoint(frame_.source, steps_->header(), frame_.core->env()));
  if (!loaded_->checkpoint->seal_holds) return DataLoss("checkpoint: its seal does not hold");
  return absl::OkStatus();
}

absl::Status BackgroundCheckpoint::Advance(int64_t steps) {
  if (phase_ == Phase::kListing) ListSome();
  if (phase_ == Phase::kListing || phase_ == Phase::kDurable) return absl::OkStatus();
  if (phase_ == Phase::kWriting && !use_thread_) {
    CAIRN_RETURN_IF_ERROR(WriteSome(steps));
    return steps_->done() ? AfterTask() : absl::OkStatus();
  }
  const std::optional<absl::Status> ended = task_.Poll();
  if (!ended.has_value()) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(*ended);
  return AfterTask();
}

absl::Status BackgroundCheckpoint::AfterTask() {
  switch (phase_) {
    case Phase::kWriting:
      StartSync();
      phase_ = Phase::kSyncing;
      summaries_.edits = 0;  // the slots for summaries exist from here on
      return absl::OkStatus();
    case Phase::kSyncing:
      if (!is_shrinking()) CAIRN_RETURN_IF_ERROR(WriteHeader());
      StartSyncAndLoad();
      phase_ = Phase::kConfirming;
      return absl::OkStatus();
    default:
      if (is_shrinking()) CAIRN_RETURN_IF_ERROR(Flip());
      phase_ = Phase::kDurable;
      return absl::OkStatus();
  }
}

void BackgroundCheckpoint::StartSyncAndLoad() {
  task_.Start([this, point = frame_.committed()] { return SyncAndLoad(point); }, use_thread_);
}

absl::Status BackgroundCheckpoint::WriteHeader() {
  CAIRN_RETURN_IF_ERROR(frame_.CheckNotReplaced());
  const auto changed = static_cast<size_t>(ChangedHeaderBytes(StagedState(*state_)));
  return frame_.file->WriteAt(0, Bytes(steps_->header()).first(changed));
}

// Moves the frame to a shrinking checkpoint, durably: the next commit goes to its journal alone.
absl::Status BackgroundCheckpoint::Flip() {
  CAIRN_RETURN_IF_ERROR(WriteHeader());
  return frame_.sync->Sync(frame_.committed());
}

absl::Status BackgroundCheckpoint::TakeOver() {
  before_ = frame_.state;
  chunks_.SetBase(loaded_->chunks);
  const auto state = std::make_shared<State>(StateSince());
  state->checkpoint = loaded_->checkpoint;
  state->metadata = MetadataIn(*loaded_->metadata, *state_->metadata, *before_->metadata);
  if (is_shrinking()) state->journal = journal_->position();
  CAIRN_ASSIGN_OR_RETURN(FrameView region,
                         frame_.source.ViewMore(loaded_->region, CommittedEnd(*state)));
  SetRegion(std::move(region), *state);
  frame_.InstallState(state);
  frame_.NoteCheckpoint();
  if (is_shrinking()) {
    space_.EndNextBelow(index_begin_, CommittedEnd(*before_), std::move(dead_));
  } else {
    space_.EndNext(index_begin_, std::move(dead_));
  }
  is_taken_over_ = true;
  return absl::OkStatus();
}

State BackgroundCheckpoint::StateSince() const {
  State state = *frame_.state;
  state.chunks = chunks_;
  JournalPosition& journal = *state.journal;
  journal.begin = region_.end;
  journal.edits = edits_since();
  journal.reused -= state_->journal->reused;
  return state;
}

int64_t BackgroundCheckpoint::edits_since() const {
  return frame_.state->journal->edits - state_->journal->edits;
}

std::optional<AnchorPlace> BackgroundCheckpoint::anchor() const {
  if (phase_ < Phase::kSyncing) return std::nullopt;
  const std::byte* const word = steps_->header().data() + format::kFrameSizeOffset;
  return AnchorAfter(static_cast<int64_t>(LoadBe<uint64_t>(word)), true, state_->journal->base);
}

void BackgroundCheckpoint::SetSummary(std::shared_ptr<const SummarizedIndex> summary) {
  chunks_ = ChunkIndex(chunks_, std::move(summary));
}

}  // namespace cairn::frame
