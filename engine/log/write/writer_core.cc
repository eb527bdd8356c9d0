#include "engine/log/write/writer_core.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <utility>

#include "engine/base/status.h"
#include "engine/log/state/log_layer.h"
#include "engine/log/write/added_field.h"
#include "engine/log/write/limits_request.h"
#include "engine/log/write/stats_writer.h"
#include "engine/log/write/upsertion.h"

namespace cairn::log {

namespace {

// Each commit drops at most this many chunks, so that it stays short.
constexpr int64_t kChunksAtOnce = 64;

// Maximum time until a commit that is due, so that it does not overflow the clock.
constexpr std::chrono::years kMaxInterval{10};

// Time between two looks of a writer with a timer for what others ask.
constexpr std::chrono::milliseconds kBetweenLooks{500};

// A commit of records that take at most this many bytes is not made in parts.
constexpr size_t kLeastPart = size_t{64} << 10;

// Returns about half of the bytes of whole records.
size_t HalfOf(size_t nbytes, int32_t record_size) {
  const auto size = static_cast<size_t>(record_size);
  return std::max(nbytes / size / 2, size_t{1}) * size;
}

absl::Status CheckValueSize(const Schema& schema, Items records) {
  const auto size = static_cast<size_t>(schema.record_size());
  if (records.value_size() == 0 || records.value_size() == size) return absl::OkStatus();
  return InvalidArgument("log: values of %d bytes, its records have %d", records.value_size(),
                         size);
}

}  // namespace

absl::StatusOr<std::shared_ptr<WriterCore>> WriterCore::Open(std::shared_ptr<LogCore> log,
                                                             const LogWriterOptions& options) {
  CAIRN_RETURN_IF_ERROR(CheckNotNegative("log: commit_records", options.commit_records));
  CAIRN_RETURN_IF_ERROR(CheckNotNegative("log: commit_interval", options.commit_interval.count()));
  CAIRN_RETURN_IF_ERROR(CheckNotNegative("log: reorder_window", options.reorder_window));
  CAIRN_RETURN_IF_ERROR(CheckNotNegative("log: max_buffered_bytes", options.max_buffered_bytes));
  CAIRN_RETURN_IF_ERROR(CheckNotNegative("log: wait", options.wait.count()));
  std::shared_ptr<WriterCore> core(new WriterCore(std::move(log), options));
  const MutexLock lock(core->mutex_);
  CAIRN_ASSIGN_OR_RETURN(core->state_, core->file_.Acquire(options.wait));
  CAIRN_RETURN_IF_ERROR(core->BeginWriting());
  core->file_.RemoveRemains();
  // A power cut may have taken records that a request is about. New ones will get their numbers.
  CAIRN_RETURN_IF_ERROR(core->CarryOutDeletion());
  if (options.commit_interval.count() > 0) {
    core->timer_ = options.timer == nullptr ? TimerThread::Make() : options.timer->thread_;
    if (!core->timer_->runs()) {
      return absl::ResourceExhaustedError(
          "log: commit_interval needs a thread, and the system gave none");
    }
    core->StartTimer(Due::kLook);
  }
  return core;
}

absl::Status WriterCore::BeginWriting() {
  CAIRN_RETURN_IF_ERROR(TakeCommitted(file_.snapshot()));
  ages_.Forget();
  layer_ = state_->newest().layer();
  CAIRN_ASSIGN_OR_RETURN(layer_.time_field,
                         TimeNameOf(state_->schema(), state_->newest().time_field()));
  layer_.ended = false;
  layer_changed_ = layer_ != state_->newest().layer();
  // Records of a new schema come only after all others are committed. A new file changes nothing
  // for those that wait.
  if (!buffer_.has_value() || buffer_->record_size() != state_->schema().record_size()) {
    buffer_.emplace(state_->schema().record_size(), state_->newest().time_field());
  }
  CAIRN_RETURN_IF_ERROR(DeleteLost(BeginDeletion()));
  CAIRN_RETURN_IF_ERROR(StoreStandIns(BeginDeletion()));
  CAIRN_RETURN_IF_ERROR(FinishDeletions(BeginDeletion()));
  // Another program may have written chunks without statistics.
  const Segment* newest = &state_->newest();
  if (newest->snapshot().info().fingerprint == FingerprintType::kNone) return absl::OkStatus();
  int64_t first = FirstWithoutStats(*newest);
  if (!newest->snapshot().info().sealed && newest->nrecords() > 0) {
    CAIRN_RETURN_IF_ERROR(file_.writer().Checkpoint());
    CAIRN_RETURN_IF_ERROR(TakeCommitted(file_.snapshot()));
    newest = &state_->newest();
    first = 0;
  }
  if (first >= newest->nrecords() / newest->chunk_records()) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(AddStats(*newest, first, file_.writer()));
  return CommitStaged(options_.durability);
}

absl::Status WriterCore::Check() const {
  if (!owner_.is_here()) {
    return FailedPrecondition(
        "log: its writer belongs to the process that this one was forked from");
  }
  if (!status_.ok()) return status_;
  if (file_.is_open()) return absl::OkStatus();
  return FailedPrecondition("log: its writer is closed");
}

absl::Status WriterCore::Remember(absl::Status status) {
  if (status_.ok() && !absl::IsResourceExhausted(status)) status_ = status;
  return status;
}

absl::Status WriterCore::Append(Items records) {
  const MutexLockIf lock(owner_.is_here(), mutex_);
  CAIRN_RETURN_IF_ERROR(Check());
  CAIRN_RETURN_IF_ERROR(CheckValueSize(state_->schema(), records));
  if (buffer_->nbytes() > options_.max_buffered_bytes) {
    // The disk was full when this much had come.
    const absl::Status status = Remember(CommitRecords(true, options_.durability));
    if (absl::IsResourceExhausted(status)) return absl::UnavailableError(status.message());
    CAIRN_RETURN_IF_ERROR(status);
  }
  CAIRN_RETURN_IF_ERROR(keys_.Check(*state_, records.bytes()));
  CAIRN_RETURN_IF_ERROR(buffer_->Add(records.bytes()));
  if (buffer_->nbytes() > options_.max_buffered_bytes) {
    return Remember(CommitRecords(true, options_.durability));
  }
  if (options_.commit_records > 0 && buffer_->nrecords() >= options_.commit_records) {
    return Remember(CommitRecords(false, options_.durability));
  }
  StartTimer(Due::kCommit);
  return absl::OkStatus();
}

absl::StatusOr<uint32_t> WriterCore::CodeOf(std::string_view field, std::string_view text) {
  const MutexLockIf lock(owner_.is_here(), mutex_);
  CAIRN_RETURN_IF_ERROR(Check());
  return keys_.CodeOf(*state_, field, text);
}

absl::Status WriterCore::Commit() {
  const MutexLockIf lock(owner_.is_here(), mutex_);
  CAIRN_RETURN_IF_ERROR(Check());
  return Remember(CommitRecords(true, options_.durability));
}

absl::Status WriterCore::Checkpoint() {
  const MutexLockIf lock(owner_.is_here(), mutex_);
  CAIRN_RETURN_IF_ERROR(Check());
  CAIRN_RETURN_IF_ERROR(Remember(CommitRecords(true, options_.durability)));
  CAIRN_RETURN_IF_ERROR(file_.writer().Checkpoint());  // a refused checkpoint ends nothing
  return Remember(TakeCommitted(file_.snapshot()));
}

absl::Status WriterCore::SetLimits(const std::optional<Retention>& retention,
                                   const std::optional<Rotation>& rotation) {
  const MutexLockIf lock(owner_.is_here(), mutex_);
  CAIRN_RETURN_IF_ERROR(Check());
  if (rotation.has_value() && !log_->is_directory()) {
    return AtPath(log_->path(), FailedPrecondition("a log of one file"));
  }
  CAIRN_RETURN_IF_ERROR(
      CheckLimits(retention.value_or(Retention()), rotation.value_or(Rotation())));
  const LogLayer before = layer_;
  layer_.retention = retention.value_or(layer_.retention);
  layer_.rotation = rotation.value_or(layer_.rotation);
  layer_changed_ = layer_changed_ || layer_ != before;
  return absl::OkStatus();
}

absl::Status WriterCore::Retain() {
  const MutexLockIf lock(owner_.is_here(), mutex_);
  CAIRN_RETURN_IF_ERROR(Check());
  const absl::Status committed = Remember(CommitRecords(true, options_.durability));
  if (!committed.ok() && !absl::IsResourceExhausted(committed)) return committed;
  CAIRN_RETURN_IF_ERROR(Remember(RemoveOldFiles()));
  CAIRN_RETURN_IF_ERROR(
      Remember(CommitBatch({}, std::numeric_limits<int64_t>::max(), options_.durability)));
  // Records that wait may have room now.
  return committed.ok() ? committed : Remember(CommitRecords(true, options_.durability));
}

int64_t WriterCore::end_record() const {
  const MutexLockIf lock(owner_.is_here(), mutex_);
  return state_->end_record() + buffer_->nrecords();
}

LogStatePtr WriterCore::state() const {
  const MutexLockIf lock(owner_.is_here(), mutex_);
  return state_;
}

absl::Status WriterCore::Close() {
  const MutexLockIf lock(owner_.is_here(), mutex_);
  CAIRN_RETURN_IF_ERROR(Check());
  inbox_.LookNext();  // no later commit takes a request
  CAIRN_RETURN_IF_ERROR(Remember(CommitRecords(true, Durability::kMachine)));
  CAIRN_RETURN_IF_ERROR(Remember(file_.Close()));
  return absl::OkStatus();
}

absl::Status WriterCore::CommitRecords(bool all, Durability durability) {
  const bool looks = inbox_.ShouldLook();
  // Readers would never see what is committed to a file that lost its name.
  const absl::Status there = looks ? file_.CheckIsThere() : absl::OkStatus();
  if (absl::IsFailedPrecondition(there)) return there;
  const std::optional<LimitsRequest> requested = looks ? inbox_.FindLimits() : std::nullopt;
  if (requested) {
    const LogLayer before = layer_;
    layer_.retention = Changed(layer_.retention, *requested);
    if (log_->is_directory()) layer_.rotation = Changed(layer_.rotation, *requested);
    layer_changed_ = layer_changed_ || layer_ != before;
  }
  // The request is removed once its limits are sure to stay.
  if (requested) durability = Durability::kMachine;
  ages_.BeginCommit(*state_, layer_);
  const std::vector<std::byte> taken = buffer_->Take(all ? 0 : options_.reorder_window);
  Bytes left = taken;
  size_t most = left.size();
  absl::Status status;
  do {
    absl::StatusOr<size_t> here = FitInFile(left);
    status = here.status();
    if (here.value_or(0) > 0 || (status.ok() && left.empty())) {
      *here = std::min(*here, most);
      status = CommitBatch(left.first(*here), kChunksAtOnce, durability);
    }
    // Old records that these replace may take the space, so a full disk gets them in parts.
    if (absl::IsResourceExhausted(status) && here.value_or(0) > kLeastPart &&
        layer_.retention != Retention{}) {
      most = HalfOf(*here, buffer_->record_size());
      status = absl::OkStatus();
      continue;
    }
    if (!status.ok()) break;
    left = left.subspan(*here);
    status = RemoveOldFiles();
  } while (status.ok() && !left.empty());
  if (!status.ok()) {
    buffer_->PutBack(left);
    StartTimer(Due::kCommit);
    return status;
  }
  if (requested) inbox_.End(*requested);
  StartTimer(Due::kCommit);
  return looks ? CarryOutDeletion() : absl::OkStatus();
}

absl::Status WriterCore::CarryOutDeletion() {
  const std::optional<LogSelection> deletion = inbox_.FindDeletion();
  if (!deletion) return absl::OkStatus();
  // A deletion that fails, for example on a full disk, does not fail the commit before it. It is
  // not tried again, since that could cost as much with each commit. The other process sees what is
  // left.
  DeleteSelected(BeginDeletion(), *deletion).IgnoreError();
  if (status_.ok()) inbox_.End(*deletion);
  return status_;
}

absl::StatusOr<int64_t> WriterCore::Delete(const LogSelection& which) {
  const MutexLockIf lock(owner_.is_here(), mutex_);
  CAIRN_RETURN_IF_ERROR(Check());
  CAIRN_RETURN_IF_ERROR(CheckSelection(*state_, which));
  // Older files are opened by their paths.
  if (state_->segments().size() > 1) CAIRN_RETURN_IF_ERROR(file_.CheckIsThere());
  const absl::Status committed = Remember(CommitRecords(true, options_.durability));
  if (!committed.ok() && !absl::IsResourceExhausted(committed)) return committed;
  CAIRN_ASSIGN_OR_RETURN(const int64_t deleted, DeleteSelected(BeginDeletion(), which));
  if (committed.ok()) return deleted;
  // The records that wait may have room now, and be among those.
  CAIRN_RETURN_IF_ERROR(Remember(CommitRecords(true, options_.durability)));
  CAIRN_ASSIGN_OR_RETURN(const int64_t waited, DeleteSelected(BeginDeletion(), which));
  return deleted + waited;
}

absl::StatusOr<UpsertReport> WriterCore::Upsert(Items records, const UpsertOptions& options) {
  const MutexLockIf lock(owner_.is_here(), mutex_);
  CAIRN_RETURN_IF_ERROR(Check());
  CAIRN_RETURN_IF_ERROR(CheckValueSize(state_->schema(), records));
  CAIRN_RETURN_IF_ERROR(keys_.Check(*state_, records.bytes()));
  CAIRN_ASSIGN_OR_RETURN(const Upsertion upsertion,
                         Upsertion::Make(*state_, options.key, records.bytes()));
  // Older files are opened by their paths.
  if (state_->segments().size() > 1) CAIRN_RETURN_IF_ERROR(file_.CheckIsThere());
  CAIRN_RETURN_IF_ERROR(Remember(CommitRecords(true, options_.durability)));
  UpsertReport report;
  Bytes left = upsertion.records();
  while (!left.empty()) {
    const absl::StatusOr<size_t> here = FitInFile(left);
    if (!here.ok()) return Remember(here.status());
    CAIRN_ASSIGN_OR_RETURN(const Matches found, upsertion.Find(*state_, left.first(*here), report));
    const auto stage = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return StageRecords(found.arriving);
    };
    CAIRN_RETURN_IF_ERROR(
        ReplaceRecords(BeginDeletion(), found.replaced, stage, options_.durability));
    left = left.subspan(*here);
  }
  CAIRN_RETURN_IF_ERROR(Remember(CommitRecords(true, options_.durability)));
  return report;
}

