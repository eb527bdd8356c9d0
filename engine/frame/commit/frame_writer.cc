#include "engine/frame/commit/frame_writer.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "engine/base/bytes.h"
#include "engine/base/random.h"
#include "engine/base/retry.h"
#include "engine/base/status.h"
#include "engine/format/frame_header.h"
#include "engine/format/journal.h"
#include "engine/format/sparse_names.h"
#include "engine/frame/array/array_fit.h"
#include "engine/frame/array/array_options.h"
#include "engine/frame/commit/contiguous_writer.h"
#include "engine/frame/commit/sparse_writer.h"
#include "engine/frame/files/replacement.h"
#include "engine/frame/files/temporary_name.h"
#include "engine/frame/journal/replay.h"
#include "engine/frame/open/legacy_loader.h"
#include "engine/frame/open/state_loader.h"
#include "engine/frame/state/initial_state.h"

namespace cairn::frame {

namespace {

constexpr char kLockFileSuffix[] = ".b2lock";
constexpr std::chrono::milliseconds kLockFileWait(100);

absl::StatusOr<StagerOptions> StagingOf(const WriterOptions& options, const State& base,
                                        const Registry* registry) {
  StagerOptions staging;
  staging.compression = options.compression.value_or(CompressionOf(base.header()));
  staging.compression.typesize = base.header().typesize;
  if (options.executor != nullptr) staging.compression.executor = options.executor;
  if (options.registry != nullptr) staging.compression.registry = options.registry;
  if (staging.compression.registry == nullptr) staging.compression.registry = registry;
  // Readers of arrays count on blocks of the array's shape.
  if (base.metadata->array.has_value()) {
    const auto array = ArrayGeometry::Make(*base.metadata->array, base.header().typesize);
    if (array.ok()) staging.compression.blocksize = array->blocksize();
  }
  if (staging.compression.format != ChunkFormat::kBlosc2) {
    return InvalidArgument("frames hold chunks of the Blosc2 format only");
  }
  if (options.chunksize < 1 || options.chunksize > kMaxChunkBytes) {
    return InvalidArgument("chunksize: expected 1 to %d, got %d", kMaxChunkBytes,
                           options.chunksize);
  }
  staging.chunksize = WholeItems(options.chunksize, base.header().typesize);
  return staging;
}

// A link beside a frame that came from elsewhere may lead to any file, which would be written to:
// it has to lead to the lock of the frame that its own path leads to.
absl::Status CheckLockLink(FileSystem& files, const std::string& frame, const std::string& lock) {
  const size_t name = lock.rfind('/') + 1;
  const std::string directory = files.Resolve(name == 0 ? "." : lock.substr(0, name));
  const std::string file = files.Resolve(lock);
  if (file == lock || file == absl::StrCat(directory, "/", lock.substr(name)) ||
      file == files.Resolve(frame) + kLockFileSuffix) {
    return absl::OkStatus();
  }
  return FailedPrecondition("%s is a symbolic link to %s", lock, file);
}

// C-Blosc2's lock file, if it is in use.
absl::StatusOr<std::optional<storage::LockFile>> TakeLockFile(const FrameLocation& place,
                                                              const WriterOptions& options) {
  if (place.files == nullptr) return std::nullopt;
  const std::string path = place.directory != nullptr ? std::string(format::kLockFileName)
                                                      : place.path + kLockFileSuffix;
  if (place.directory == nullptr) {
    CAIRN_RETURN_IF_ERROR(CheckLockLink(*place.files, place.path, path));
  }
  // Others hold it for the moment of one call.
  return RetryUnavailable(std::max(options.wait, kLockFileWait), [&] {
    return storage::LockFile::Acquire(*place.files, path, options.make_lock_file);
  });
}

// The state of a journal that ends where it is damaged.
std::shared_ptr<const State> WithoutStranded(const State& damaged) {
  auto state = std::make_shared<State>(damaged);
  state->damage.reset();
  return state;
}

// Whether a generation can follow that of the state.
absl::Status CheckNotLast(const State& state) {
  if (state.generation() < format::kMaxGeneration) return absl::OkStatus();
  return FailedPrecondition("generation %d is the last one", state.generation());
}

}  // namespace

FrameWriter::FrameWriter(Start start)
    : core_(std::move(start.core)),
      file_(std::move(start.file)),
      source_(std::move(start.source)),
      base_(std::move(start.base)),
      options_(std::move(start.options)),
      fingerprint_(start.fingerprint) {}

absl::Status FrameWriter::CheckMayGoOn(const FrameFile& source, const State& state,
                                       bool drop_stranded) {
  CAIRN_RETURN_IF_ERROR(state.checkpoint->trailer_damage);
  if (state.damage.has_value() && !drop_stranded) {
    return DataLoss("%s; only Recover with drop_stranded cuts them off",
                    state.JournalStatus().message());
  }
  // What lies behind a frame is cut, as the rest of a dead writer's work; another frame is not
  // that.
  constexpr size_t kMagicAt = 2;
  std::array<std::byte, kMagicAt + format::kFrameMagic.size()> behind = {};
  const int64_t end = CommittedEnd(state);
  CAIRN_ASSIGN_OR_RETURN(const size_t got, source.ReadSome(end, behind));
  if (got < behind.size() || AsText(Bytes(behind).subspan(kMagicAt)) != format::kFrameMagic) {
    return absl::OkStatus();
  }
  return FailedPrecondition("another frame begins at byte %d, where this one ends", end);
}

absl::StatusOr<std::unique_ptr<FrameWriter>> FrameWriter::Open(std::shared_ptr<FrameCore> core,
                                                               const WriterOptions& options,
                                                               bool drop_stranded) {
  CAIRN_RETURN_IF_ERROR(CheckWritable(*core->newest()));
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<File> file, core->OpenForWriting(options.wait));
  CAIRN_ASSIGN_OR_RETURN(std::optional<storage::LockFile> lock_file,
                         TakeLockFile(core->place(), options));
  // Only now that nobody else writes is the state the newest for sure.
  CAIRN_ASSIGN_OR_RETURN(FrameFile source, core->OpenForReading(file));
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<const State> base, LoadState(source, core->env(), true));
  CAIRN_RETURN_IF_ERROR(CheckWritable(*base));
  CAIRN_RETURN_IF_ERROR(CheckNotLast(*base));
  CAIRN_RETURN_IF_ERROR(CheckMayGoOn(source, *base, drop_stranded));
  if (base->damage.has_value()) base = WithoutStranded(*base);
  core->Adopt(source, base);
  CAIRN_ASSIGN_OR_RETURN(StagerOptions staging, StagingOf(options, *base, core->env()->registry));
  Start start{.core = std::move(core),
              .file = std::move(file),
              .source = std::move(source),
              .base = std::move(base),
              .options = std::move(staging)};
  if (start.base->checkpoint->seal.has_value())
    start.fingerprint = start.base->checkpoint->seal->type;
  std::unique_ptr<FrameWriter> writer;
  if (start.base->header().layout == Layout::kSparse) {
    writer = SparseWriter::Make(std::move(start));
  } else {
    writer = ContiguousWriter::Make(std::move(start));
  }
  writer->lock_file_ = std::move(lock_file);
  CAIRN_RETURN_IF_ERROR(writer->Confirm());
  RemoveAbandoned(writer->core()->place());
  CAIRN_RETURN_IF_ERROR(writer->Restart());
  CAIRN_RETURN_IF_ERROR(writer->FoldGaps());
  return writer;
}

