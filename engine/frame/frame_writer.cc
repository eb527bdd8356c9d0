#include "engine/frame/frame_writer.h"

#include <algorithm>
#include <utility>

#include "engine/base/status.h"
#include "engine/format/index_entry.h"
#include "engine/frame/box_reader.h"
#include "engine/frame/chunk_reader.h"
#include "engine/frame/loader.h"
#include "engine/frame/new_array.h"
#include "engine/frame/new_frame.h"
#include "engine/frame/random.h"

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
  CAIRN_RETURN_IF_ERROR(file->file()->LockByte(FrameCore::kWriterLockByte, LockMode::kExclusive));
  return file;
}

absl::StatusOr<StagerOptions> StagingOf(const WriterOptions& options, const State& base,
                                        const Registry* registry) {
  StagerOptions staging;
  staging.compression = options.compression.value_or(CompressionOf(base.header));
  staging.compression.typesize = base.header.typesize;
  if (options.executor != nullptr) staging.compression.executor = options.executor;
  if (options.registry != nullptr) staging.compression.registry = options.registry;
  if (staging.compression.registry == nullptr) staging.compression.registry = registry;
  // Readers of arrays count on blocks of the array's shape.
  if (const absl::StatusOr<ArrayGeometry> array = GeometryOf(base); array.ok()) {
    staging.compression.blocksize = array->blocksize();
  }
  if (staging.compression.format != ChunkFormat::kBlosc2) {
    return InvalidArgument("frames hold chunks of the Blosc2 format only");
  }
  if (options.chunksize < 1 || options.chunksize > kMaxChunkBytes) {
    return InvalidArgument("chunksize: expected 1 to %d, got %d", kMaxChunkBytes,
                           options.chunksize);
  }
  staging.chunksize = WholeItems(options.chunksize, base.header.typesize);
  return staging;
}

}  // namespace

FrameWriter::FrameWriter(std::shared_ptr<FrameCore> core, std::shared_ptr<File> file,
                         FrameSource source, std::shared_ptr<const State> base,
                         StagerOptions options)
    : core_(std::move(core)),
      file_(std::move(file)),
      source_(std::move(source)),
      base_(std::move(base)),
      options_(std::move(options)) {
  StartStaging(base_->header.frame_size);
}

FrameWriter::~FrameWriter() {
  // Only where nothing went wrong is it known what the header on the disk says.
  if (CheckUsable().ok() && !unpublished_.has_value()) CutFile().IgnoreError();
}

absl::StatusOr<std::unique_ptr<FrameWriter>> FrameWriter::Open(std::shared_ptr<FrameCore> core,
                                                               const WriterOptions& options) {
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<File> file, core->OpenForWriting());
  // Only now that nobody else writes is the state the newest for sure.
  CAIRN_ASSIGN_OR_RETURN(FrameSource source, core->OpenForReading(file));
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<const State> base, LoadState(source, core->env()));
  CAIRN_RETURN_IF_ERROR(base->trailer_damage);
  core->Adopt(source, base);
  CAIRN_ASSIGN_OR_RETURN(StagerOptions staging, StagingOf(options, *base, core->env()->registry));
  std::unique_ptr<FrameWriter> writer(new FrameWriter(
      std::move(core), std::move(file), std::move(source), std::move(base), std::move(staging)));
  if (writer->base_->seal.has_value()) writer->fingerprint_ = writer->base_->seal->type;
  CAIRN_RETURN_IF_ERROR(writer->Confirm());
  return writer;
}

absl::StatusOr<std::unique_ptr<FrameWriter>> FrameWriter::Build(FramePlace place,
                                                                const CreateOptions& given,
                                                                bool plain) {
  CAIRN_ASSIGN_OR_RETURN(const CreateOptions options, ResolveArray(given));
  OpenOptions open;
  open.registry = options.compression.registry;
  open.executor = options.compression.executor;
  const std::shared_ptr<const Environment> env = MakeEnvironment(open);
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<const State> base, MakeNewState(options, env));
  if (place.files != nullptr && !options.overwrite && place.files->Identity(place.path).ok()) {
    return absl::AlreadyExistsError(absl::StrFormat("%s exists", place.path));
  }
  CAIRN_ASSIGN_OR_RETURN(NewFile file, NewLockedFile(place));
  std::shared_ptr<File> bytes = file.file();
  // Staged chunks can be read before there is a frame, so the file has to reach up to them.
  CAIRN_RETURN_IF_ERROR(bytes->WriteAt(0, base->header_bytes));
  FrameSource source = FrameSource::OfFile(bytes, 0, env->use_mmap);
  auto core = std::make_shared<FrameCore>(std::move(place), source, env);
  std::unique_ptr<FrameWriter> writer(
      new FrameWriter(std::move(core), std::move(bytes), std::move(source), std::move(base),
                      {.compression = options.compression, .chunksize = options.chunksize}));
  writer->fingerprint_ = options.fingerprint;
  writer->unpublished_ =
      Unpublished{.file = std::move(file),
                  .replace = options.overwrite,
                  .plain = plain && options.fingerprint == FingerprintType::kNone,
                  .array = options.array.has_value()};
  CAIRN_RETURN_IF_ERROR(writer->StageNewArray());
  return writer;
}

