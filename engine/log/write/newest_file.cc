#include "engine/log/write/newest_file.h"

#include <algorithm>

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

// Calls of Reclaim that may free something: each gives up what the one before it still read.
constexpr int kMostReclaims = 3;

absl::Status StageEnd(LogLayer layer, Writer& writer) {
  layer.ended = true;
  return writer.SetVlmetalayer(kLogLayer, EncodeLogLayer(layer));
}

// Commits the end of a file, which is complete for every Blosc2 then. On a full disk its last
// commits are in the journal alone, as before.
absl::Status CommitEnd(Writer& writer) {
  CAIRN_RETURN_IF_ERROR(writer.Commit().status());
  const absl::Status complete = writer.Checkpoint();
  return absl::IsResourceExhausted(complete) ? writer.Close() : complete;
}

}  // namespace

bool IsWorthReclaiming(const FrameInfo& info) {
  constexpr int64_t kLeastDead = int64_t{64} << 10;
  return info.frame_size + info.journal_size - info.cbytes > std::max(kLeastDead, info.cbytes / 8);
}

absl::StatusOr<LogStatePtr> NewestFile::Acquire(std::chrono::milliseconds wait) {
  const Deadline deadline(wait);
  while (true) {
    CAIRN_ASSIGN_OR_RETURN(const bool is_newest, Open(deadline.left()));
    if (!is_newest) continue;
    CAIRN_ASSIGN_OR_RETURN(std::optional<LogCore::Part> previous, log_->RefreshPrevious());
    if (!previous.has_value() || previous->segment->layer().ended) return log_->state();
    writer_.reset();
    {
      CAIRN_ASSIGN_OR_RETURN(Writer old, previous->frame->OpenWriter({.wait = deadline.left()}));
      CAIRN_ASSIGN_OR_RETURN(previous, log_->RefreshPrevious());
      if (!previous.has_value() || previous->segment->layer().ended) continue;
      CAIRN_ASSIGN_OR_RETURN(const bool is_still, Open(kRotationWait));
      if (!is_still) continue;
      CAIRN_RETURN_IF_ERROR(StageEnd(previous->segment->layer(), old));
      CAIRN_RETURN_IF_ERROR(CommitEnd(old));
    }
    return CompactPrevious();
  }
}

absl::StatusOr<bool> NewestFile::Open(std::chrono::milliseconds wait) {
  writer_.reset();
  CAIRN_RETURN_IF_ERROR(log_->Refresh().status());
  const LogCore::Part newest = log_->newest();
  file_ = newest.file;
  frame_ = newest.frame;
  CAIRN_ASSIGN_OR_RETURN(writer_, frame_->OpenWriter({.compression = compression_, .wait = wait}));
  is_local_ = log_->files().ObjectsIn(log_->path()).store == nullptr;
  CAIRN_RETURN_IF_ERROR(log_->Refresh().status());
  return log_->newest().file.number == file_.number;
}

absl::Status NewestFile::CheckIsThere() const {
  // A checkpoint without records is a new file.
  const std::optional<FileIdentity> written = is_local_ ? snapshot().file() : std::nullopt;
  if (!written.has_value()) return absl::OkStatus();
  const absl::StatusOr<FileIdentity> there = log_->files().Identity(file_.path);
  if (there.ok() && *there == *written) return absl::OkStatus();
  if (!there.ok() && !absl::IsNotFound(there.status())) return there.status();
  return FailedPrecondition("%s was moved or replaced by another file", file_.path);
}

// Whoever opens a frame for writing removes what lies beside it.
void NewestFile::RemoveRemains() const {
  if (!log_->is_directory() || !is_local_) return;
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
  // A full disk shows before there is a new file.
  absl::Status status = StageEnd(layer, *writer_);
  if (status.ok()) status = writer_->Prepare();
  if (status.ok() || absl::IsUnimplemented(status)) status = WriteNext(newest, layer, schema);
  if (!status.ok()) writer_->Rollback();
  return status;
}

absl::Status NewestFile::WriteNext(const Segment& newest, const LogLayer& layer,
                                   const Schema& schema) const {
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

absl::StatusOr<LogStatePtr> NewestFile::BeginNext() {
  {
    Writer old = *std::move(writer_);
    CAIRN_RETURN_IF_ERROR(Open(kRotationWait).status());
    CAIRN_RETURN_IF_ERROR(CommitEnd(old));
  }
  return log_->Refresh();
}

// This process has read older states of the file until now, so bytes of them may lie behind it.
absl::StatusOr<LogStatePtr> NewestFile::CompactPrevious() {
  CAIRN_ASSIGN_OR_RETURN(std::optional<LogCore::Part> previous, log_->RefreshPrevious());
  if (!previous.has_value()) return log_->state();
  const FrameInfo& info = previous->segment->snapshot().info();
  if (info.layout != Layout::kContiguous) return log_->state();
  CAIRN_ASSIGN_OR_RETURN(const std::unique_ptr<File> file,
                         log_->files().Open(previous->file.path, FileMode::kRead));
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, file->AllocatedSize());
  if (size - info.cbytes <= size / 2) return log_->state();
  // A full disk has no room for a copy.
  if (!previous->frame->Compact().ok()) {
    absl::StatusOr<Writer> writer = previous->frame->OpenWriter();
    for (int calls = 0; writer.ok() && calls < kMostReclaims; ++calls) {
      const absl::StatusOr<ReclaimReport> report = writer->Reclaim();
      if (!report.ok() || !report->blocked) break;
      CAIRN_RETURN_IF_ERROR(log_->RefreshPrevious().status());
      CAIRN_RETURN_IF_ERROR(log_->Refresh().status());
    }
  }
  CAIRN_RETURN_IF_ERROR(log_->RefreshPrevious().status());
  return log_->Refresh();
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
  int64_t freed = 0;
  ReclaimReport report = {.blocked = true};
  for (int calls = 0; calls < kMostReclaims && report.blocked; ++calls) {
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
