// How the writer of a frame in an object store finds the newest state.
#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "engine/base/status.h"
#include "engine/format/journal.h"
#include "engine/format/sparse_names.h"
#include "engine/frame/layout/object_backend.h"
#include "engine/frame/open/state_loader.h"
#include "engine/frame/stage/sparse_sink.h"

namespace cairn::frame {

namespace {

// A frame may be replaced or removed. A writer that opens believes in an index for as long as a
// reader does.
constexpr std::chrono::seconds kLookAgain(30);

// Returns true if the journal was ended, so that another frame may take the place. Asks the store
// for nothing: the end of the journal has been read.
absl::StatusOr<bool> IsEnded(const FrameFile& source, const State& state) {
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, source.Size());
  if (size <= state.journal->end) return false;
  std::array<std::byte, format::kMinRecordSize> record{};
  CAIRN_ASSIGN_OR_RETURN(const size_t got, source.ReadSome(state.journal->end, record));
  const auto head = format::FindRecordHead(Bytes(record).first(got));
  return head.has_value() && head->kind == format::RecordKind::kReplaced;
}

}  // namespace

// Other writers may have changed the index since the core read it.
absl::Status ObjectBackend::PersistBase() {
  CAIRN_RETURN_IF_ERROR(CheckGrace(frame_.location().objects()));
  CAIRN_RETURN_IF_ERROR(store_->CheckConditions(ScratchObjectName()));
  if (!TakeOver()) CAIRN_RETURN_IF_ERROR(Reload());
  if (!IsShared(base())) {
    CAIRN_RETURN_IF_ERROR(MakeShared());
  } else {
    // A process that died while it replaced the frame has ended the journal: begin a new one.
    CAIRN_ASSIGN_OR_RETURN(const bool ended, IsEnded(frame_.source, base()));
    if (ended) CAIRN_RETURN_IF_ERROR(MakeShared());
  }
  journal_base_ = base().journal->base;
  return absl::OkStatus();
}

// Begins with what the core has read, and follows the commits since. Returns false if the index
// must be read: the core has none that writers share, or it is no longer the frame's.
bool ObjectBackend::TakeOver() {
  StatePtr newest = frame_.core->newest();
  if (newest == nullptr || !IsShared(*newest) || !newest->JournalStatus().ok()) return false;
  if (newest->journal_skipped.size() > 0 || !CheckNotLast(*newest).ok()) return false;
  FrameFile source = newest->checkpoint->source;
  // Files of other kinds have no tag that a put could name.
  auto index = std::dynamic_pointer_cast<const object::IndexFile>(source.file());
  if (index == nullptr) return false;
  validated_ = index->seen_at();
  if (!Install(std::move(index), std::move(source), std::move(newest)).ok()) return false;
  const bool is_new = Clock::now() - validated_ < std::min<Clock::duration>(kLookAgain, grace_ / 8);
  return (is_new ? FollowRecords() : FollowAnew()).ok();
}

absl::Status ObjectBackend::Reload() {
  const Clock::time_point before = Clock::now();
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<object::IndexFile> index,
                         object::IndexFile::Open(store_, read_ahead_));
  CAIRN_RETURN_IF_ERROR(LoadFrom(std::move(index)));
  validated_ = before;
  return CheckSameFrame();
}

absl::Status ObjectBackend::LoadFrom(std::shared_ptr<object::IndexFile> index) {
  FrameFile source =
      FrameFile::OfFile(index, 0, frame_.core->env()->use_mmap, frame_.location().files);
  JournalFootprint footprint;
  CAIRN_ASSIGN_OR_RETURN(StatePtr loaded, LoadState(source, frame_.core->env(), &footprint));
  CAIRN_RETURN_IF_ERROR(loaded->JournalStatus());
  CAIRN_RETURN_IF_ERROR(CheckNotLast(*loaded));
  return Install(std::move(index), std::move(source), std::move(loaded));
}

absl::Status ObjectBackend::Install(std::shared_ptr<const object::IndexFile> index,
                                    FrameFile source, StatePtr loaded) {
  index_ = std::move(index);
  // Nobody can write to it.
  frame_.file = std::const_pointer_cast<object::IndexFile>(index_);
  frame_.source = std::move(source);
  CAIRN_RETURN_IF_ERROR(frame_.InstallCheckpoint(std::move(loaded)));
  if (sink_ == nullptr) {
    CAIRN_ASSIGN_OR_RETURN(const std::vector<int64_t> named,
                           FileNumbersIn(base().chunks, SIZE_MAX));
    sink_ = std::make_unique<ObjectSink>(store_, named);
  }
  return absl::OkStatus();
}

// Gives a sparse frame that was uploaded, or whose journal has ended, a journal for all writers.
absl::Status ObjectBackend::MakeShared() {
  Stager stager(frame_.state, *sink_, options_);
  CAIRN_RETURN_IF_ERROR(stager.Finish());
  CheckpointPlan plan = frame_.PlanCheckpoint(base().header().header_len, true);
  plan.seal.journal = BeginJournal(plan.seal.generation);
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                         EncodeIndexObject(stager.staged(), plan));
  const std::string name(format::kIndexFileName);
  const absl::StatusOr<ObjectInfo> put = store_->PutIfMatch(name, index_->etag(), bytes);
  if (!put.ok() && !absl::IsFailedPrecondition(put.status())) return put.status();
  sink_->Keep();
  CAIRN_RETURN_IF_ERROR(Reload());  // the journal of another writer does as well
  CAIRN_ASSIGN_OR_RETURN(const bool ended, IsEnded(frame_.source, base()));
  if (IsShared(base()) && !ended) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrFormat("%s/%s: it is being replaced", store_->Describe(), name));
}

}  // namespace cairn::frame
