// Crashes of processes that share a collection: one writer dies or fails while others go on, and
// then the power goes. What is found is one commit of all members, the last acknowledged one or a
// later one, and no writer loses or mixes what another one has committed.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "cairn/collection.h"
#include "cairn/frame.h"
#include "tests/support/dice.h"
#include "tests/support/no_threads.h"
#include "tests/support/search.h"
#include "tests/support/simulated_disk.h"
#include "tests/support/status.h"

namespace cairn::test {
namespace {

using Column = std::vector<int32_t>;
using Columns = std::map<std::string, Column>;  // by the names of members

constexpr std::array<const char*, 5> kNames = {"/a", "/b", "/g/c", "/g/d", "/h"};

class SharedLife {
 public:
  // Syncs of files whose names end with `unsynced` do nothing.
  explicit SharedLife(uint64_t seed, std::string unsynced = "")
      : dice_(seed), unsynced_(std::move(unsynced)), disk_(std::make_unique<SimulatedDisk>(seed)) {
    EXPECT_TRUE(IsOk(Collection::Create("c", Options())));
    states_[0] = {};
  }

  int64_t looks() const { return looks_; }
  int64_t deaths() const { return deaths_; }
  int64_t commits() const { return commits_; }

  // Returns the first violation; empty: there is none.
  std::string Run() {
    for (int round = 0; round < 3 && goes_on(); ++round) {
      Judge();
      // Now and then the ledger becomes so long that it gets a checkpoint.
      is_long_ = dice_.Percent(10);
      for (int i = 0; i < 120 && goes_on(); ++i) Step(dice_.Below(parties_.size()));
      for (int i = 0; i < 6 && goes_on(); ++i) LookAtPowerCut();
      for (Party& party : parties_) Kill(party);
      disk_->Judge({});
      if (goes_on() && dice_.Percent(60)) {
        disk_ = disk_->PowerLoss(dice_);
        disk_->Revive();
      }
      Adopt("after a crash", true);
    }
    return violation_;
  }

 private:
  struct Party {
    std::optional<Collection> collection = {};
    std::optional<CollectionWriter> writer = {};
    std::map<std::string, std::optional<Column>> staged = {};  // nothing: is removed
    std::set<std::string> added = {};
    std::set<std::string> removed = {};
    std::optional<uint64_t> left = {};  // operations until it dies
    bool is_dead = false;
    std::optional<CollectionSnapshot> read = {};
  };

  CollectionOptions Options() const {
    CollectionOptions options;
    options.members.file_system = disk_->root();
    return options;
  }

  bool goes_on() const { return violation_.empty() && !is_over_; }

  void Violate(const std::string& what) {
    if (violation_.empty()) violation_ = what;
  }

  // Operations of a party that dies fail from one on: it may be a sync, after which the disk lacks
  // what the cache has.
  void Judge() {
    disk_->Judge([this](const DiskOperation& operation) -> Fate {
      const bool is_sync = operation.kind == DiskOperation::Kind::kSync;
      if (is_sync && !unsynced_.empty() && operation.name.ends_with(unsynced_)) {
        return {.kind = Fate::Kind::kSkip};
      }
      if (actor_ == nullptr || !actor_->left.has_value()) return {};
      if (*actor_->left > 0) {
        --*actor_->left;
        return {};
      }
      const bool first = !std::exchange(actor_->is_dead, true);
      if (is_sync && !first) return {.kind = Fate::Kind::kSkip};
      const bool is_write = first && operation.kind == DiskOperation::Kind::kWrite;
      return {.kind = Fate::Kind::kFail, .written = is_write ? SomeSectors(operation, dice_) : 0};
    });
  }

  void Kill(Party& party) {
    actor_ = &party;
    if (party.writer.has_value()) {
      party.left = 0;
      party.is_dead = true;
    }
    party = {};
    actor_ = nullptr;
  }

