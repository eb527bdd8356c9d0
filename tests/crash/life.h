// A process that works on a frame until it ends: opens it, edits, commits, at random.
#ifndef CAIRN_TESTS_CRASH_LIFE_H_
#define CAIRN_TESTS_CRASH_LIFE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/frame.h"
#include "tests/crash/history.h"
#include "tests/crash/opened_frame.h"
#include "tests/support/dice.h"
#include "tests/support/frame_model.h"
#include "tests/support/simulated_disk.h"

namespace cairn::test {

// The frame that a run works on.
struct CrashFrame {
  std::string name;  // for messages
  Layout layout = Layout::kContiguous;
  FingerprintType fingerprint = FingerprintType::k64Bit;
  int32_t chunksize = 64;
  size_t metalayer_size = 8;  // past 500 the header is longer than a sector
  size_t most_bytes = 1200;   // of one append
  bool only_appends = false;  // and commits; no checkpoint but those of the engine
  bool one_sector = false;    // what each commit adds: then a crash may keep any of them
  // Commits have a little each and are durable, so many in a row that the space ahead is zeroed.
  bool small_commits = false;
  bool line = false;            // an n-dimensional array, of one dimension
  bool durable_reader = false;  // what a reader finds that asks for it must survive
  bool reuses = false;          // much dies, and there are many checkpoints
  bool gradual = false;         // those that the engine makes go step by step
  bool shrinks = false;         // and then much dies at once
  bool summaries = false;       // of the journal are often made
  bool free_sizes = false;      // of chunks, and the chunksize changes
  bool late_size = false;       // the first chunk sets the chunksize
  frame::ReplayChecks rules = {};

  // Its checkpoints are made during commits.
  static CrashFrame Gradual() {
    return {
        .name = "Gradual", .chunksize = 400, .most_bytes = 1500, .reuses = true, .gradual = true};
  }

  // Many of them go down.
  static CrashFrame Shrinking() {
    CrashFrame frame = Gradual();
    frame.name = "Shrinking";
    frame.shrinks = true;
    return frame;
  }

  // Chunk files come and go beside readers of several older indexes.
  static CrashFrame SparseReusing() {
    return {.name = "SparseReusing", .layout = Layout::kSparse, .reuses = true};
  }

  // Readers skip what is summed up.
  static CrashFrame Summaries(bool gradual) {
    CrashFrame frame = Gradual();
    frame.name = gradual ? "GradualSummaries" : "Summaries";
    frame.gradual = gradual;
    frame.summaries = true;
    return frame;
  }

  // The chunksize changes while there are no chunks, and chunks of other sizes are inserted.
  static CrashFrame FreeSizes() {
    return {.name = "FreeSizes",
            .chunksize = 400,
            .reuses = true,
            .free_sizes = true,
            .late_size = true};
  }

  OpeningRules opening() const {
    return {.replay = rules, .gradual = gradual, .summaries = summaries};
  }
};

inline void PrintTo(const CrashFrame& frame, std::ostream* out) { *out << frame.name; }

// The call that is under way, for bugs that are planted in one of its steps.
struct Call {
  std::string name = {};
  int syncs = 0;  // that it made so far
};

class Life {
 public:
  // All outlive it.
  Life(const CrashFrame& frame, SimulatedDisk& disk, History& history, Dice& dice, Call& call)
      : setup_(frame), disk_(disk), history_(history), dice_(dice), call_(call) {}

  // Makes the frame where history has none, and opens it for writing.
  absl::Status Start();
  // Does one thing. After an error the life is over.
  absl::Status Step();
  // Returns what the engine did wrong, or nothing while all is well. An error of a call while
  // nothing fails is wrong too. The caller knows of that.
  const std::string& complaint() const { return complaint_; }
  // After an error the writer must refuse everything.
  bool RefusesEverything();

 private:
  enum class Action {
    kAppend,
    kInsert,
    kUpdate,
    kDelete,
    kReorder,
    kWriteItems,
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
    kRecover,
    kOverwrite,
    kHold,
    kRefresh,
  };
  Action Choose();
  absl::Status Do(Action action);
  absl::Status DoEdit(Action action);
  absl::Status EditChunks(Action action);
  absl::Status EditSizes();
  absl::Status EditLine(Action action);
  absl::Status EditLayers(Action action);

  absl::Status Create(bool overwrite);
  absl::Status OpenWriter();
  absl::Status Edit(const std::function<Verdict(FrameModel&)>& model,
                    const std::function<absl::Status(Writer&)>& edit);
  absl::StatusOr<bool> Prepare(Durability durability);
  absl::Status Commit(Durability durability);
  absl::Status Checkpoint();
  absl::Status CloseAndReopen();
  absl::Status DropAndReopen();
  absl::Status Compact();
  absl::Status Reclaim();
  absl::Status RecoverFrame();
  absl::Status Overwrite();
  void Rollback();
  void Hold();
  absl::Status Refresh();
  absl::Status RefreshDurably(uint64_t newest);
  void Begin(const char* call) { call_ = {.name = call}; }
  void Check(const Snapshot& snapshot, uint64_t content, const char* what);
  Buffer Noise(size_t size);
  absl::Status AppendUpToSector();
  int64_t AnyChunk() { return static_cast<int64_t>(dice_.Below(staged_->chunks().size() + 1)); }

  const CrashFrame& setup_;
  SimulatedDisk& disk_;
  History& history_;
  Dice& dice_;
  Call& call_;
  std::string complaint_;
  std::optional<OpenedFrame> frame_;
  std::optional<Writer> writer_;
  std::optional<FrameModel> committed_;
  std::optional<FrameModel> staged_;
  bool edited_ = false;
  int64_t end_ = 0;       // of the journal
  int64_t overhead_ = 0;  // of a record that holds items
  // A reader that follows the writer, and states that others continue reading.
  std::optional<OpenedFrame> reader_;
  std::optional<OpenedFrame> durable_reader_;
  struct Held {
    Snapshot snapshot;
    uint64_t content = 0;
  };
  std::vector<Held> held_;
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_CRASH_LIFE_H_