void FrameWriter::StartStaging(int64_t begin) {
  stager_.emplace(base_, file_.get(), source_, begin, options_);
}

// A new array is all zeros.
absl::Status FrameWriter::StageNewArray() {
  if (!unpublished_->array) return absl::OkStatus();
  CAIRN_ASSIGN_OR_RETURN(const ArrayGeometry geometry,
                         ArrayGeometry::Make(*base_->array, base_->header.typesize));
  const int64_t nbytes = geometry.nchunks() * geometry.chunksize();
  return stager_->AppendSpecial(SpecialValue::kZeros, nbytes / base_->header.typesize, {});
}

absl::Status FrameWriter::CheckUsable() const {
  CAIRN_RETURN_IF_ERROR(unusable_);
  if (stager_->failure().ok()) return absl::OkStatus();
  return FailedPrecondition("an earlier write failed: %s", stager_->failure().message());
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
  CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<const State> view, stager_->View());
  shared_end_ = stager_->end();
  auto state = std::make_shared<State>(*view);
  state->writers_file = file_;
  return state;
}

// A frame that is nowhere yet begins at its header again; what a snapshot reads of it stays in the
// old file.
absl::Status FrameWriter::StartOver() {
  CAIRN_ASSIGN_OR_RETURN(NewFile file, NewLockedFile(core_->place()));
  CAIRN_RETURN_IF_ERROR(file.file()->WriteAt(0, base_->header_bytes));
  file_ = file.file();
  source_ = FrameSource::OfFile(file_, 0, core_->env()->use_mmap);
  unpublished_->file = std::move(file);
  shared_end_ = 0;
  return absl::OkStatus();
}

void FrameWriter::Rollback() {
  if (!CheckUsable().ok()) return;
  if (unpublished_.has_value()) {
    if (absl::Status status = StartOver(); !status.ok()) {
      unusable_ = FailedPrecondition("rolling back failed: %s", status.message());
      return;
    }
  }
  StartStaging(std::max(base_->header.frame_size, shared_end_));
  if (!unpublished_.has_value()) return;
  if (absl::Status status = StageNewArray(); !status.ok()) {
    unusable_ = FailedPrecondition("rolling back failed: %s", status.message());
  }
}

bool FrameWriter::FitsInPlace() const {
  const Draft& draft = stager_->draft();
  if (draft.header.nbytes == 0) return false;
  return !draft.metalayers_edited || draft.header.header_len <= kSectorSize;
}

CheckpointPlan FrameWriter::PlanAt(int64_t index_begin, bool new_file) const {
  CheckpointPlan plan;
  plan.index_begin = index_begin;
  plan.seal.nonce = base_->seal.has_value() ? base_->seal->nonce : RandomNumber();
  plan.seal.generation = base_->info.generation + 1;
  plan.seal.previous_end = new_file ? 0 : base_->header.frame_size;
  plan.seal.oldest_generation =
      !new_file && base_->seal_holds ? base_->seal->oldest_generation : plan.seal.generation;
  plan.seal.type = fingerprint_;
  plan.plain = unpublished_.has_value() && unpublished_->plain;
  return plan;
}

absl::Status FrameWriter::CommitInPlace() {
  const Draft& draft = stager_->draft();
  CAIRN_ASSIGN_OR_RETURN(
      const CheckpointBytes bytes,
      EncodeCheckpoint(draft, PlanAt(stager_->end(), false), &core_->env()->pool));
  CAIRN_RETURN_IF_ERROR(file_->WriteAt(stager_->end(), bytes.tail));
  CAIRN_RETURN_IF_ERROR(file_->Sync(SyncMode::kData));
  CAIRN_ASSIGN_OR_RETURN(const bool there, core_->IsAtItsPlace(*file_));
  if (!there) return FailedPrecondition("%s is another file now", core_->place().path);
  const int64_t flipped = draft.metalayers_edited ? std::min(draft.header.header_len, kSectorSize)
                                                  : format::kFixedHeaderSize;
  CAIRN_RETURN_IF_ERROR(file_->WriteAt(0, Bytes(bytes.header).first(static_cast<size_t>(flipped))));
  CAIRN_RETURN_IF_ERROR(file_->Sync(SyncMode::kData));
  CAIRN_ASSIGN_OR_RETURN(base_, LoadState(source_, core_->env()));
  core_->Adopt(source_, base_);
  return absl::OkStatus();
}