// Beside a writer others do not search far behind bytes that cannot be read.
absl::Status FrameWriter::FoldGaps() {
  if (base_->journal_skipped.size() == 0) return absl::OkStatus();
  const absl::Status status = Checkpoint();
  return absl::IsResourceExhausted(status) && usable() ? absl::OkStatus() : status;
}

absl::StatusOr<std::unique_ptr<FrameWriter>> FrameWriter::Build(FrameLocation place,
                                                                const CreateOptions& given,
                                                                bool plain) {
  CAIRN_ASSIGN_OR_RETURN(const CreateOptions options, ResolveArray(given));
  OpenOptions open;
  open.registry = options.compression.registry;
  open.executor = options.compression.executor;
  const std::shared_ptr<const FrameContext> env = MakeFrameContext(open);
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<const State> base, MakeInitialState(options, env));
  if (place.files != nullptr && !options.overwrite && place.files->Identity(place.path).ok()) {
    return absl::AlreadyExistsError(absl::StrFormat("%s exists", place.path));
  }
  RemoveAbandoned(place);
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

absl::Status FrameWriter::StageNewArray() {
  return first_.has_value() && first_->array ? stager_->MakeArray() : absl::OkStatus();
}

absl::Status FrameWriter::CheckUsable() const {
  if (!owner_.is_here()) {
    return FailedPrecondition("the writer belongs to the process that this one was forked from");
  }
  CAIRN_RETURN_IF_ERROR(unusable_);
  if (stager_->failure().ok()) return absl::OkStatus();
  return FailedPrecondition("an earlier write failed: %s", stager_->failure().message());
}

