#include "engine/frame/frame_writer.h"

#include <algorithm>
#include <utility>

#include "engine/base/status.h"
#include "engine/format/index_entry.h"
#include "engine/frame/chunk_reader.h"
#include "engine/frame/new_frame.h"
#include "engine/frame/random.h"

namespace cairn::frame {

namespace {

// What one write moves from the old state to the new one.
constexpr int64_t kSectorSize = 512;

}  // namespace

FrameWriter::FrameWriter(std::shared_ptr<FrameCore> core, std::shared_ptr<File> file,
                         std::shared_ptr<const State> base, StagerOptions options)
    : core_(std::move(core)),
      file_(std::move(file)),
      base_(std::move(base)),
      options_(std::move(options)) {
  StartStaging(base_->header.frame_size);
}

FrameWriter::~FrameWriter() {
  // Nobody refers to what was staged; a failure leaves bytes that the next writer overwrites. After
  // a failed commit the header may lead to them already.
  if (!closed_ && broken_.ok() && !unpublished_.has_value()) CutFile().IgnoreError();
}

absl::StatusOr<std::unique_ptr<FrameWriter>> FrameWriter::Open(std::shared_ptr<FrameCore> core,
                                                               const WriterOptions& options) {
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<File> file, core->OpenForWriting());
  // Only now that nobody else writes is the state the newest for sure. Refresh finds the file, but
  // not what another Blosc2 changed in it without changing its size.
  CAIRN_RETURN_IF_ERROR(core->Refresh().status());
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<const State> base, core->Reload());
  StagerOptions staging;
  staging.compression =
      options.compression != nullptr ? *options.compression : CompressionOf(base->header);
  staging.compression.typesize = base->header.typesize;
  staging.compression.executor = options.executor;
  staging.compression.registry =
      options.registry != nullptr ? options.registry : core->env()->registry;
  if (staging.compression.format != ChunkFormat::kBlosc2) {
    return InvalidArgument("frames hold chunks of the Blosc2 format only");
  }
  if (options.chunksize < 1 || options.chunksize > kMaxChunkBytes) {
    return InvalidArgument("chunksize: expected 1 to %d, got %d", kMaxChunkBytes,
                           options.chunksize);
  }
  staging.chunksize = WholeItems(options.chunksize, base->header.typesize);
  std::unique_ptr<FrameWriter> writer(
      new FrameWriter(std::move(core), std::move(file), std::move(base), std::move(staging)));
  if (writer->base_->seal.has_value()) writer->fingerprint_ = writer->base_->seal->type;
  CAIRN_RETURN_IF_ERROR(writer->Confirm());
  return writer;
}

absl::StatusOr<std::unique_ptr<FrameWriter>> FrameWriter::Build(FramePlace place,
                                                                const CreateOptions& options,
                                                                bool plain) {
  OpenOptions open;
  open.registry = options.compression.registry;
  open.executor = options.compression.executor;
  const std::shared_ptr<const Environment> env = MakeEnvironment(open);
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<const State> base, MakeNewState(options, env));
  if (place.files != nullptr && !options.overwrite && place.files->Identity(place.path).ok()) {
    return absl::AlreadyExistsError(absl::StrFormat("%s exists", place.path));
  }
  absl::StatusOr<NewFile> file = NewFile::InMemory();
  if (place.files != nullptr) file = NewFile::CreateBeside(place.files, place.path);
  CAIRN_RETURN_IF_ERROR(file.status());
  std::shared_ptr<File> bytes = file->file();
  CAIRN_RETURN_IF_ERROR(bytes->LockByte(FrameCore::kWriterLockByte));
  // Staged chunks can be read before there is a frame, so the file has to reach up to them.
  CAIRN_RETURN_IF_ERROR(bytes->WriteAt(0, base->header_bytes));
  auto core = std::make_shared<FrameCore>(std::move(place),
                                          FrameSource::OfFile(bytes, 0, env->use_mmap), env);
  std::unique_ptr<FrameWriter> writer(
      new FrameWriter(std::move(core), std::move(bytes), std::move(base),
                      {.compression = options.compression, .chunksize = options.chunksize}));
  writer->fingerprint_ = options.fingerprint;
  writer->unpublished_ = *std::move(file);
  writer->replace_ = options.overwrite;
  writer->plain_ = plain && options.fingerprint == FingerprintType::kNone;
  return writer;
}