// Index, trailer and header behind the chunks of a file that has no name yet.
absl::Status FrameWriter::WriteWhole(File& file, const Draft& draft, int64_t chunks_end) const {
  // The trailer of an empty frame follows its header.
  const int64_t index_begin = draft.header.nbytes == 0 ? draft.header.header_len : chunks_end;
  CAIRN_ASSIGN_OR_RETURN(const CheckpointBytes bytes,
                         EncodeCheckpoint(draft, PlanAt(index_begin, true), &core_->env()->pool));
  CAIRN_RETURN_IF_ERROR(file.WriteAt(index_begin, bytes.tail));
  return file.WriteAt(0, bytes.header);
}

absl::Status FrameWriter::Adopt(std::shared_ptr<File> file) {
  file_ = std::move(file);
  CAIRN_ASSIGN_OR_RETURN(source_, core_->OpenForReading(file_));
  CAIRN_ASSIGN_OR_RETURN(base_, LoadState(source_, core_->env()));
  core_->Adopt(source_, base_);
  return absl::OkStatus();
}

absl::Status FrameWriter::CommitFirst() {
  CAIRN_RETURN_IF_ERROR(WriteWhole(*file_, stager_->draft(), stager_->end()));
  std::shared_ptr<File> old;
  if (unpublished_->replace) {
    CAIRN_ASSIGN_OR_RETURN(old, core_->LockOld());
  }
  CAIRN_RETURN_IF_ERROR(unpublished_->file.Publish(unpublished_->replace));
  unpublished_.reset();
  return Adopt(file_);
}

// The draft with its chunks one behind the other in another file.
absl::StatusOr<Draft> FrameWriter::CopyChunks(ChunkLog& log) {
  CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<const State> state, stager_->View());
  Draft draft = stager_->draft();
  draft.chunks = ChunkIndex();
  draft.stored_bytes = 0;
  chunk::ScratchBuffer scratch;
  for (int64_t i = 0; i < state->chunks.size(); ++i) {
    CAIRN_ASSIGN_OR_RETURN(IndexEntry entry, state->chunks.Get(i));
    if (!format::IsSpecialEntry(entry.value)) {
      CAIRN_ASSIGN_OR_RETURN(const Bytes stored,
                             ReadStored(*state, i, VerifyPolicy::kAlways, scratch));
      CAIRN_ASSIGN_OR_RETURN(const int64_t position, log.Append(stored));
      entry.value = position - draft.header.header_len;
      *draft.stored_bytes += static_cast<int64_t>(stored.size());
    }
    draft.chunks.Append(entry);
  }
  CAIRN_RETURN_IF_ERROR(log.Flush());
  return draft;
}

absl::Status FrameWriter::CommitToNewFile() {
  CAIRN_ASSIGN_OR_RETURN(NewFile file, NewLockedFile(core_->place()));
  ChunkLog log(file.file().get(), base_->header.header_len);
  CAIRN_ASSIGN_OR_RETURN(const Draft draft, CopyChunks(log));
  CAIRN_RETURN_IF_ERROR(WriteWhole(*file.file(), draft, log.end()));
  CAIRN_ASSIGN_OR_RETURN(const bool there, core_->IsAtItsPlace(*file_));
  if (!there) return FailedPrecondition("%s is another file now", core_->place().path);
  CAIRN_RETURN_IF_ERROR(file.Publish(true));
  return Adopt(file.file());
}

absl::Status FrameWriter::Publish() {
  CAIRN_RETURN_IF_ERROR(stager_->Finish());
  if (unpublished_.has_value()) {
    CAIRN_RETURN_IF_ERROR(CommitFirst());
  } else if (FitsInPlace()) {
    CAIRN_RETURN_IF_ERROR(CommitInPlace());
  } else {
    CAIRN_RETURN_IF_ERROR(CommitToNewFile());
  }
  committed_ = true;
  shared_end_ = 0;  // the committed frame ends behind them, or lies in another file
  StartStaging(base_->header.frame_size);
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const State>> FrameWriter::Commit() {
  CAIRN_RETURN_IF_ERROR(CheckUsable());
  if (!unpublished_.has_value() && !stager_->draft().edited) return base_;
  if (absl::Status status = Publish(); !status.ok()) {
    unusable_ = FailedPrecondition("an earlier commit failed: %s", status.message());
    return status;
  }
  return base_;
}

absl::Status FrameWriter::CutFile() {
  const bool wrote = committed_ || stager_->end() > base_->header.frame_size;
  if (!wrote || shared_end_ > base_->header.frame_size) return absl::OkStatus();
  return file_->Truncate(base_->header.frame_size);
}

absl::Status FrameWriter::Close() {
  CAIRN_RETURN_IF_ERROR(Commit().status());
  const absl::Status status = CutFile();
  unusable_ = FailedPrecondition("the writer is closed");
  file_.reset();
  return status;
}

}  // namespace cairn::frame