  void Step(size_t number) {
    Party& party = parties_[number];
    actor_ = &party;
    Act(party);
    actor_ = nullptr;
    if (!party.is_dead) return;
    ++deaths_;
    Kill(party);
    // After a sync that failed, the cache may forget what it has. Readers may have seen that.
    if (dice_.Percent(30)) {
      for (Party& other : parties_) other.read.reset();
      disk_->Evict();
      if (TellsDamage()) is_over_ = true;
    }
    // Its last commit may stand or not.
    Adopt("after a death", false);
  }

  void Act(Party& party) {
    if (!party.writer.has_value()) return Open(party);
    if (!party.left.has_value() && dice_.Percent(4)) party.left = dice_.Below(25);
    const uint64_t what = dice_.Below(100);
    if (what < 55) {
      const size_t first = dice_.Below(kNames.size());
      const size_t end = is_long_ ? kNames.size() : first + 1;
      for (size_t i = first; i < end && !party.is_dead; ++i) Edit(party, kNames[i]);
    } else if (what < 80) {
      Commit(party);
    } else if (what < 87) {
      party.writer->Rollback();
      ForgetStaged(party);
    } else if (what < 90) {
      if (!party.staged.empty()) return;
      const absl::Status closed = party.writer->Close();
      if (party.is_dead) return;
      if (!closed.ok()) return Violate("close: " + closed.ToString());
      party.writer.reset();
      NoteClose();
    } else {
      Read(party);
    }
  }

  void Open(Party& party) {
    absl::StatusOr<Collection> collection = Collection::Open("c", Options());
    if (!collection.ok()) return Violate("open: " + collection.status().ToString());
    CollectionWriterOptions options = {.shared = true};
    if (dice_.Percent(10)) party.left = dice_.Below(60);
    if (dice_.Percent(20)) options.keep_commits = dice_.Below(4);
    absl::StatusOr<CollectionWriter> writer = collection->OpenWriter(options);
    if (party.is_dead) return;
    party.collection.emplace(*std::move(collection));
    if (absl::IsFailedPrecondition(writer.status()) && options.keep_commits.has_value()) return;
    if (!writer.ok()) return Violate("writer: " + writer.status().ToString());
    party.writer.emplace(*std::move(writer));
  }

  bool IsHeldByOther(const Party& party, const std::string& name) const {
    return std::ranges::any_of(parties_, [&](const Party& other) {
      const auto staged = other.staged.find(name);
      return &other != &party && staged != other.staged.end();
    });
  }

  // An error must have a reason.
  void Expect(const absl::Status& status, const Party& party, const std::string& name) {
    if (status.ok() || party.is_dead) return;
    if (absl::IsUnavailable(status) && IsHeldByOther(party, name)) return;
    Violate(absl::StrCat(name, ": ", status.ToString()));
  }

  Column Noise() {
    Column values(1 + dice_.Below(is_long_ && dice_.Percent(80) ? 16000
                                  : dice_.Percent(15)           ? 25000
                                                                : 60));
    for (int32_t& value : values) value = static_cast<int32_t>(dice_.Below(UINT32_MAX));
    return values;
  }

  void Edit(Party& party, const std::string& name) {
    const Columns& newest = states_.rbegin()->second;
    const auto staged = party.staged.find(name);
    std::optional<Column> now;
    if (staged != party.staged.end()) {
      now = staged->second;
    } else if (const auto there = newest.find(name); there != newest.end()) {
      now = there->second;
    }
    if (!now.has_value()) {
      CreateOptions options;
      options.compression.typesize = 4;
      options.array = {.shape = {0}, .chunkshape = {1000}, .dtype = "<i4"};
      absl::StatusOr<MemberWriter> added = party.writer->Add(name, options);
      if (!added.ok()) return Expect(added.status(), party, name);
      party.added.insert(name);
      Column values = Noise();
      const absl::Status appended = added->AppendSlices(0, values);
      if (!appended.ok()) return Expect(appended, party, name);
      party.staged[name] = std::move(values);
      return;
    }
    if (dice_.Percent(10)) {
      const absl::Status removed = party.writer->Remove(name);
      if (!removed.ok()) return Expect(removed, party, name);
      if (party.added.erase(name) == 0) party.removed.insert(name);
      party.staged[name] = std::nullopt;
      if (!party.removed.contains(name)) party.staged.erase(name);
      return;
    }
    absl::StatusOr<MemberWriter> edited = party.writer->Edit(name);
    if (!edited.ok()) return Expect(edited.status(), party, name);
    party.staged[name] = *now;  // it is held from here on
    Column values = Noise();
    absl::Status changed;
    if (now->size() > 30000 || dice_.Percent(10)) {
      now->resize(1 + dice_.Below(50));
      const int64_t shape[] = {static_cast<int64_t>(now->size())};
      changed = edited->ResizeArray(shape);
    } else {
      now->insert(now->end(), values.begin(), values.end());
      changed = edited->AppendSlices(0, values);
    }
    if (!changed.ok()) return Expect(changed, party, name);
    party.staged[name] = *std::move(now);
  }

