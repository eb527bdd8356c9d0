#include "tests/crash/life.h"

#include <iterator>
#include <utility>
#include <vector>

#include "cairn/recover.h"
#include "engine/base/status.h"
#include "tests/crash/line.h"

namespace cairn::test {

namespace {

// Each row gives the share of every action in 100 steps.
constexpr int kOften[] = {15, 5, 5, 5, 2, 6, 1, 3, 6, 2, 13, 13, 4, 2, 3, 3, 2, 2, 2, 1, 1, 4};
constexpr int kAppending[] = {43, 0, 0, 0, 0, 0, 0, 0, 0, 0, 25, 25, 0, 1, 0, 2, 0, 0, 0, 0, 1, 3};
// Here commits append everything themselves.
constexpr int kCommitting[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 85, 15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
// Commits append themselves, and what is staged else is rolled back.
constexpr int kSyncing[] = {5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 82, 2, 3, 0, 1, 0, 0, 0, 0, 1, 2};
// Chunks come and go, and checkpoints free their space.
constexpr int kReusing[] = {10, 4, 12, 13, 1, 4, 1, 0, 1, 0, 11, 9, 12, 2, 4, 4, 0, 7, 0, 0, 3, 2};
// Chunks come and go, and there are many commits and few checkpoints but those that they make.
constexpr int kGoingOn[] = {14, 3, 10, 8, 1, 2, 1, 0, 1, 0, 26, 20, 1, 3, 1, 4, 0, 0, 0, 0, 2, 3};
// This is like kGoingOn, but more is removed, and sometimes everything.
constexpr int kShrinking[] = {12, 3, 12, 10, 3, 1, 1, 0, 1, 0, 30,
                              16, 0, 3,  1,  2, 0, 0, 0, 0, 2, 3};
static_assert(std::size(kOften) == std::size(kShrinking));
static_assert(std::size(kOften) == std::size(kAppending));
static_assert(std::size(kOften) == std::size(kGoingOn));
static_assert(std::size(kOften) == std::size(kReusing));
static_assert(std::size(kOften) == std::size(kSyncing));

int64_t EndOf(const Snapshot& snapshot) {
  return snapshot.info().frame_size + snapshot.info().journal_size;
}

}  // namespace

absl::Status Life::Start() {
  if (history_.Find(History::kNothing) == history_.newest()) {
    CAIRN_RETURN_IF_ERROR(Create(false));
  } else {
    Begin("open");
    CAIRN_ASSIGN_OR_RETURN(frame_, OpenedFrame::Open(disk_, setup_.opening()));
    committed_ = history_.model(history_.newest());
    Check(frame_->snapshot(), ContentOf(*committed_), "opened");
  }
  return OpenWriter();
}

absl::Status Life::Create(bool overwrite) {
  CreateOptions options;
  options.compression.clevel = 0;
  options.chunksize = setup_.late_size ? ChunkSize::AsFirstChunk() : ChunkSize(setup_.chunksize);
  options.layout = setup_.layout;
  options.fingerprint = setup_.fingerprint;
  options.metalayers = {{.name = "m", .content = Noise(setup_.metalayer_size)}};
  options.overwrite = overwrite;
  options.file_system = disk_.root();
  std::vector<Metalayer> metalayers = options.metalayers;
  if (setup_.line) {
    options.array = LineOf(0, setup_.chunksize);
    metalayers.insert(metalayers.begin(), LayerOfLine(0, setup_.chunksize));
  }
  committed_ = FrameModel(options.compression.typesize, setup_.chunksize, metalayers);
  if (setup_.late_size) committed_->LeaveSizeToFirstChunk(setup_.chunksize);
  history_.Add(*committed_);
  Begin(overwrite ? "overwrite" : "create");
  CAIRN_RETURN_IF_ERROR(Frame::Create(OpenedFrame::kPath, options).status());
  history_.Acknowledge(Durability::kMachine);
  CAIRN_ASSIGN_OR_RETURN(frame_, OpenedFrame::Open(disk_, setup_.opening()));
  return absl::OkStatus();
}

absl::Status Life::OpenWriter() {
  staged_ = committed_;
  edited_ = false;
  Begin("open for writing");
  CAIRN_ASSIGN_OR_RETURN(writer_, frame_->OpenWriter({.chunksize = setup_.chunksize,
                                                      .free_shapes = setup_.free_sizes}));
  CAIRN_ASSIGN_OR_RETURN(const Snapshot snapshot, writer_->StagedSnapshot());
  end_ = EndOf(snapshot);
  Check(snapshot, ContentOf(*committed_), "opened for writing");
  // The first commit shows how much its record adds, and the second ends with a sector.
  for (int i = 0; i < 2 && setup_.one_sector && end_ % SimulatedInode::kSector != 0; ++i) {
    CAIRN_RETURN_IF_ERROR(Commit(Durability::kProcess));
  }
  return absl::OkStatus();
}

absl::Status Life::Step() { return Do(Choose()); }

Life::Action Life::Choose() {
  const auto& appending = setup_.one_sector ? kCommitting : kAppending;
  const auto& going_on = setup_.shrinks ? kShrinking : kGoingOn;
  const auto& reusing = setup_.gradual || setup_.summaries ? going_on : kReusing;
  const auto& mixed = setup_.reuses ? reusing : kOften;
  const auto& often = setup_.small_commits ? kSyncing : mixed;
  const auto& weights = setup_.only_appends ? appending : often;
  auto at = static_cast<int>(dice_.Below(100));
  for (size_t i = 0; i < std::size(weights); ++i) {
    at -= weights[i];
    if (at < 0) return static_cast<Action>(i);
  }
  return Action::kAppend;
}

absl::Status Life::Do(Action action) {
  switch (action) {
    case Action::kCommitProcess:
      return Commit(Durability::kProcess);
    case Action::kCommitMachine:
      return Commit(Durability::kMachine);
    case Action::kCheckpoint:
      return Checkpoint();
    case Action::kCloseAndReopen:
      return CloseAndReopen();
    case Action::kDropAndReopen:
      return DropAndReopen();
    case Action::kCompact:
      return Compact();
    case Action::kReclaim:
      return Reclaim();
    case Action::kRecover:
      return RecoverFrame();
    case Action::kOverwrite:
      return Overwrite();
    case Action::kRefresh:
      return Refresh();
    case Action::kRollback:
      Rollback();
      return absl::OkStatus();
    case Action::kHold:
      Hold();
      return absl::OkStatus();
    default:
      return DoEdit(action);
  }
}

// Returns true if the commit itself follows.
absl::StatusOr<bool> Life::Prepare(Durability durability) {
  Begin("prepare");
  CAIRN_RETURN_IF_ERROR(writer_->Prepare(durability));
  switch (dice_.Below(setup_.one_sector ? 3 : 9)) {
    case 0:
    case 1:
      Rollback();
      return false;
    case 3:
      CAIRN_RETURN_IF_ERROR(Checkpoint());
      return false;
    case 4:
      CAIRN_RETURN_IF_ERROR(CloseAndReopen());
      return false;
    case 5:
      CAIRN_RETURN_IF_ERROR(DropAndReopen());
      return false;
    case 6:
      Begin("prepare once more");
      CAIRN_RETURN_IF_ERROR(writer_->Prepare(Durability::kMachine));
      return true;
    default:
      return true;
  }
}

absl::Status Life::Commit(Durability durability) {
  if (setup_.one_sector) CAIRN_RETURN_IF_ERROR(AppendUpToSector());
  if (setup_.small_commits) CAIRN_RETURN_IF_ERROR(DoEdit(Action::kAppend));
  if (dice_.Below(8) == 0) {
    CAIRN_ASSIGN_OR_RETURN(const bool goes_on, Prepare(durability));
    if (!goes_on) return absl::OkStatus();
  }
  Begin(durability == Durability::kProcess ? "process commit" : "commit");
  history_.Add(*staged_);
  CAIRN_ASSIGN_OR_RETURN(const Snapshot snapshot, writer_->Commit(durability));
  const int64_t items = staged_->nbytes() - committed_->nbytes();
  overhead_ = EndOf(snapshot) - end_ - items;
  end_ = EndOf(snapshot);
  history_.Acknowledge(durability);
  committed_ = staged_;
  edited_ = false;
  Check(snapshot, ContentOf(*committed_), "committed");
  return absl::OkStatus();
}

absl::Status Life::Checkpoint() {
  Begin("checkpoint");
  history_.Add(*staged_);
  CAIRN_RETURN_IF_ERROR(writer_->Checkpoint());
  history_.Acknowledge(Durability::kMachine);
  committed_ = staged_;
  edited_ = false;
  return absl::OkStatus();
}

absl::Status Life::CloseAndReopen() {
  Begin("close");
  history_.Add(*staged_);
  CAIRN_RETURN_IF_ERROR(writer_->Close());
  history_.Acknowledge(Durability::kMachine);
  committed_ = staged_;
  writer_.reset();
  return OpenWriter();
}

absl::Status Life::DropAndReopen() {
  Begin("drop");
  writer_.reset();
  if (disk_.dead()) return absl::UnavailableError("died while dropping the writer");
  return OpenWriter();
}

absl::Status Life::Compact() {
  Begin("drop");
  writer_.reset();
  Begin("compact");
  CAIRN_RETURN_IF_ERROR(frame_->Compact());
  history_.Acknowledge(Durability::kMachine);
  Check(frame_->snapshot(), ContentOf(*committed_), "compacted");
  return OpenWriter();
}

absl::Status Life::Reclaim() {
  if (edited_ && setup_.reuses) CAIRN_RETURN_IF_ERROR(Commit(Durability::kProcess));
  if (edited_) return absl::OkStatus();
  Begin("reclaim");
  const auto report = writer_->Reclaim();
  if (absl::IsUnimplemented(report.status())) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(report.status());
  history_.Acknowledge(Durability::kMachine);
  return absl::OkStatus();
}

absl::Status Life::RecoverFrame() {
  Begin("drop");
  writer_.reset();
  Begin("recover");
  CAIRN_RETURN_IF_ERROR(Recover(OpenedFrame::kPath, {.file_system = disk_.root()}).status());
  history_.Acknowledge(Durability::kMachine);
  return OpenWriter();
}

// A sparse frame that is read is not replaced.
absl::Status Life::Overwrite() {
  Begin("drop");
  writer_.reset();
  reader_.reset();
  durable_reader_.reset();
  held_.clear();
  frame_.reset();
  CAIRN_RETURN_IF_ERROR(Create(true));
  return OpenWriter();
}

void Life::Rollback() {
  Begin("rollback");
  writer_->Rollback();
  staged_ = committed_;
  edited_ = false;
}

// A snapshot that a reader holds must not change, whatever the writer does meanwhile.
void Life::Hold() {
  constexpr size_t kMostHeld = 3;
  for (const Held& held : held_) Check(held.snapshot, held.content, "held by a reader");
  if (!held_.empty() && dice_.Percent(held_.size() < kMostHeld ? 40 : 100)) {
    held_.erase(held_.begin() + static_cast<ptrdiff_t>(dice_.Below(held_.size())));
    return;
  }
  held_.push_back({.snapshot = frame_->snapshot(), .content = ContentOf(*committed_)});
  Check(held_.back().snapshot, held_.back().content, "seen by a reader");
}

absl::Status Life::Refresh() {
  // The engine does not report a failure that costs nothing, so death may go unnoticed.
  if (disk_.dead()) return absl::UnavailableError("died before a reader looked");
  if (!reader_.has_value()) {
    CAIRN_ASSIGN_OR_RETURN(reader_, OpenedFrame::Open(disk_, setup_.opening()));
  }
  CAIRN_ASSIGN_OR_RETURN(const Snapshot snapshot, reader_->Refresh());
  Check(snapshot, ContentOf(*committed_), "that a reader finds");
  const uint64_t generation = snapshot.info().generation;
  if (dice_.Percent(20)) reader_.reset();
  return setup_.durable_reader ? RefreshDurably(generation) : absl::OkStatus();
}

// If it sees the newest state, that is durable, whatever the writer promised.
absl::Status Life::RefreshDurably(uint64_t newest) {
  Begin("refresh durably");
  if (!durable_reader_.has_value()) {
    CAIRN_ASSIGN_OR_RETURN(
        durable_reader_, OpenedFrame::Open(disk_, {.replay = setup_.rules, .durable_only = true}));
  }
  CAIRN_ASSIGN_OR_RETURN(const Snapshot snapshot, durable_reader_->Refresh());
  if (snapshot.info().generation == newest) {
    history_.Acknowledge(Durability::kMachine);
    Check(snapshot, ContentOf(*committed_), "that a durable-only reader finds");
  }
  if (dice_.Percent(20)) durable_reader_.reset();
  return absl::OkStatus();
}

void Life::Check(const Snapshot& snapshot, uint64_t content, const char* what) {
  const absl::StatusOr<uint64_t> found = ReadContent(snapshot);
  if (!found.ok()) {
    complaint_ =
        absl::StrFormat("the state %s cannot be read: %s", what, found.status().ToString());
  } else if (*found != content) {
    complaint_ = absl::StrFormat("the state %s is another one", what);
  }
}

bool Life::RefusesEverything() {
  if (!writer_.has_value()) return true;
  const Buffer items = Noise(4);
  const auto refuses = [](const absl::Status& status) {
    return absl::IsFailedPrecondition(status);
  };
  return refuses(writer_->Append(items)) && refuses(writer_->SetVlmetalayer("a", items)) &&
         refuses(writer_->DeleteChunks(0, 0)) && refuses(writer_->StagedSnapshot().status()) &&
         refuses(writer_->Commit().status()) && refuses(writer_->Checkpoint()) &&
         refuses(writer_->Reclaim().status()) && refuses(writer_->Close());
}

}  // namespace cairn::test
