#include "engine/frame/contiguous_writer.h"

#include <algorithm>
#include <utility>

#include "engine/base/status.h"
#include "engine/frame/copy_chunks.h"
#include "engine/frame/old_frame.h"

namespace cairn::frame {

namespace {

// What one write moves from the old state to the new one.
constexpr int64_t kSectorSize = 512;

// A new file at the place, which nobody else can write: the lock comes before the name.
absl::StatusOr<NewFile> NewLockedFile(const FramePlace& place) {
  absl::StatusOr<NewFile> file = place.files == nullptr
                                     ? absl::StatusOr<NewFile>(NewFile::InMemory())
                                     : NewFile::CreateBeside(place.files, place.path);
  CAIRN_RETURN_IF_ERROR(file.status());
  CAIRN_RETURN_IF_ERROR(file->file()->LockByte(kWriterLockByte, LockMode::kExclusive));
  return file;
}

}  // namespace

std::unique_ptr<FrameWriter> ContiguousWriter::Make(Start start) {
  std::unique_ptr<ContiguousWriter> writer(new ContiguousWriter(std::move(start)));
  writer->StageAt(writer->base_->header.frame_size);
  return writer;
}

absl::StatusOr<std::unique_ptr<FrameWriter>> ContiguousWriter::Build(FramePlace place, Start start,
                                                                     First first) {
  CAIRN_ASSIGN_OR_RETURN(NewFile file, NewLockedFile(place));
  start.file = file.file();
  // Staged chunks can be read before there is a frame, so the file has to reach up to them.
  CAIRN_RETURN_IF_ERROR(start.file->WriteAt(0, start.base->header_bytes));
  const std::shared_ptr<const Environment> env = start.base->env;
  start.source = FrameSource::OfFile(start.file, 0, env->use_mmap);
  start.core = std::make_shared<FrameCore>(std::move(place), start.source, env);
  std::unique_ptr<ContiguousWriter> writer(new ContiguousWriter(std::move(start)));
  writer->first_ = first;
  writer->new_file_ = std::move(file);
  writer->StageAt(writer->base_->header.frame_size);
  return writer;
}

ContiguousWriter::~ContiguousWriter() {
  // Only where nothing went wrong is it known what the header on the disk says.
  if (usable() && !first_.has_value()) CleanUp().IgnoreError();
}

void ContiguousWriter::StageAt(int64_t position) {
  log_.emplace(file_.get(), source_,
               ChunkLog::Start{.header_len = base_->header.header_len, .position = position});
  StageInto(*log_);
}

absl::Status ContiguousWriter::Restart() {
  if (first_.has_value()) {
    // A frame that is nowhere yet begins at its header again; what a snapshot reads of it stays in
    // the old file.
    CAIRN_ASSIGN_OR_RETURN(NewFile file, NewLockedFile(core_->place()));
    CAIRN_RETURN_IF_ERROR(file.file()->WriteAt(0, base_->header_bytes));
    file_ = file.file();
    source_ = FrameSource::OfFile(file_, 0, core_->env()->use_mmap);
    new_file_ = std::move(file);
    shared_end_ = 0;
  }
  StageAt(std::max(base_->header.frame_size, shared_end_));
  return absl::OkStatus();
}

bool ContiguousWriter::FitsInPlace() const {
  const Draft& draft = stager_->draft();
  if (draft.header.nbytes == 0) return false;
  return !draft.metalayers_edited || draft.header.header_len <= kSectorSize;
}

absl::Status ContiguousWriter::CommitInPlace() {
  const Draft& draft = stager_->draft();
  CAIRN_ASSIGN_OR_RETURN(const CheckpointBytes bytes,
                         EncodeCheckpoint(draft, PlanAt(log_->end(), false), &core_->env()->pool));
  CAIRN_RETURN_IF_ERROR(file_->WriteAt(log_->end(), bytes.tail));
  CAIRN_RETURN_IF_ERROR(file_->Sync(SyncMode::kData));
  CAIRN_RETURN_IF_ERROR(CheckAtPlace());
  const int64_t flipped = draft.metalayers_edited ? std::min(draft.header.header_len, kSectorSize)
                                                  : format::kFixedHeaderSize;
  CAIRN_RETURN_IF_ERROR(file_->WriteAt(0, Bytes(bytes.header).first(static_cast<size_t>(flipped))));
  CAIRN_RETURN_IF_ERROR(file_->Sync(SyncMode::kData));
  return Adopt(file_);
}

// Index, trailer and header behind the chunks of a file that has no name yet.
absl::Status ContiguousWriter::WriteWhole(File& file, const Draft& draft,
                                          int64_t chunks_end) const {
  // The trailer of an empty frame follows its header.
  const int64_t index_begin = draft.header.nbytes == 0 ? draft.header.header_len : chunks_end;
  CAIRN_ASSIGN_OR_RETURN(const CheckpointBytes bytes,
                         EncodeCheckpoint(draft, PlanAt(index_begin, true), &core_->env()->pool));
  CAIRN_RETURN_IF_ERROR(file.WriteAt(index_begin, bytes.tail));
  return file.WriteAt(0, bytes.header);
}

absl::Status ContiguousWriter::CommitFirst() {
  CAIRN_RETURN_IF_ERROR(WriteWhole(*file_, stager_->draft(), log_->end()));
  HeldFiles old;
  if (first_->replace) {
    const FramePlace& place = core_->place();
    CAIRN_ASSIGN_OR_RETURN(old, LockOldFrame(place.files, place.path));
  }
  CAIRN_RETURN_IF_ERROR(new_file_->Publish(first_->replace));
  new_file_.reset();
  return Adopt(file_);
}

absl::Status ContiguousWriter::CommitToNewFile() {
  CAIRN_ASSIGN_OR_RETURN(NewFile file, NewLockedFile(core_->place()));
  const int64_t header_len = base_->header.header_len;
  ChunkLog log(file.file().get(), FrameSource::OfFile(file.file(), 0, false),
               {.header_len = header_len, .position = header_len});
  CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<const State> view, stager_->View());
  CAIRN_ASSIGN_OR_RETURN(const Draft draft, CopyChunks(*view, stager_->draft(), log));
  CAIRN_RETURN_IF_ERROR(WriteWhole(*file.file(), draft, log.end()));
  CAIRN_RETURN_IF_ERROR(CheckAtPlace());
  CAIRN_RETURN_IF_ERROR(file.Publish(true));
  return Adopt(file.file());
}

absl::Status ContiguousWriter::Publish() {
  if (first_.has_value()) {
    CAIRN_RETURN_IF_ERROR(CommitFirst());
  } else if (FitsInPlace()) {
    CAIRN_RETURN_IF_ERROR(CommitInPlace());
  } else {
    CAIRN_RETURN_IF_ERROR(CommitToNewFile());
  }
  committed_ = true;
  shared_end_ = 0;  // the committed frame ends behind them, or lies in another file
  StageAt(base_->header.frame_size);
  return absl::OkStatus();
}

absl::StatusOr<int64_t> ContiguousWriter::Rewrite() {
  CAIRN_ASSIGN_OR_RETURN(const int64_t before, file_->Size());
  CAIRN_RETURN_IF_ERROR(CommitToNewFile());
  StageAt(base_->header.frame_size);
  return before;
}

absl::Status ContiguousWriter::CleanUp() {
  const bool wrote = committed_ || log_->end() > base_->header.frame_size;
  if (!wrote || shared_end_ > base_->header.frame_size) return absl::OkStatus();
  return file_->Truncate(base_->header.frame_size);
}

}  // namespace cairn::frame