  void Commit(Party& party) {
    Columns next = states_.rbegin()->second;
    for (const auto& [name, values] : party.staged) {
      if (values.has_value()) {
        next[name] = *values;
      } else {
        next.erase(name);
      }
    }
    unknown_ = next;
    const absl::StatusOr<uint64_t> number = party.writer->Commit();
    if (party.is_dead) return;
    unknown_.reset();
    if (absl::IsAborted(number.status()) && !party.added.empty()) {
      party.writer->Rollback();
    } else if (!number.ok()) {
      return Violate("commit: " + number.status().ToString());
    } else {
      if (*number > number_ + 1) return Violate("the number of a commit");
      ++commits_;
      states_[*number] = next;
      number_ = acknowledged_ = *number;
    }
    ForgetStaged(party);
  }

  static void ForgetStaged(Party& party) {
    party.staged.clear();
    party.added.clear();
    party.removed.clear();
  }

  // The last writer that closes may list checkpoints, in commits of their own.
  void NoteClose() {
    absl::StatusOr<Collection> collection = Collection::Open("c", Options());
    if (!collection.ok()) return Violate("closed: " + collection.status().ToString());
    const uint64_t found = collection->snapshot().number();
    for (uint64_t number = number_ + 1; number <= found; ++number) {
      states_[number] = states_[number_];
    }
    number_ = acknowledged_ = found;
    Check(collection->snapshot(), "closed");
  }

  void Read(Party& party) {
    if (party.read.has_value()) Check(*party.read, "reader");
    if (dice_.Percent(40)) return;
    absl::StatusOr<CollectionSnapshot> snapshot = party.collection->Refresh();
    if (!snapshot.ok()) return Violate("refresh: " + snapshot.status().ToString());
    if (snapshot->number() != number_) return Violate("a reader does not see the last commit");
    party.read.emplace(*std::move(snapshot));
    Check(*party.read, "reader");
    ReadHistory(*party.collection);
  }

  // Reads the commits that are kept.
  void ReadHistory(Collection& collection) {
    const absl::StatusOr<std::vector<CommitInfo>> history = collection.History();
    if (!history.ok()) return Violate("history: " + history.status().ToString());
    CheckHistory(*history);
    for (const CommitInfo& commit : *history) {
      const absl::StatusOr<CollectionSnapshot> state = collection.OpenCommit(commit.number);
      if (!state.ok()) return Violate("history: " + state.status().ToString());
      Check(*state, "history");
    }
  }

  // All commits that changed content are listed, and of the others the newest at most.
  void CheckHistory(const std::vector<CommitInfo>& history) {
    for (size_t i = 1; i < history.size(); ++i) {
      const CommitInfo& commit = history[i];
      const uint64_t before = history[i - 1].number;
      for (uint64_t number = before + 1; number < commit.number; ++number) {
        if (states_[number] != states_[before]) Violate("the history lacks a commit");
      }
      const bool is_told =
          !commit.added.empty() || !commit.removed.empty() || !commit.changed.empty();
      if (!is_told && i + 1 < history.size()) Violate("the history has a commit without content");
    }
  }

