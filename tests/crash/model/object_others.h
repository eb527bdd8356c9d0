// Actors that read a frame in an object store, collect its garbage, or replace it.
#ifndef CAIRN_TESTS_CRASH_MODEL_OBJECT_OTHERS_H_
#define CAIRN_TESTS_CRASH_MODEL_OBJECT_OTHERS_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/crash/model/object_wire.h"
#include "tests/crash/model/object_writer.h"

namespace cairn::model {

// Opens the frame, and polls it. Its snapshots name chunks that must stay for the grace.
class ObjectReader final : public ObjectActor {
 public:
  using ObjectActor::ObjectActor;

  bool done() const override { return false; }
  void AppendKey(std::vector<int64_t>& key) const override;
  // Returns what is wrong with the states that it has seen, or nothing.
  std::string Examine() const;

 private:
  struct Snapshot {
    std::set<int64_t> chunks;
    int64_t safe_until = 0;
  };

  void Act() override;
  void Receive(Outcome /*outcome*/) override {}
  void Open();
  void BeginPoll();
  void EndPoll();

  std::optional<VisibleFrame> view_;
  std::vector<int64_t> before_;  // commits at its last poll, of this frame
  int64_t frame_before_ = 0;
  std::vector<int64_t> there_;  // commits when this poll began
  int64_t frame_there_ = 0;
  int64_t seen_ = 0;
  bool polling_ = false;
  std::vector<Snapshot> snapshots_;
  std::string harm_;
};

// Collects garbage, again and again. `calm`: it dies rarely.
class ObjectCollector final : public ObjectActor {
 public:
  using ObjectActor::ObjectActor;

  bool done() const override { return false; }
  void AppendKey(std::vector<int64_t>& key) const override;

 private:
  enum class Phase { kList, kOpen, kFollow, kFinish, kRemove };

  void Act() override;
  void Receive(Outcome /*outcome*/) override {
    phase_ = phase_ == Phase::kFinish ? Phase::kRemove : Phase::kList;
  }
  void List();
  void Finish();
  void Remove();
  bool NeedsRecord(int64_t position) const;
  void TakeDue();

  Phase phase_ = Phase::kList;
  Bucket listed_;
  int64_t list_time_ = 0;
  int64_t stalled_until_ = 0;
  std::optional<VisibleFrame> view_;
  std::set<int64_t> named_;
  BucketRequest removal_;
};

// Puts another frame in the place of this one, once.
class ObjectReplacer final : public ObjectActor {
 public:
  ObjectReplacer(ObjectWorld& world, CommitLedger& ledger) : ObjectActor(world), ledger_(ledger) {}

  bool done() const override { return phase_ == Phase::kDone; }
  void AppendKey(std::vector<int64_t>& key) const override {
    key.push_back(static_cast<int64_t>(phase_));
  }
  // Returns true if it replaces the one frame by the other.
  bool Replaces(int64_t old, int64_t by) const {
    return view_.has_value() && view_->index.frame == old && new_ == by;
  }

 private:
  enum class Phase { kOpen, kFollow, kSwap, kDone };

  void Act() override;
  void Receive(Outcome outcome) override;
  void Finish();

  CommitLedger& ledger_;
  Phase phase_ = Phase::kOpen;
  std::optional<VisibleFrame> view_;
  int64_t new_ = 0;
};

}  // namespace cairn::model

#endif  // CAIRN_TESTS_CRASH_MODEL_OBJECT_OTHERS_H_
