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

absl::Status MarkEnded(LogLayer layer, Writer& writer) {
  layer.ended = true;
  CAIRN_RETURN_IF_ERROR(writer.SetVlmetalayer(kLogLayer, EncodeLogLayer(layer)));
  return writer.Close();
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
    CAIRN_RETURN_IF_ERROR(MarkEnded(previous->segment->layer(), old));
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
  CAIRN_RETURN_IF_ERROR(log_->Refresh().status());
  return log_->newest().file.number == file_.number;
}

absl::Status NewestFile::CreateNext(const Segment& newest, const LogLayer& layer,
                                    const Schema& schema) {
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
  Writer old = *std::move(writer_);
  CAIRN_RETURN_IF_ERROR(Open(kRotationWait).status());
  CAIRN_RETURN_IF_ERROR(MarkEnded(layer, old));
  return log_->state();
}

absl::StatusOr<LogStatePtr> NewestFile::Replace() {
  const std::string path = PathWithFields(file_.path);
  absl::Status status = log_->files().Rename(path, file_.path, /*replace=*/true);
  if (!status.ok()) {
    log_->files().Remove(path).IgnoreError();
    return status;
  }
  writer_.reset();  // it has held the log until here
  CAIRN_RETURN_IF_ERROR(log_->files().SyncDirectoryOf(file_.path));
  CAIRN_RETURN_IF_ERROR(log_->Reopen().status());
  CAIRN_RETURN_IF_ERROR(Open(kRotationWait).status());
  return log_->state();
}

absl::Status NewestFile::Close() {
  CAIRN_RETURN_IF_ERROR(writer_->Close());
  writer_.reset();
  return absl::OkStatus();
}

}  // namespace cairn::log