  void Check(const CollectionSnapshot& snapshot, const std::string& when) {
    const auto expected = states_.find(snapshot.number());
    if (expected == states_.end()) return Violate(when + ": a commit that was not made");
    std::vector<std::string> names;
    for (const auto& [name, values] : expected->second) names.push_back(name);
    if (snapshot.Members() != names) return Violate(when + ": other members");
    for (const auto& [name, values] : expected->second) {
      const absl::StatusOr<Snapshot> member = snapshot.OpenMember(name);
      if (!member.ok()) return Violate(when + ": " + member.status().ToString());
      Column found(static_cast<size_t>(member->info().nitems));
      const absl::Status read = member->ReadItems(0, found);
      if (!read.ok()) return Violate(when + ": " + read.ToString());
      if (found != values) return Violate(when + ": another content of " + name);
    }
  }

  // Finds out where history goes on. `all_died`: what is not durable may be gone.
  void Adopt(const std::string& when, bool all_died) {
    if (!goes_on()) return;
    if (unknown_.has_value()) states_[number_ + 1] = *unknown_;
    // A writer that died alone may have listed checkpoints.
    states_.try_emplace(number_ + 1, states_[number_]);
    states_.try_emplace(number_ + 2, states_.rbegin()->second);
    unknown_.reset();
    Look(when, true);
    if (all_died) acknowledged_ = number_;
  }

  // A file whose sync failed may be damaged while the machine runs on.
  bool TellsDamage() const {
    const absl::StatusOr<Collection> collection = Collection::Open("c", Options());
    if (!collection.ok()) return absl::IsDataLoss(collection.status());
    const CollectionSnapshot snapshot = collection->snapshot();
    return std::ranges::any_of(snapshot.Members(), [&](const std::string& name) {
      const absl::StatusOr<Snapshot> member = snapshot.OpenMember(name);
      if (!member.ok()) return absl::IsDataLoss(member.status());
      Column values(static_cast<size_t>(member->info().nitems));
      return absl::IsDataLoss(member->ReadItems(0, values));
    });
  }

  void LookAtPowerCut() {
    std::unique_ptr<SimulatedDisk> disk = std::move(disk_);
    disk_ = disk->PowerLoss(dice_);
    disk_->Revive();
    Look("power cut", false);
    disk_ = std::move(disk);
  }

  void Look(const std::string& when, bool goes_on) {
    ++looks_;
    absl::StatusOr<Collection> collection = Collection::Open("c", Options());
    if (!collection.ok()) return Violate(when + ": " + collection.status().ToString());
    const uint64_t found = collection->snapshot().number();
    if (found < acknowledged_) return Violate(when + ": an acknowledged commit is lost");
    Check(collection->snapshot(), when);
    ReadHistory(*collection);
    if (!goes_on) return;
    number_ = found;
    states_.erase(states_.upper_bound(number_), states_.end());
  }

  const NoThreads no_threads_;  // for the disk
  Dice dice_;
  const std::string unsynced_;
  std::unique_ptr<SimulatedDisk> disk_;
  std::array<Party, 3> parties_ = {};
  Party* actor_ = nullptr;
  std::map<uint64_t, Columns> states_;  // by number
  std::optional<Columns> unknown_;      // after a commit whose writer died in it
  uint64_t number_ = 0;                 // of the newest commit
  uint64_t acknowledged_ = 0;           // what a power cut must leave
  bool is_long_ = false;
  int64_t looks_ = 0;
  int64_t deaths_ = 0;
  int64_t commits_ = 0;
  bool is_over_ = false;
  std::string violation_;
};

TEST(CollectionSharingCrashTest, WritersWhoShareKeepWhatEachHasCommitted) {
  int64_t looks = 0;
  int64_t deaths = 0;
  int64_t commits = 0;
  ForEachSeed(300, [&](uint64_t seed) {
    if (testing::Test::HasFailure()) return;
    SCOPED_TRACE(testing::Message() << "CAIRN_CRASH_RUN=" << seed);
    SharedLife life(seed);
    EXPECT_EQ(life.Run(), "");
    looks += life.looks();
    deaths += life.deaths();
    commits += life.commits();
  });
  EXPECT_GT(deaths, 0);
  std::printf("%s\n", absl::StrCat(looks, " states, ", deaths, " deaths beside others, ", commits,
                                   " commits")
                          .c_str());
}

}  // namespace
}  // namespace cairn::test