void FrameWriter::StartStaging(int64_t begin) {
  stager_.emplace(base_, file_.get(), core_->source(), begin, options_);
}

absl::Status FrameWriter::CheckUsable() const {
  if (closed_) return FailedPrecondition("the writer is closed");
  if (!broken_.ok()) {
    return At("an earlier write failed", absl::FailedPreconditionError(broken_.message()));
  }
  if (!stager_->failure().ok()) {
    return At("an earlier write failed",
              absl::FailedPreconditionError(stager_->failure().message()));
  }
  return absl::OkStatus();
}

absl::Status FrameWriter::Break(absl::Status status) {
  if (!status.ok()) broken_ = status;
  return status;
}

// The page cache may show a header that a dead writer's disk never got: what is built upon must be
// durable first.
absl::Status FrameWriter::Confirm() {
  CAIRN_RETURN_IF_ERROR(file_->WriteAt(
      0, Bytes(base_->header_bytes).first(static_cast<size_t>(format::kFixedHeaderSize))));
  return file_->Sync(SyncMode::kAll);
}

absl::StatusOr<Stager*> FrameWriter::GetStager() {
  CAIRN_RETURN_IF_ERROR(CheckUsable());
  return &*stager_;
}

absl::StatusOr<std::shared_ptr<const State>> FrameWriter::Staged() {
  CAIRN_RETURN_IF_ERROR(CheckUsable());
  if (!stager_->draft().edited) return base_;
  shared_staged_ = true;
  return stager_->View();
}

void FrameWriter::Rollback() {
  if (!CheckUsable().ok()) return;
  StartStaging(shared_staged_ ? stager_->end() : base_->header.frame_size);
}

bool FrameWriter::FitsInPlace() const {
  const Draft& draft = stager_->draft();
  if (draft.header.nbytes == 0) return false;
  return !draft.metalayers_edited || draft.header.header_len <= kSectorSize;
}

CheckpointPlan FrameWriter::PlanAt(int64_t index_begin, bool new_file) const {
  CheckpointPlan plan;
  plan.index_begin = index_begin;
  const bool known = base_->seal.has_value();
  plan.seal.nonce = known ? base_->seal->nonce : RandomNumber();
  plan.seal.generation = base_->info.generation + 1;
  plan.seal.previous_end = new_file ? 0 : base_->header.frame_size;
  plan.seal.oldest_generation =
      !new_file && base_->seal_is_current() ? base_->seal->oldest_generation : plan.seal.generation;
  plan.seal.type = fingerprint_;
  plan.plain = plain_ && unpublished_.has_value();
  return plan;
}

absl::Status FrameWriter::CommitInPlace() {
  const Draft& draft = stager_->draft();
  CAIRN_ASSIGN_OR_RETURN(
      const CheckpointBytes bytes,
      EncodeCheckpoint(draft, PlanAt(stager_->end(), false), &core_->env()->pool));
  CAIRN_RETURN_IF_ERROR(file_->WriteAt(stager_->end(), bytes.tail));
  CAIRN_RETURN_IF_ERROR(file_->Sync(SyncMode::kData));
  const int64_t flipped = draft.metalayers_edited ? std::min(draft.header.header_len, kSectorSize)
                                                  : format::kFixedHeaderSize;
  CAIRN_RETURN_IF_ERROR(file_->WriteAt(0, Bytes(bytes.header).first(static_cast<size_t>(flipped))));
  CAIRN_RETURN_IF_ERROR(file_->Sync(SyncMode::kData));
  CAIRN_ASSIGN_OR_RETURN(base_, core_->Reload());
  return absl::OkStatus();
}

absl::Status FrameWriter::WriteWhole(File& file, const Draft& draft, const CheckpointPlan& plan) {
  CAIRN_ASSIGN_OR_RETURN(const CheckpointBytes bytes,
                         EncodeCheckpoint(draft, plan, &core_->env()->pool));
  CAIRN_RETURN_IF_ERROR(file.WriteAt(plan.index_begin, bytes.tail));
  return file.WriteAt(0, bytes.header);
}

