#include "engine/frame/frame_writer.h"

#include <utility>

#include "engine/base/status.h"
#include "engine/frame/box_reader.h"
#include "engine/frame/contiguous_writer.h"
#include "engine/frame/legacy_loader.h"
#include "engine/frame/loader.h"
#include "engine/frame/new_array.h"
#include "engine/frame/new_frame.h"
#include "engine/frame/old_frame.h"
#include "engine/frame/random.h"
#include "engine/frame/sparse_writer.h"

namespace cairn::frame {

namespace {

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

FrameWriter::FrameWriter(Start start)
    : core_(std::move(start.core)),
      file_(std::move(start.file)),
      source_(std::move(start.source)),
      base_(std::move(start.base)),
      options_(std::move(start.options)),
      fingerprint_(start.fingerprint) {}

absl::StatusOr<std::unique_ptr<FrameWriter>> FrameWriter::Open(std::shared_ptr<FrameCore> core,
                                                               const WriterOptions& options) {
  CAIRN_RETURN_IF_ERROR(CheckWritable(*core->newest()));
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<File> file, core->OpenForWriting());
  // Only now that nobody else writes is the state the newest for sure.
  CAIRN_ASSIGN_OR_RETURN(FrameSource source, core->OpenForReading(file));
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<const State> base, LoadState(source, core->env()));
  CAIRN_RETURN_IF_ERROR(CheckWritable(*base));
  CAIRN_RETURN_IF_ERROR(base->trailer_damage);
  core->Adopt(source, base);
  CAIRN_ASSIGN_OR_RETURN(StagerOptions staging, StagingOf(options, *base, core->env()->registry));
  Start start{.core = std::move(core),
              .file = std::move(file),
              .source = std::move(source),
              .base = std::move(base),
              .options = std::move(staging)};
  if (start.base->seal.has_value()) start.fingerprint = start.base->seal->type;
  std::unique_ptr<FrameWriter> writer;
  if (start.base->header.layout == Layout::kSparse) {
    writer = SparseWriter::Make(std::move(start));
  } else {
    writer = ContiguousWriter::Make(std::move(start));
  }
  CAIRN_RETURN_IF_ERROR(writer->Confirm());
  CAIRN_RETURN_IF_ERROR(writer->Restart());
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
  Start start;
  start.base = std::move(base);
  start.options = {.compression = options.compression, .chunksize = options.chunksize};
  start.fingerprint = options.fingerprint;
  const First first{.replace = options.overwrite,
                    .plain = plain && options.fingerprint == FingerprintType::kNone,
                    .array = options.array.has_value()};
  absl::StatusOr<std::unique_ptr<FrameWriter>> writer =
      options.layout == Layout::kSparse
          ? SparseWriter::Build(std::move(place), std::move(start), first)
          : ContiguousWriter::Build(std::move(place), std::move(start), first);
  CAIRN_RETURN_IF_ERROR(writer.status());
  CAIRN_RETURN_IF_ERROR((*writer)->StageNewArray());
  return writer;
}

// A new array is all zeros.
absl::Status FrameWriter::StageNewArray() {
  if (!first_.has_value() || !first_->array) return absl::OkStatus();
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
  CAIRN_RETURN_IF_ERROR(file_->Sync(SyncMode::kAll));
  const FramePlace& place = core_->place();
  return place.directory == nullptr ? absl::OkStatus() : place.files->SyncDirectoryOf(place.path);
}

absl::StatusOr<Stager*> FrameWriter::GetStager() {
  CAIRN_RETURN_IF_ERROR(CheckUsable());
  return &*stager_;
}

absl::StatusOr<std::shared_ptr<const State>> FrameWriter::Staged() {
  CAIRN_RETURN_IF_ERROR(CheckUsable());
  if (!stager_->draft().edited) return base_;
  CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<const State> view, stager_->View());
  KeepStaged();
  auto state = std::make_shared<State>(*view);
  state->writers_file = file_;
  return state;
}

void FrameWriter::Rollback() {
  if (!CheckUsable().ok()) return;
  absl::Status status = Restart();
  if (status.ok()) status = StageNewArray();
  if (!status.ok()) {
    unusable_ = FailedPrecondition("rolling back failed: %s", status.message());
  }
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
  plan.plain = first_.has_value() && first_->plain;
  return plan;
}

absl::Status FrameWriter::CheckAtPlace() const {
  CAIRN_ASSIGN_OR_RETURN(const bool there, IsAtPlace(core_->place(), *file_));
  if (there) return absl::OkStatus();
  return FailedPrecondition("%s is another file now", core_->place().path);
}

absl::Status FrameWriter::Adopt(std::shared_ptr<File> file) {
  // The old lock stays until the core knows of the new file, or another writer could slip in.
  const std::shared_ptr<File> old = file_;
  if (file != file_ || first_.has_value()) {
    file_ = std::move(file);
    CAIRN_ASSIGN_OR_RETURN(source_, core_->OpenForReading(file_));
  }
  first_.reset();
  CAIRN_ASSIGN_OR_RETURN(base_, LoadState(source_, core_->env()));
  core_->Adopt(source_, base_);
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const State>> FrameWriter::Commit() {
  CAIRN_RETURN_IF_ERROR(CheckUsable());
  if (!first_.has_value() && !stager_->draft().edited) return base_;
  // Refused, the commit can be tried again.
  const bool replace = first_.has_value() && first_->replace;
  const auto old = LockOldFrame(replace ? wanted().files : nullptr, wanted().path);
  CAIRN_RETURN_IF_ERROR(old.status());
  absl::Status status = stager_->Finish();
  if (status.ok()) status = Publish();
  if (!status.ok()) {
    unusable_ = FailedPrecondition("an earlier commit failed: %s", status.message());
    return status;
  }
  return base_;
}

absl::StatusOr<CompactReport> FrameWriter::Compact() {
  CAIRN_RETURN_IF_ERROR(CheckUsable());
  const absl::StatusOr<int64_t> before = Rewrite();
  if (!before.ok()) {
    unusable_ = FailedPrecondition("an earlier commit failed: %s", before.status().message());
    return before.status();
  }
  CompactReport report{.size_before = *before, .size_after = base_->header.frame_size};
  if (base_->header.layout == Layout::kSparse) report.size_after += base_->info.cbytes;
  return report;
}

absl::Status FrameWriter::Close() {
  CAIRN_RETURN_IF_ERROR(Commit().status());
  const absl::Status status = CleanUp();
  unusable_ = FailedPrecondition("the writer is closed");
  file_.reset();
  return status;
}

}  // namespace cairn::frame