DeletingWriter WriterCore::BeginDeletion() {
  ages_.Forget();  // the newest record may be among those
  may_reclaim_ = true;
  const auto commit = [this](Durability durability) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return Remember(CommitStaged(durability));
  };
  return {.log = *log_,
          .file = file_.number(),
          .writer = file_.writer(),
          .state = state_,
          .commit = commit};
}

absl::Status WriterCore::CommitBatch(Bytes records, int64_t most_chunks, Durability durability) {
  const LogLayer layer = layer_;
  const bool layer_changed = layer_changed_;
  // The texts come first, since the statistics of the records read their codes.
  absl::Status status = keys_.Stage(*state_, file_.writer());
  if (status.ok()) status = StageRecords(records);
  if (status.ok()) status = StageRetention(records, most_chunks);
  if (status.ok() && layer_changed_) {
    layer_changed_ = false;
    status = file_.writer().SetVlmetalayer(kLogLayer, EncodeLogLayer(layer_));
  }
  if (status.ok()) status = CommitStaged(durability);
  if (absl::IsResourceExhausted(status)) {
    file_.writer().Rollback();
    layer_ = layer;
    layer_changed_ = layer_changed;
    const bool is_new = std::exchange(reclaimed_at_, state_->end_record()) != state_->end_record();
    if (is_new) may_reclaim_ |= IsWorthReclaiming(state_->newest().snapshot().info());
    // A file without records would be replaced.
    if (!std::exchange(may_reclaim_, false) || state_->newest().nrecords() == 0) return status;
    const auto give_up = [this](const Snapshot& newest) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return TakeCommitted(newest);
    };
    const auto report = file_.Reclaim(give_up);
    if (!report.ok()) return status;
    status = CommitBatch(records, most_chunks, durability);
    may_reclaim_ = may_reclaim_ || report->blocked;
    return status;
  }
  if (!status.ok()) return status;
  may_reclaim_ = may_reclaim_ || layer_.first_record != layer.first_record;
  ages_.Note(*state_, records);
  keys_.Committed();
  return status;
}