absl::Status FrameWriter::Adopt(NewFile file) {
  file_ = file.file();
  CAIRN_ASSIGN_OR_RETURN(FrameSource source, core_->OpenForReading(file_));
  CAIRN_ASSIGN_OR_RETURN(base_, core_->MoveTo(std::move(source)));
  return absl::OkStatus();
}

absl::Status FrameWriter::CommitFirst() {
  CAIRN_RETURN_IF_ERROR(WriteWhole(*file_, stager_->draft(), PlanAt(stager_->end(), true)));
  CAIRN_RETURN_IF_ERROR(unpublished_->Publish(replace_));
  CAIRN_RETURN_IF_ERROR(Adopt(*std::move(unpublished_)));
  unpublished_.reset();
  return absl::OkStatus();
}

absl::Status FrameWriter::CommitToNewFile() {
  absl::StatusOr<NewFile> file = NewFile::InMemory();
  const FramePlace& place = core_->place();
  if (place.files != nullptr) file = NewFile::CreateBeside(place.files, place.path);
  CAIRN_RETURN_IF_ERROR(file.status());
  // Before the name: nobody may write before we go on.
  CAIRN_RETURN_IF_ERROR(file->file()->LockByte(FrameCore::kWriterLockByte));
  CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<const State> state, stager_->View());
  Draft draft = stager_->draft();
  draft.chunks = ChunkIndex();
  draft.stored_bytes = 0;
  ChunkLog log(file->file().get(), draft.header.header_len);
  chunk::ScratchBuffer scratch;
  for (int64_t i = 0; i < state->chunks.size(); ++i) {
    CAIRN_ASSIGN_OR_RETURN(IndexEntry entry, state->chunks.Get(i));
    if (!format::IsSpecialEntry(entry.value)) {
      CAIRN_ASSIGN_OR_RETURN(const OpenChunk chunk, OpenChunk::Open(*state, i, scratch));
      CAIRN_ASSIGN_OR_RETURN(const int64_t position, log.Append(chunk.stored()));
      entry.value = position - draft.header.header_len;
      *draft.stored_bytes += static_cast<int64_t>(chunk.stored().size());
    }
    draft.chunks.Append(entry);
  }
  CAIRN_RETURN_IF_ERROR(log.Flush());
  CAIRN_RETURN_IF_ERROR(WriteWhole(*file->file(), draft, PlanAt(log.end(), true)));
  CAIRN_RETURN_IF_ERROR(file->Publish(true));
  return Adopt(*std::move(file));
}

absl::StatusOr<std::shared_ptr<const State>> FrameWriter::Publish() {
  CAIRN_RETURN_IF_ERROR(stager_->Finish());
  if (unpublished_.has_value()) {
    CAIRN_RETURN_IF_ERROR(CommitFirst());
  } else if (FitsInPlace()) {
    CAIRN_RETURN_IF_ERROR(CommitInPlace());
  } else {
    CAIRN_RETURN_IF_ERROR(CommitToNewFile());
  }
  committed_ = true;
  StartStaging(base_->header.frame_size);
  return base_;
}

absl::StatusOr<std::shared_ptr<const State>> FrameWriter::Commit() {
  CAIRN_RETURN_IF_ERROR(CheckUsable());
  if (!unpublished_.has_value() && !stager_->draft().edited) return base_;
  absl::StatusOr<std::shared_ptr<const State>> state = Publish();
  if (!state.ok()) return Break(state.status());
  return state;
}

absl::Status FrameWriter::CutFile() {
  const bool wrote = committed_ || stager_->end() > base_->header.frame_size;
  if (!wrote || shared_staged_) return absl::OkStatus();
  return file_->Truncate(base_->header.frame_size);
}

absl::Status FrameWriter::Close() {
  CAIRN_RETURN_IF_ERROR(Commit().status());
  CAIRN_RETURN_IF_ERROR(Break(CutFile()));
  closed_ = true;
  stager_.reset();
  file_.reset();
  return absl::OkStatus();
}

}  // namespace cairn::frame
