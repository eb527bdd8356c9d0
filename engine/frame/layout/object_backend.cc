#include "engine/frame/layout/object_backend.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/base/random.h"
#include "engine/base/status.h"
#include "engine/format/journal.h"
#include "engine/format/sparse_names.h"
#include "engine/frame/checkpoint/checkpoint_policy.h"
#include "engine/frame/checkpoint/live_copy.h"
#include "engine/frame/layout/object_garbage.h"
#include "engine/frame/replay/commit_step.h"
#include "engine/frame/replay/journal_reader.h"
#include "engine/frame/replay/replay.h"
#include "engine/frame/stage/edit_rebaser.h"
#include "engine/frame/stage/sparse_sink.h"
#include "engine/object/object_names.h"

namespace cairn::frame {

namespace {

// Returns true if knowledge of the time `known` is still good.
bool IsRecent(BootClock::time_point known, BootClock::duration grace) {
  return grace.count() == 0 || BootClock::now() - known < grace / 4;
}

// Edits of a long journal. A reader that opens the frame sends a request for each record. Of the
// writers that find the journal long at the same time, about one in `kOneOf` writes a checkpoint;
// at twice the length every writer does.
constexpr int64_t kLongJournal = 128;
constexpr uint64_t kOneOf = 4;

// Fences of one commit. Each may take twice the time that the store has for a request.
constexpr int kMostFences = 3;

// Positions of journals. They leave room for indexes before, and for any number of records after.
constexpr int64_t kLeastBegin = int64_t{1} << 40;
constexpr int64_t kMostBegin = int64_t{1} << 61;

// Returns true if a commit should be followed by a checkpoint.
bool IsCheckpointDue(const State& state) {
  const CheckpointPolicy& checkpoints = state.env()->checkpoints;
  if (!checkpoints.after_commits) return false;
  const int64_t least = std::min(kLongJournal, checkpoints.least_edits);
  const int64_t most = std::max(least, state.chunks.size() / 8);
  const int64_t edits = state.journal->edits;
  return edits > 2 * most || (edits > most && RandomNumber() % kOneOf == 0);
}

std::string IndexName() { return std::string(format::kIndexFileName); }

// Returns the commits between the two positions, or nothing if one of them is gone.
absl::StatusOr<OtherCommits> ReadCommits(const FrameFile& source, const JournalPosition& begin,
                                         const JournalPosition& end) {
  JournalReader reader(source, begin.end);
  reader.StopAt(end.end);
  std::vector<format::CommitRecord> commits;
  uint64_t last = begin.last;
  for (;;) {
    CAIRN_ASSIGN_OR_RETURN(const std::optional<FoundRecord> found, reader.Next());
    if (!found.has_value()) break;
    if (!format::IsCommit(found->kind)) continue;
    CAIRN_ASSIGN_OR_RETURN(format::CommitRecord commit,
                           format::ParseCommit(found->bytes, found->begin));
    if (commit.links.previous != last) return OtherCommits();
    last = format::StoredChecksum(found->bytes);
    commits.push_back(std::move(commit));
  }
  return last == end.last ? OtherCommits(std::move(commits)) : OtherCommits();
}

}  // namespace

bool IsShared(const State& state) {
  const Checkpoint& checkpoint = *state.checkpoint;
  return checkpoint.seal_holds && checkpoint.seal->journal.has_value();
}

std::string ScratchObjectName() { return absl::StrFormat("probe.%016x", RandomNumber()); }

format::InheritedJournal BeginJournal(uint64_t generation) {
  const auto offset = static_cast<int64_t>(RandomNumber() % static_cast<uint64_t>(kMostBegin));
  return {.generation = generation,
          .begin = kLeastBegin + offset,
          .base = RandomNumber(),
          .last = RandomNumber(),
          .since = generation};
}

absl::StatusOr<std::vector<std::byte>> EncodeIndexObject(const StagedState& staged,
                                                         const CheckpointPlan& plan) {
  if (!HasRoomForSeal(staged)) {
    return FailedPrecondition("a frame in an object store has at most 14 vlmetalayers");
  }
  CAIRN_ASSIGN_OR_RETURN(CheckpointBytes bytes, EncodeCheckpoint(staged, plan));
  std::vector<std::byte> object = std::move(bytes.header);
  object.insert(object.end(), bytes.tail.begin(), bytes.tail.end());
  return object;
}

ObjectBackend::ObjectBackend(CommittedFrame frame, StagerOptions options)
    : CommitBackend(std::move(frame), std::move(options)),
      store_(frame_.location().objects().store),
      grace_(frame_.location().objects().grace),
      read_ahead_(frame_.location().objects().read_ahead),
      writer_id_(RandomNumber()),
      collected_(Clock::now()) {}

absl::Status ObjectBackend::CheckSameFrame() const {
  const bool is_same = IsShared(base()) && base().journal->base == journal_base_;
  if (is_same || !journal_base_.has_value()) return absl::OkStatus();
  return FailedPrecondition("%s was replaced by another frame: open it again", store_->Describe());
}

absl::StatusOr<std::unique_ptr<Stager>> ObjectBackend::Stage() {
  return std::make_unique<Stager>(frame_.state, *sink_, options_);
}

absl::Status ObjectBackend::Restart(bool /*failed*/) {
  sink_->Discard();
  return Follow();
}

absl::StatusOr<bool> ObjectBackend::Resume(const WriterOptions& /*options*/) {
  CAIRN_RETURN_IF_ERROR(Follow());
  return true;
}

// Takes over what others have committed.
absl::Status ObjectBackend::Follow() {
  // Records that every checkpoint in use has taken over are removed after the grace. After that, a
  // new record could be put in their place. The index must have been validated later than that.
  CAIRN_RETURN_IF_ERROR(CheckSameFrame());
  if (!IsRecent(validated_, grace_)) return FollowAnew();
  return FollowRecords();
}

absl::Status ObjectBackend::FollowRecords() {
  const JournalPosition before = *base().journal;
  JournalReader reader(frame_.source, before.end);
  CAIRN_ASSIGN_OR_RETURN(const ReplayResult replayed, ReplayJournal(frame_.source, base(), reader));
  if (replayed.moved) {
    return FailedPrecondition("%s was replaced by another frame: open it again",
                              store_->Describe());
  }
  if (replayed.damage.has_value()) {
    return DataLoss("%s: the record of a commit cannot follow the one before",
                    object::JournalObjectName(replayed.damage->bytes.begin));
  }
  if (replayed.state != nullptr) {
    frame_.InstallState(replayed.state);
    frame_.sync->SetDurable(frame_.committed());
  }
  return absl::OkStatus();
}

absl::Status ObjectBackend::FollowAnew() {
  const Clock::time_point now = Clock::now();
  CAIRN_ASSIGN_OR_RETURN(const ObjectInfo there, store_->Head(IndexName()));
  if (there.etag == index_->etag()) {
    validated_ = now;
    return FollowRecords();
  }
  return Reload();
}

absl::Status CheckGrace(const ObjectDirectoryInfo& objects) {
  const std::chrono::milliseconds least = 4 * objects.store->call_timeout();
  if (objects.grace.count() == 0 || objects.grace >= least) return absl::OkStatus();
  return InvalidArgument("grace: expected 0, or at least 4 times the call timeout, %d ms; got %d s",
                         least.count(), objects.grace.count());
}

absl::Status CheckStagedInTime(const ObjectSink& sink, BootClock::duration grace) {
  if (grace.count() == 0 || !sink.first_staged().has_value()) return absl::OkStatus();
  const auto age = BootClock::now() - *sink.first_staged();
  if (age < grace / 2) return absl::OkStatus();
  const auto seconds = [](BootClock::duration time) {
    return std::chrono::duration_cast<std::chrono::seconds>(time).count();
  };
  return Refuse(absl::AbortedError(absl::StrFormat(
      "staged %d seconds ago, at most %d are allowed: roll back and stage the edits again",
      seconds(age), seconds(grace / 2))));
}

ObjectBackend::Attempt ObjectBackend::MakeAttempt(const Stager& stager) const {
  const JournalPosition& journal = *base().journal;
  Attempt attempt;
  attempt.links = {.base = journal.base,
                   .generation = journal.generation + 1,
                   .previous = journal.last,
                   .durable_end = journal.end};
  // Puts of different writers must differ, so that a writer which lost the answer knows its own.
  attempt.receipt = {.base = journal.base,
                     .generation = attempt.links.generation,
                     .boot = writer_id_,
                     .durable_generation = attempt.links.generation};
  const format::CommitRecordParts commit = stager.MakeCommit(attempt.links);
  format::AppendRecord(commit, journal.end, attempt.bytes);
  attempt.checksum = format::StoredChecksum(attempt.bytes);
  format::AppendReceipt(attempt.receipt, journal.end + std::ssize(attempt.bytes), attempt.bytes);
  return attempt;
}

absl::StatusOr<RecordFate> ObjectBackend::Put(const Attempt& attempt) {
  const JournalPosition& journal = *base().journal;
  CAIRN_ASSIGN_OR_RETURN(const RecordFate fate,
                         PutRecord(*store_, frame_.source, journal.end, attempt.bytes,
                                   EncodeFence(journal, writer_id_)));
  const bool late = grace_.count() > 0 && Clock::now() - validated_ >= grace_;
  if (fate == RecordFate::kTaken || !late) return fate;
  // A record of another writer may have been there, and may have been removed as garbage since.
  return absl::DeadlineExceededError(absl::StrFormat(
      "%s: put too late to know whether it is the next commit", store_->Describe()));
}

absl::Status ObjectBackend::InstallState(Stager& stager, const Attempt& attempt) {
  const StagedState& staged = stager.staged();
  const std::shared_ptr<State> state = stager.MakeState();
  Advance({.links = attempt.links,
           .checksum = attempt.checksum,
           .end = base().journal->end + std::ssize(attempt.bytes),
           .receipt = attempt.receipt,
           .chunk_edits = staged.chunk_edits.count(),
           .layer_edits = std::ssize(staged.layer_edits),
           .reused = sink_->staged_bytes()},
          *state->journal);
  CAIRN_ASSIGN_OR_RETURN(FrameView region,
                         frame_.source.ViewMore(base().region, state->journal->end));
  SetRegion(std::move(region), *state);
  frame_.InstallState(state);
  frame_.sync->SetDurable(frame_.committed());
  stager.SetBase(state);
  sink_->Keep();
  return absl::OkStatus();
}

// Moves the staged edits onto the committed state. After a refused commit, that state may be newer
// than the base of the edits.
absl::Status ObjectBackend::CatchUp(Stager& stager) const {
  CAIRN_RETURN_IF_ERROR(CheckSameFrame());
  if (stager.base() == frame_.state) return absl::OkStatus();
  CAIRN_ASSIGN_OR_RETURN(
      const OtherCommits others,
      ReadCommits(frame_.source, *stager.base()->journal, *frame_.state->journal));
  return EditRebaser(stager).RebaseOnto(frame_.state, others);
}

absl::Status ObjectBackend::PutCommit(Stager& stager) {
  int fences = 0;
  for (int tries = 0; tries < kMostAttempts; ++tries) {
    const absl::Status moved = CatchUp(stager);
    if (!moved.ok()) return Refuse(moved);
    const absl::Status uploaded = sink_->Flush();
    if (!uploaded.ok()) return Refuse(uploaded);
    CAIRN_RETURN_IF_ERROR(CheckStagedInTime(*sink_, grace_));
    if (IsRecent(validated_, grace_)) {
      const Attempt attempt = MakeAttempt(stager);
      const absl::StatusOr<RecordFate> fate = Put(attempt);
      if (absl::IsUnavailable(fate.status())) return Refuse(fate.status());
      CAIRN_RETURN_IF_ERROR(fate.status());
      if (*fate == RecordFate::kMade) return InstallState(stager, attempt);
      fences += *fate == RecordFate::kFenced;
      if (fences == kMostFences) {
        return Refuse(absl::UnavailableError(absl::StrFormat(
            "%s: not committed: %d puts had no known outcome", store_->Describe(), fences)));
      }
      PauseBeforeAttempt(tries);
    }
    const absl::Status followed = Follow();
    if (!followed.ok()) return Refuse(followed);
  }
  return Refuse(absl::UnavailableError(
      absl::StrFormat("other writers were first %d times in a row", kMostAttempts)));
}

absl::Status ObjectBackend::PublishCommit(Stager& stager, Durability /*durability*/) {
  if (!HasRoomForSeal(stager.staged())) {
    return Refuse(FailedPrecondition("a frame in an object store has at most 14 vlmetalayers"));
  }
  CAIRN_RETURN_IF_ERROR(PutCommit(stager));
  if (!IsCheckpointDue(base())) return absl::OkStatus();
  // The commit stands, even if the checkpoint fails.
  absl::Status status = WriteCheckpoint(stager, Follows::kCommits);
  if (!status.ok() && status.ErasePayload(kRefusal)) {
    sink_->Discard();
    return absl::OkStatus();
  }
  return AfterCommit(std::move(status));
}

bool ObjectBackend::IsWorthClosing(const Stager& stager) const {
  const JournalPosition& journal = *base().journal;
  const JournalLoad closed = {
      .written = journal.end - journal.begin + journal.reused + sink_->staged_bytes(),
      .checkpoint = index_->index_size()};
  return frame::IsWorthClosing(stager.staged(), base(), closed);
}

absl::Status ObjectBackend::WriteCheckpoint(Stager& stager, Follows /*follows*/) {
  // Other Blosc2 libraries see no pending items, so the last commit before the checkpoint has none.
  constexpr int kMostRounds = 16;
  for (int round = 0; round < kMostRounds; ++round) {
    const absl::Status finished = stager.Finish();
    if (!finished.ok()) return Refuse(finished);
    if (!stager.staged().edited) break;
    CAIRN_RETURN_IF_ERROR(PutCommit(stager));
  }
  if (!base().partial.empty()) {
    return Refuse(absl::UnavailableError("checkpoint: other writers append without a pause"));
  }
  CAIRN_RETURN_IF_ERROR(PutIndex());
  if (grace_.count() == 0 || Clock::now() - collected_ < grace_ / 4) return absl::OkStatus();
  collected_ = Clock::now();
  CollectGarbage(store_, frame_.location().files, frame_.core->env()).status().IgnoreError();
  return absl::OkStatus();
}

// Makes a checkpoint of the committed state, unless another writer was first.
absl::Status ObjectBackend::PutIndex() {
  const JournalPosition& journal = *base().journal;
  if (journal.empty()) return absl::OkStatus();
  CheckpointPlan plan = frame_.PlanCheckpoint(base().header().header_len, true);
  plan.seal.generation = plan.seal.oldest_generation = journal.generation;
  plan.seal.journal = {.generation = journal.generation,
                       .begin = journal.end,
                       .base = journal.base,
                       .last = journal.last,
                       .since = base().checkpoint->seal->journal->since};
  const StagedState staged(base());
  CAIRN_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, EncodeIndexObject(staged, plan));
  const Clock::time_point before = Clock::now();
  const absl::StatusOr<ObjectInfo> put = store_->PutIfMatch(IndexName(), index_->etag(), bytes);
  // If several writers do this at once, the outcome is not always known. Loading the index that is
  // there is right in any case: it is a checkpoint of this journal, and a put that comes late
  // replaces only the index that it was made for.
  if (absl::IsFailedPrecondition(put.status()) || absl::IsDeadlineExceeded(put.status())) {
    const absl::Status reloaded = Reload();
    return reloaded.ok() ? reloaded : Refuse(reloaded);
  }
  if (!put.ok()) return Refuse(put.status());
  validated_ = before;
  return LoadFrom(std::make_shared<object::IndexFile>(store_, std::move(bytes), put->etag,
                                                      read_ahead_, before));
}

absl::StatusOr<ReclaimReport> ObjectBackend::ReclaimSpace(const ReclaimOptions& /*options*/) {
  CAIRN_ASSIGN_OR_RETURN(const std::unique_ptr<Stager> stager, Stage());
  CAIRN_RETURN_IF_ERROR(WriteCheckpoint(*stager, Follows::kCommits));
  collected_ = Clock::now();
  absl::StatusOr<ReclaimReport> report =
      CollectGarbage(store_, frame_.location().files, frame_.core->env());
  if (!report.ok()) return Refuse(report.status());
  return report;
}

// Collects garbage, because objects have no dead bytes: an object that no state names is garbage.
absl::StatusOr<int64_t> ObjectBackend::Rewrite(std::unique_ptr<LiveCopy> /*begun*/,
                                               ChunkProgress /*progress*/) {
  const int64_t before = index_->index_size() + base().journal->end - base().journal->begin +
                         base().stored_bytes.value_or(0);
  CAIRN_RETURN_IF_ERROR(ReclaimSpace({}).status());
  return before;
}

absl::Status ObjectBackend::DropUncommitted() {
  sink_->Discard();
  return absl::OkStatus();
}

}  // namespace cairn::frame
