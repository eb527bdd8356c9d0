#include "engine/log/write/newest_file.h"

#include "engine/base/deadline.h"
#include "engine/base/status.h"
#include "engine/log/state/edit_layer.h"
#include "engine/log/state/live_records.h"
#include "engine/log/write/added_field.h"
#include "engine/log/write/key_writer.h"

namespace cairn::log {

namespace {

// Another writer may hold a new file for a moment, until it sees that the one before has not ended.
constexpr std::chrono::milliseconds kRotationWait(1'000);

// Ends a file, which is complete for every Blosc2 then. On a full disk its last commits are in the
// journal alone, as before.
absl::Status EndFile(LogLayer layer, Writer& writer) {
  layer.ended = true;
  CAIRN_RETURN_IF_ERROR(writer.SetVlmetalayer(kLogLayer, EncodeLogLayer(layer)));
  CAIRN_RETURN_IF_ERROR(writer.Commit().status());
  const absl::Status complete = writer.Checkpoint();
  return absl::IsResourceExhausted(complete) ? writer.Close() : complete;
}

}  // namespace

absl::StatusOr<LogStatePtr> NewestFile::Acquire(std::chrono::milliseconds wait) {
  const Deadline deadline(wait);
  while (true) {
    CAIRN_ASSIGN_OR_RETURN(const bool is_newest, Open(deadline.left()));
    if (!is_newest) continue;
    CAIRN_ASSIGN_OR_RETURN(std::optional<LogCore::Part> previous, log_->RefreshPrevious());
    if (!previous.has_value() || previous->segment->layer().ended) return log_->state();
    writer_.reset();
    CAIRN_ASSIGN_OR_RETURN(Writer old, previous->frame->OpenWriter({.wait = deadline.left()}));
    CAIRN_ASSIGN_OR_RETURN(previous, log_->RefreshPrevious());
    if (!previous.has_value() || previous->segment->layer().ended) continue;
    CAIRN_ASSIGN_OR_RETURN(const bool is_still, Open(kRotationWait));
    if (!is_still) continue;
    CAIRN_RETURN_IF_ERROR(EndFile(previous->segment->layer(), old));
    return log_->state();
  }
}

absl::StatusOr<bool> NewestFile::Open(std::chrono::milliseconds wait) {
  writer_.reset();
  CAIRN_RETURN_IF_ERROR(log_->Refresh().status());
  const LogCore::Part newest = log_->newest();
  file_ = newest.file;
  frame_ = newest.frame;
  CAIRN_ASSIGN_OR_RETURN(writer_, frame_->OpenWriter({.compression = compression_, .wait = wait}));
  identity_.reset();
  if (log_->files().ObjectsIn(log_->path()).store == nullptr) {
    CAIRN_ASSIGN_OR_RETURN(identity_, log_->files().Identity(file_.path));
  }
  CAIRN_RETURN_IF_ERROR(log_->Refresh().status());
  return log_->newest().file.number == file_.number;
}

absl::Status NewestFile::CheckIsThere() const {
  if (!identity_.has_value()) return absl::OkStatus();
  const absl::StatusOr<FileIdentity> there = log_->files().Identity(file_.path);
  if (there.ok() && *there == *identity_) return absl::OkStatus();
  if (!there.ok() && !absl::IsNotFound(there.status())) return there.status();
  return FailedPrecondition("%s was moved or replaced by another file", file_.path);
}

// Whoever opens a frame for writing removes what lies beside it.
void NewestFile::RemoveRemains() const {
  if (!log_->is_directory() || !identity_.has_value()) return;
  const auto files = ListUnfinished(log_->files(), log_->path());
  for (const LogFile& file : files.value_or(std::vector<LogFile>())) {
    if (file.number >= file_.number) continue;
    absl::StatusOr<Frame> frame = Frame::Open(file.path, log_->options());
    if (frame.ok()) frame->OpenWriter().status().IgnoreError();
  }
}

absl::Status NewestFile::CreateNext(const Segment& newest, const LogLayer& layer,
                                    const Schema& schema) {
  CAIRN_RETURN_IF_ERROR(CheckIsThere());
  LogCreateOptions options = OptionsLike(newest);
  options.schema = schema;
  options.retention = layer.retention;
  options.rotation = layer.rotation;
  options.file_system = FilesLike(*log_, file_.path);
  const LogFile next = FileOf(log_->path(), file_.number + 1);
  EditLayer edits = newest.edits();
  edits.deleted = OverwrittenLater(newest);
  CAIRN_ASSIGN_OR_RETURN(Writer writer,
                         BeginLogFrame(next.path, options, newest.end_record(), edits, {}));
  CAIRN_RETURN_IF_ERROR(CopyKeys(newest.snapshot(), writer));
  return writer.Close();
}

absl::StatusOr<LogStatePtr> NewestFile::BeginNext(const LogLayer& layer) {
  {
    Writer old = *std::move(writer_);
    CAIRN_RETURN_IF_ERROR(Open(kRotationWait).status());
    CAIRN_RETURN_IF_ERROR(EndFile(layer, old));
  }
  CAIRN_RETURN_IF_ERROR(CompactPrevious());
  return log_->Refresh();
}

absl::Status NewestFile::CompactPrevious() {
  CAIRN_ASSIGN_OR_RETURN(const std::optional<LogCore::Part> previous, log_->RefreshPrevious());
  if (!previous.has_value()) return absl::OkStatus();
  const FrameInfo& info = previous->segment->snapshot().info();
  const bool is_worth_it =
      info.layout == Layout::kContiguous && info.dead_bytes.value_or(0) > info.frame_size / 2;
  // A full disk, for example, leaves the file as it is.
  if (!is_worth_it || !previous->frame->Compact().ok()) return absl::OkStatus();
  return log_->RefreshPrevious().status();
}

absl::StatusOr<LogStatePtr> NewestFile::Replace() {
  const std::string path = PathWithFields(*log_);
  absl::Status status = CheckIsThere();
  if (status.ok()) status = log_->files().Rename(path, PathOfFile(*log_), /*replace=*/true);
  if (!status.ok()) {
    log_->files().Remove(path).IgnoreError();
    return status;
  }
  writer_.reset();  // it has held the log until here
  CAIRN_RETURN_IF_ERROR(log_->files().SyncDirectoryOf(PathOfFile(*log_)));
  CAIRN_RETURN_IF_ERROR(log_->Reopen().status());
  CAIRN_RETURN_IF_ERROR(Open(kRotationWait).status());
  return log_->state();
}

// This process reads states that a call gives up, and so do others for a moment. The second call
// frees what they needed, and moves the last chunks. The third one cuts the file after them.
absl::StatusOr<ReclaimReport> NewestFile::Reclaim(
    absl::FunctionRef<absl::Status(const Snapshot& newest)> give_up) {
  constexpr int kMostCalls = 3;
  int64_t freed = 0;
  ReclaimReport report = {.blocked = true};
  for (int calls = 0; calls < kMostCalls && report.blocked; ++calls) {
    CAIRN_ASSIGN_OR_RETURN(report, writer_->Reclaim());
    freed += report.freed;
    CAIRN_RETURN_IF_ERROR(give_up(snapshot()));
    CAIRN_RETURN_IF_ERROR(log_->Refresh().status());
  }
  report.freed = freed;
  return report;
}

absl::Status NewestFile::Close() {
  CAIRN_RETURN_IF_ERROR(writer_->Close());
  writer_.reset();
  return absl::OkStatus();
}

}  // namespace cairn::log
