#include "tests/crash/life.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/status.h"

namespace cairn::test {

enum class Life::Action : int {
  kAppend,
  kInsert,
  kUpdate,
  kDelete,
  kReorder,
  kUpdateItems,
  kDeleteAll,
  kSetMetalayer,
  kSetVlmeta,
  kDeleteVlmeta,
  kCommitProcess,
  kCommitMachine,
  kCheckpoint,
  kRollback,
  kCloseAndReopen,
  kDropAndReopen,
  kCompact,
  kReclaim,
  kHold,
};

namespace {

// Of 100 steps.
constexpr int kOften[] = {20, 5, 5, 5, 2, 6, 1, 3, 6, 2, 14, 14, 4, 2, 3, 3, 2, 2, 1};
constexpr int kAppending[] = {45, 0, 0, 0, 0, 0, 0, 0, 0, 0, 27, 25, 0, 1, 0, 2, 0, 0, 0};
static_assert(std::size(kOften) == std::size(kAppending));

}  // namespace

absl::Status Life::Start() {
  if (history_.Find(History::kNothing) == history_.newest()) {
    CAIRN_RETURN_IF_ERROR(Create());
  } else {
    Begin("open");
    CAIRN_ASSIGN_OR_RETURN(frame_, Frame::Open(CrashFrame::kPath, {.file_system = disk_.root()}));
    committed_ = history_.model(history_.newest());
    Check(frame_->snapshot(), ContentOf(*committed_), "opened");
  }
  return OpenWriter();
}

absl::Status Life::Create() {
  CreateOptions options;
  options.compression.clevel = 0;
  options.chunksize = setup_.chunksize;
  options.layout = setup_.layout;
  options.fingerprint = setup_.fingerprint;
  options.metalayers = {{.name = "m", .content = Noise(setup_.metalayer_size)}};
  options.file_system = disk_.root();
  committed_ = FrameModel(options.compression.typesize, setup_.chunksize, options.metalayers);
  history_.Add(*committed_);
  Begin("create");
  CAIRN_ASSIGN_OR_RETURN(frame_, Frame::Create(CrashFrame::kPath, options));
  history_.Acknowledge(Durability::kMachine);
  return absl::OkStatus();
}

absl::Status Life::OpenWriter() {
  staged_ = committed_;
  edited_ = false;
  Begin("open for writing");
  CAIRN_ASSIGN_OR_RETURN(writer_, frame_->OpenWriter());
  CAIRN_ASSIGN_OR_RETURN(const Snapshot snapshot, writer_->snapshot());
  Check(snapshot, ContentOf(*committed_), "opened for writing");
  return absl::OkStatus();
}

absl::Status Life::Step() { return Do(Choose()); }

Life::Action Life::Choose() {
  const auto& weights = setup_.only_appends ? kAppending : kOften;
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

absl::Status Life::DoEdit(Action action) {
  Begin("edit");
  switch (action) {
    case Action::kSetMetalayer:
    case Action::kSetVlmeta:
    case Action::kDeleteVlmeta:
      return EditLayers(action);
    default:
      return EditChunks(action);
  }
}

absl::Status Life::EditChunks(Action action) {
  const int64_t at = AnyChunk();
  const auto chunksize = static_cast<size_t>(setup_.chunksize);
  const auto nbytes = static_cast<size_t>(staged_->nbytes());
  switch (action) {
    case Action::kInsert:
    case Action::kUpdate: {
      const NewChunk chunk = {.items = Noise(chunksize)};
      if (action == Action::kInsert) {
        return Edit([&](FrameModel& model) { return model.Insert(at, chunk); },
                    [&](Writer& writer) { return writer.InsertChunk(at, chunk.items); });
      }
      return Edit([&](FrameModel& model) { return model.Update(at, chunk); },
                  [&](Writer& writer) { return writer.UpdateChunk(at, chunk.items); });
    }
    case Action::kDelete:
    case Action::kDeleteAll: {
      const bool all = action == Action::kDeleteAll;
      const int64_t first = all ? 0 : at;
      const int64_t count = all ? staged_->nchunks() : 1 + static_cast<int64_t>(dice_.Below(3));
      return Edit([&](FrameModel& model) { return model.Delete(first, count); },
                  [&](Writer& writer) { return writer.DeleteChunks(first, count); });
    }
    case Action::kReorder: {
      std::vector<int64_t> order(staged_->chunks().size());
      std::iota(order.begin(), order.end(), 0);
      for (size_t i = 1; i < order.size(); ++i) std::swap(order[i], order[dice_.Below(i + 1)]);
      return Edit([&](FrameModel& model) { return model.Reorder(order); },
                  [&](Writer& writer) { return writer.Reorder(order); });
    }
    case Action::kUpdateItems: {
      const size_t start = dice_.Below(nbytes + 1);
      const Buffer items = Noise(dice_.Below(std::min<size_t>(nbytes - start, 200) + 1));
      const auto first = static_cast<int64_t>(start);
      return Edit([&](FrameModel& model) { return model.UpdateItems(first, items); },
                  [&](Writer& writer) { return writer.UpdateItems(first, items); });
    }
    default: {
      const size_t limit = dice_.Percent(50) ? 12 : setup_.most_bytes;
      const size_t size = dice_.Percent(30) ? chunksize : 1 + dice_.Below(limit);
      const Buffer items = Noise(size);
      return Edit([&](FrameModel& model) { return model.Append(items); },
                  [&](Writer& writer) { return writer.Append(items); });
    }
  }
}

absl::Status Life::EditLayers(Action action) {
  const std::string name(1, static_cast<char>('a' + dice_.Below(3)));
  const Buffer content =
      Noise(action == Action::kSetMetalayer ? setup_.metalayer_size : dice_.Below(60));
  if (action == Action::kSetMetalayer) {
    return Edit([&](FrameModel& model) { return model.SetMetalayer("m", content); },
                [&](Writer& writer) { return writer.SetMetalayer("m", content); });
  }
  if (action == Action::kSetVlmeta) {
    return Edit([&](FrameModel& model) { return model.SetVlmeta(name, content); },
                [&](Writer& writer) { return writer.SetVlmeta(name, content); });
  }
  return Edit([&](FrameModel& model) { return model.DeleteVlmeta(name); },
              [&](Writer& writer) { return writer.DeleteVlmeta(name); });
}

// Edits that must be refused are not tried: other tests do that.
absl::Status Life::Edit(const std::function<Verdict(FrameModel&)>& model,
                        const std::function<absl::Status(Writer&)>& edit) {
  FrameModel after = *staged_;
  if (!model(after).ok()) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(edit(*writer_));
  staged_ = std::move(after);
  edited_ = true;
  return absl::OkStatus();
}

absl::Status Life::Commit(Durability durability) {
  Begin(durability == Durability::kProcess ? "process commit" : "commit");
  history_.Add(*staged_);
  CAIRN_ASSIGN_OR_RETURN(const Snapshot snapshot, writer_->Commit(durability));
  const bool sparse = setup_.layout == Layout::kSparse;
  history_.Acknowledge(sparse ? Durability::kMachine : durability);
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
  CAIRN_RETURN_IF_ERROR(frame_->Compact().status());
  history_.Acknowledge(Durability::kMachine);
  Check(frame_->snapshot(), ContentOf(*committed_), "compacted");
  return OpenWriter();
}

absl::Status Life::Reclaim() {
  if (edited_) return absl::OkStatus();
  Begin("reclaim");
  const auto report = writer_->Reclaim();
  if (absl::IsUnimplemented(report.status())) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(report.status());
  history_.Acknowledge(Durability::kMachine);
  return absl::OkStatus();
}

void Life::Rollback() {
  Begin("rollback");
  writer_->Rollback();
  staged_ = committed_;
  edited_ = false;
}

// What a reader holds stays as it is, whatever the writer does meanwhile.
void Life::Hold() {
  if (held_.has_value()) {
    Check(*held_, held_content_, "held by a reader");
    held_.reset();
    return;
  }
  held_ = frame_->snapshot();
  held_content_ = ContentOf(*committed_);
  Check(*held_, held_content_, "seen by a reader");
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
  return refuses(writer_->Append(items)) && refuses(writer_->SetVlmeta("a", items)) &&
         refuses(writer_->DeleteChunks(0, 0)) && refuses(writer_->snapshot().status()) &&
         refuses(writer_->Commit().status()) && refuses(writer_->Checkpoint()) &&
         refuses(writer_->Reclaim().status()) && refuses(writer_->Close());
}

Buffer Life::Noise(size_t size) {
  Buffer bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(dice_.Next() >> 32);
  return bytes;
}

}  // namespace cairn::test