absl::Status WriterCore::CommitStaged(Durability durability) {
  CAIRN_ASSIGN_OR_RETURN(const Snapshot committed, file_.writer().Commit(durability));
  return TakeCommitted(committed);
}

absl::Status WriterCore::StageRecords(Bytes records) {
  if (records.empty()) return absl::OkStatus();
  const Segment& newest = state_->newest();
  CAIRN_RETURN_IF_ERROR(file_.writer().AppendSlices(0, records));
  const int64_t added = static_cast<int64_t>(records.size()) / state_->schema().record_size();
  const int64_t complete = newest.nrecords() / newest.chunk_records();
  const bool filled = (newest.nrecords() + added) / newest.chunk_records() > complete;
  if (!filled || newest.snapshot().info().fingerprint == FingerprintType::kNone) {
    return absl::OkStatus();
  }
  CAIRN_ASSIGN_OR_RETURN(const Snapshot snapshot, file_.writer().StagedSnapshot());
  CAIRN_ASSIGN_OR_RETURN(const SegmentPtr staged,
                         Segment::Load(snapshot, layer_.time_field, &newest));
  return AddStats(*staged, complete, file_.writer());
}

// Stages what a log of one file drops, except the layer. Whole files are removed once the commit is
// made. `records` are those of the commit, in the order of time.
absl::Status WriterCore::StageRetention(Bytes records, int64_t most_chunks) {
  if (state_->segments().size() > 1) return absl::OkStatus();
  CAIRN_ASSIGN_OR_RETURN(const RetentionView view, ages_.View(*state_, layer_, records));
  CAIRN_ASSIGN_OR_RETURN(const int64_t nchunks,
                         CountExpired(*state_, view, layer_.retention, most_chunks));
  if (nchunks == 0) return absl::OkStatus();
  layer_changed_ = true;
  return DropChunks(nchunks, *state_, layer_, file_.writer());
}