// The page cache may show what a dead writer's disk never got, and a sync that failed leaves it
// there as if it were durable: what is built upon is written once more.
absl::Status FrameWriter::Confirm() {
  CAIRN_RETURN_IF_ERROR(ConfirmJournal());
  CAIRN_RETURN_IF_ERROR(file_->WriteAt(
      0,
      Bytes(base_->checkpoint->header_bytes).first(static_cast<size_t>(format::kFixedHeaderSize))));
  CAIRN_RETURN_IF_ERROR(file_->Sync(SyncMode::kAll));
  // A writer that died behind a rename may have left the name to chance.
  CAIRN_RETURN_IF_ERROR(SyncNames(core_->place()));
  return WitnessJournal();
}

absl::Status FrameWriter::WitnessJournal() {
  if (!base_->journal.has_value() || base_->journal->empty()) return absl::OkStatus();
  const JournalPosition& journal = *base_->journal;
  const format::Receipt receipt{.base = journal.base,
                                .generation = journal.generation,
                                .boot = core_->env()->boot,
                                .durable_generation = journal.generation};
  if (journal.receipt == receipt) return absl::OkStatus();
  std::vector<std::byte> bytes;
  format::AppendReceipt(receipt, journal.end, bytes);
  const absl::Status written = file_->WriteAt(journal.end, bytes);
  // A full disk has to open, too.
  if (absl::IsResourceExhausted(written)) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(written);
  auto state = std::make_shared<State>(*base_);
  Extend(receipt, journal.end + format::kReceiptSize, *state->journal);
  CAIRN_ASSIGN_OR_RETURN(state->region, source_.ViewMore(state->region, state->journal->end));
  Adopt(std::move(state));
  return absl::OkStatus();
}

absl::Status FrameWriter::ConfirmJournal() {
  constexpr int64_t kPieceSize = 1 << 20;
  if (!base_->journal.has_value()) return absl::OkStatus();
  const JournalPosition& journal = *base_->journal;
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, file_->Size());
  if (size > journal.end) {
    CAIRN_RETURN_IF_ERROR(file_->Truncate(journal.end));
    HoldReserve();  // at once: others may be waiting for space
  }
  std::vector<std::byte> piece;
  for (int64_t at = journal.durable_end; at < journal.end; at += std::ssize(piece)) {
    piece.resize(static_cast<size_t>(std::min(kPieceSize, journal.end - at)));
    CAIRN_RETURN_IF_ERROR(file_->ReadAt(at, piece));
    CAIRN_RETURN_IF_ERROR(file_->WriteAt(at, piece));
  }
  return absl::OkStatus();
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
  std::erase_if(staged_, std::mem_fn(&std::weak_ptr<const State>::expired));
  staged_.push_back(state);
  return state;
}

bool FrameWriter::StagedIsRead() const {
  return !std::ranges::all_of(staged_, std::mem_fn(&std::weak_ptr<const State>::expired));
}

void FrameWriter::Rollback() {
  if (!usable()) return;
  const absl::Status& failure = stager_->failure();
  if (!failure.ok() && !absl::IsResourceExhausted(failure)) return;
  absl::Status status = Restart();
  if (status.ok()) status = StageNewArray();
  if (!status.ok()) {
    unusable_ = FailedPrecondition("rolling back failed: %s", status.message());
  }
}

CheckpointPlan FrameWriter::PlanAt(int64_t index_begin, bool new_file) const {
  CheckpointPlan plan;
  plan.index_begin = index_begin;
  plan.seal.nonce =
      base_->checkpoint->seal.has_value() ? base_->checkpoint->seal->nonce : RandomNumber();
  plan.seal.generation = base_->generation() + 1;
  plan.seal.previous_end = new_file ? 0 : base_->header().frame_size;
  plan.seal.oldest_generation = !new_file && base_->checkpoint->seal_holds
                                    ? base_->checkpoint->seal->oldest_generation
                                    : plan.seal.generation;
  plan.seal.type = fingerprint_;
  plan.plain = first_.has_value() && first_->plain;
  return plan;
}

