// A writer of a frame in an object store, among others.
#ifndef CAIRN_TESTS_CRASH_MODEL_OBJECT_WRITER_H_
#define CAIRN_TESTS_CRASH_MODEL_OBJECT_WRITER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "tests/crash/model/object_wire.h"

namespace cairn::model {

// The answers to writers about their commits.
struct CommitLedger {
  enum class Fate { kStaged, kMade, kUnknown, kAborted };
  std::map<int64_t, Fate> fates;
  std::map<int64_t, int64_t> frames;  // the frame that a commit was made to
  // Frames, by replacements that have ended, with the records that were there by then.
  std::map<int64_t, std::set<int64_t>> replaced;
  bool late = false;  // another one was acknowledged to one of these
};

class ObjectWriter final : public ObjectActor {
 public:
  ObjectWriter(ObjectWorld& world, CommitLedger& ledger, int commits)
      : ObjectActor(world), ledger_(ledger), left_(commits) {}

  bool done() const override { return phase_ == Phase::kDone; }
  void AppendKey(std::vector<int64_t>& key) const override;
  // Its machine stood still.
  void Sleep(int64_t ticks) { slept_ += ticks; }

 private:
  enum class Phase {
    kOpen,
    kFollow,
    kIdle,
    kStage,
    kPut,
    kFence,
    kCompare,
    kLook,
    kCheckpoint,
    kRenew,
    kDone
  };

  void Act() override;
  void Receive(Outcome outcome) override;
  int64_t Now() const { return world_.now - (world_.rules.counts_sleep ? 0 : slept_); }
  void Open();
  void Follow();
  void EndOrRenew();
  void Begin();
  void BeginClose();
  void Stage();
  void Put();
  void Fence();
  void Compare();
  void Look();
  void Checkpoint();
  void Acknowledge();
  void Abort();
  void Remove();
  int64_t ChooseNumber() const;
  CommitObject Record() const;

  CommitLedger& ledger_;
  int left_;
  Phase phase_ = Phase::kOpen;
  std::optional<VisibleFrame> view_;
  bool opening_ = true;
  int64_t validated_ = 0;
  int64_t validating_ = 0;
  int64_t slept_ = 0;
  // The commit in the making; none: commit 0.
  CommitObject edit_;
  int64_t staged_at_ = 0;
  bool aborted_ = false;      // once; it is tried again
  bool checkpoints_ = false;  // after it
  bool removing_ = false;
  std::set<int64_t> met_;  // numbers that others had
};

}  // namespace cairn::model

#endif  // CAIRN_TESTS_CRASH_MODEL_OBJECT_WRITER_H_