absl::Status WriterCore::TakeCommitted(const Snapshot& committed) {
  std::vector<SegmentPtr> segments = state_->segments();
  CAIRN_ASSIGN_OR_RETURN(segments.back(),
                         Segment::Load(committed, log_->time_field(), segments.back().get()));
  state_ = std::make_shared<const LogState>(std::move(segments));
  return absl::OkStatus();
}

// A writer to which nobody appends takes requests, too. It may be closed, or gone, by the time.
void WriterCore::StartTimer(Due due) {
  const bool looks = due == Due::kLook;
  if (timer_ == nullptr || (!looks && (timer_runs_ || buffer_->nrecords() == 0))) return;
  timer_runs_ = timer_runs_ || !looks;
  const auto interval =
      looks ? kBetweenLooks
            : std::min<std::chrono::milliseconds>(options_.commit_interval, kMaxInterval);
  timer_->CallAt(TimerThread::Clock::now() + interval, [core = weak_from_this(), looks, due] {
    const auto writer = core.lock();
    if (writer == nullptr) return;
    const MutexLockIf lock(writer->owner_.is_here(), writer->mutex_);
    writer->timer_runs_ = writer->timer_runs_ && looks;
    if (!writer->Check().ok()) return;
    if (looks) writer->inbox_.LookNext();
    if (!looks || writer->inbox_.HasRequests()) {
      writer->Remember(writer->CommitRecords(false, writer->options_.durability)).IgnoreError();
    }
    if (looks) writer->StartTimer(due);
  });
}

void WriterCore::StopTimer() {
  std::shared_ptr<TimerThread> timer;
  const MutexLockIf lock(owner_.is_here(), mutex_);
  timer.swap(timer_);
}

}  // namespace cairn::log