absl::Status FrameWriter::CheckAtPlace() const {
  CAIRN_ASSIGN_OR_RETURN(const bool there, RefersTo(core_->place(), *file_));
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

void FrameWriter::Adopt(std::shared_ptr<const State> state) {
  base_ = std::move(state);
  core_->Adopt(base_);
}

absl::Status FrameWriter::Finish() {
  const absl::Status status = stager_->Finish();
  return absl::IsResourceExhausted(status) ? Refuse(status) : status;
}

absl::Status FrameWriter::Fold() {
  CAIRN_RETURN_IF_ERROR(Finish());
  return Publish();
}

absl::Status FrameWriter::Refuse(absl::Status status) {
  refused_ = true;
  return status;
}

// A step that fails and is not refused leaves nobody knowing what is in the files.
absl::Status FrameWriter::Run(absl::FunctionRef<absl::Status()> step) {
  // Refused, the commit can be tried again.
  const bool replace = first_.has_value() && first_->replace;
  const auto old = LockForReplacement(replace ? wanted().files : nullptr, wanted().path);
  CAIRN_RETURN_IF_ERROR(old.status());
  // That of a sparse frame lies in its directory, which is new.
  if (first_.has_value() && base_->header().layout == Layout::kContiguous) {
    CAIRN_ASSIGN_OR_RETURN(lock_file_, TakeLockFile(wanted(), {}));
  }
  const bool edited = first_.has_value() || stager_->draft().edited;
  refused_ = false;
  const absl::Status status = step();
  if (status.ok()) return status;
  if (!refused_) {
    unusable_ = FailedPrecondition("an earlier commit failed: %s", status.message());
  } else if (!edited) {
    Rollback();  // of a chunk that was made of pending items
  }
  return status;
}

absl::StatusOr<std::shared_ptr<const State>> FrameWriter::Commit(Durability durability) {
  CAIRN_RETURN_IF_ERROR(CheckUsable());
  const bool edited = stager_->draft().edited;
  if (edited) CAIRN_RETURN_IF_ERROR(CheckNotLast(*base_));
  CAIRN_RETURN_IF_ERROR(Run([&] {
    if (first_.has_value()) return Fold();
    if (edited) return PublishCommit(durability);
    return durability == Durability::kMachine ? SyncCommitted() : absl::OkStatus();
  }));
  return base_;
}

absl::Status FrameWriter::Checkpoint() {
  CAIRN_RETURN_IF_ERROR(CheckUsable());
  const bool folded = !base_->journal.has_value() || base_->journal->empty();
  if (!first_.has_value() && !stager_->draft().edited && folded) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(CheckNotLast(*base_));
  return Run([&] { return Fold(); });
}

absl::StatusOr<CompactReport> FrameWriter::Compact(ChunkProgress progress) {
  CAIRN_RETURN_IF_ERROR(CheckUsable());
  CAIRN_RETURN_IF_ERROR(CheckNotLast(*base_));
  CompactReport report;
  CAIRN_RETURN_IF_ERROR(Run([&]() -> absl::Status {
    CAIRN_ASSIGN_OR_RETURN(report.size_before, Rewrite(progress));
    return absl::OkStatus();
  }));
  report.size_after = base_->header().frame_size;
  if (base_->header().layout == Layout::kSparse) report.size_after += base_->info().cbytes;
  return report;
}

absl::StatusOr<ReclaimReport> FrameWriter::Reclaim(const ReclaimOptions& options) {
  CAIRN_RETURN_IF_ERROR(CheckUsable());
  if (first_.has_value() || stager_->draft().edited) {
    return FailedPrecondition("there are staged edits: commit them or roll them back first");
  }
  CAIRN_RETURN_IF_ERROR(CheckNotLast(*base_));
  ReclaimReport report;
  absl::Status refused;
  CAIRN_RETURN_IF_ERROR(Run([&]() -> absl::Status {
    absl::StatusOr<ReclaimReport> freed = Free(options);
    if (freed.ok()) report = *freed;
    refused = freed.status();
    return absl::IsUnimplemented(refused) ? absl::OkStatus() : refused;
  }));
  CAIRN_RETURN_IF_ERROR(refused);
  return report;
}

absl::Status FrameWriter::Close() {
  CAIRN_RETURN_IF_ERROR(Checkpoint());
  const absl::Status status = CleanUp();
  unusable_ = FailedPrecondition("the writer is closed");
  lock_file_.reset();
  file_.reset();
  return status;
}

}  // namespace cairn::frame
