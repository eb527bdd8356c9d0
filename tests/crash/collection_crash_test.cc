// Crashes of processes that write collections: what is found afterwards is one commit of all
// members, the last acknowledged one or a later one. Members that are opened alone show a state
// that they had after a commit. Readers see their state to the end, and so does who opens an older
// commit that is kept.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
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

using Values = std::vector<int32_t>;
using Members = std::map<std::string, Values>;  // by name

constexpr size_t kMostValues = 40000;

absl::StatusOr<Values> ValuesOf(const absl::StatusOr<Snapshot>& member) {
  if (!member.ok()) return member.status();
  Values values(static_cast<size_t>(member->info().nitems));
  const absl::Status read = member->ReadItems(0, values);
  if (!read.ok()) return read;
  return values;
}

// A collection on a disk, and processes that write it one after the other.
class CollectionLife {
 public:
  using Judge = SimulatedDisk::JudgeFunction;

  // `judge` says what happens to operations until a process dies.
  explicit CollectionLife(uint64_t seed, Judge judge = {})
      : dice_(seed), judge_(std::move(judge)), disk_(std::make_unique<SimulatedDisk>(seed)) {
    EXPECT_TRUE(IsOk(Collection::Create("c", Options())));
    states_[0] = {};
  }

  // Returns how many states before the newest were read.
  int64_t older() const { return older_; }
  // Returns how many states that a crash may leave were looked at.
  int64_t looks() const { return looks_; }
  // Returns the first violation; empty: there is none.
  std::string Run() {
    for (int process = 0; process < 5 && violation_.empty(); ++process) {
      DieSoon(400);
      Write().IgnoreError();  // it dies
      ExamineImages();
      Crash();
      Examine("before a writer");
      if (dice_.Percent(50)) DieInRecovery();
      Recover();
    }
    return violation_;
  }

 private:
  struct Reader {
    uint64_t number = 0;
    CollectionSnapshot snapshot;
  };

  CollectionOptions Options() const {
    CollectionOptions options;
    options.members.file_system = disk_->root();
    return options;
  }

  // Some writers keep older commits.
  CollectionWriterOptions Writing() {
    CollectionWriterOptions options;
    if (dice_.Percent(50)) options.keep_commits = dice_.Percent(30) ? 0 : dice_.Below(12);
    return options;
  }

  void Violate(const std::string& what) {
    if (violation_.empty()) violation_ = what;
  }

  // The process dies within this number of operations.
  void DieSoon(uint64_t operations) {
    const int64_t last = disk_->operations() + 1 + static_cast<int64_t>(dice_.Below(operations));
    disk_->Judge([this, last](const DiskOperation& operation) -> Fate {
      if (operation.number < last) return judge_ ? judge_(operation) : Fate{};
      const bool is_write = operation.kind == DiskOperation::Kind::kWrite;
      return {.kind = Fate::Kind::kDie, .written = is_write ? SomeSectors(operation, dice_) : 0};
    });
  }

  absl::Status Write() {
    absl::StatusOr<Collection> collection = Collection::Open("c", Options());
    if (!collection.ok()) return collection.status();
    std::vector<Reader> readers;
    for (int round = 0; round < 3; ++round) {
      absl::StatusOr<CollectionWriter> writer = collection->OpenWriter(Writing());
      if (!writer.ok()) return writer.status();
      for (int i = 0; i < 15; ++i) {
        if (const absl::Status status = MakeCommit(*writer); !status.ok()) return status;
        if (const absl::Status status = Read(*collection, readers); !status.ok()) return status;
      }
      if (dice_.Percent(30)) continue;
      states_[number_ + 1] = states_[number_];  // lists checkpoints
      const absl::StatusOr<std::vector<CommitInfo>> before = collection->History();
      if (!before.ok()) return before.status();
      if (const absl::Status status = writer->Close(); !status.ok()) return status;
      const absl::StatusOr<CollectionSnapshot> closed = collection->Refresh();
      if (!closed.ok()) return closed.status();
      number_ = acknowledged_ = closed->number();
      const absl::StatusOr<std::vector<CommitInfo>> after = collection->History();
      if (!after.ok()) return after.status();
      const bool keeps_some = before->size() > 1;
      if (keeps_some && after->front() != before->front()) Violate("closing pushed a commit out");
    }
    return absl::OkStatus();
  }

  absl::Status MakeCommit(CollectionWriter& writer) {
    Members members = states_[number_];
    has_compacted_ = false;
    const uint64_t edits = 1 + dice_.Below(3);
    for (uint64_t i = 0; i < edits; ++i) {
      const std::string letter(1, static_cast<char>('a' + dice_.Below(3)));
      const std::string name = (dice_.Percent(50)   ? "/g/"
                                : dice_.Percent(30) ? "/h"
                                                    : "/") +
                               letter;
      const absl::Status status = Edit(writer, name, members);
      if (!status.ok()) return status;
    }
    if (dice_.Percent(10)) {
      writer.Rollback();
      return absl::OkStatus();
    }
    // Without changes there may be no commit.
    if (members == states_[number_] && !has_compacted_) {
      writer.Rollback();
      return absl::OkStatus();
    }
    states_[number_ + 1] = members;
    const absl::StatusOr<uint64_t> number = writer.Commit();
    if (!number.ok()) return number.status();
    if (*number != number_ + 1) Violate("the number of a commit");
    number_ = acknowledged_ = *number;
    return absl::OkStatus();
  }

  // Values of which large parts do not compress.
  Values Noise() {
    Values values(1 + dice_.Below(dice_.Percent(25) ? 25000 : 50));
    for (int32_t& value : values) value = static_cast<int32_t>(dice_.Below(UINT32_MAX));
    return values;
  }

  absl::Status Edit(CollectionWriter& writer, const std::string& name, Members& members) {
    const auto member = members.find(name);
    if (member == members.end()) {
      CreateOptions options;
      options.compression.typesize = 4;
      options.array = {.shape = {0}, .chunkshape = {1000}, .dtype = "<i4"};
      absl::StatusOr<MemberWriter> added = writer.Add(name, options);
      if (!added.ok()) return added.status();
      if (dice_.Percent(70)) members[name] = Noise();
      if (members[name].empty()) return absl::OkStatus();
      return added->AppendSlices(0, members[name]);
    }
    if (dice_.Percent(12)) {
      members.erase(member);
      return writer.Remove(name);
    }
    if (dice_.Percent(10)) return CopyOrMove(writer, name, members, dice_);
    if (dice_.Percent(6)) {
      const absl::Status status = writer.Compact(name);
      has_compacted_ = has_compacted_ || status.ok();
      return IgnoreStaged(status);
    }
    absl::StatusOr<MemberWriter> edited = writer.Edit(name);
    if (!edited.ok()) return edited.status();
    Values& values = member->second;
    Values noise = Noise();
    if (values.size() > kMostValues || dice_.Percent(10)) {
      values.resize(dice_.Percent(30) ? 0 : 1 + dice_.Below(100));
      const int64_t shape[] = {static_cast<int64_t>(values.size())};
      return edited->ResizeArray(shape);
    }
    if (values.empty() || dice_.Percent(50)) {
      values.insert(values.end(), noise.begin(), noise.end());
      return edited->AppendSlices(0, noise);
    }
    const size_t begin = dice_.Below(values.size());
    noise.resize(std::min(noise.size(), values.size() - begin));
    std::ranges::copy(noise, values.begin() + static_cast<int64_t>(begin));
    const int64_t start[] = {static_cast<int64_t>(begin)};
    const int64_t shape[] = {static_cast<int64_t>(noise.size())};
    return edited->WriteBox(start, shape, noise);
  }

  // A member that is edited in the commit is not copied.
  static absl::Status IgnoreStaged(const absl::Status& status) {
    const bool is_staged =
        absl::IsFailedPrecondition(status) && absl::StrContains(status.message(), "staged");
    return is_staged ? absl::OkStatus() : status;
  }

  static absl::Status CopyOrMove(CollectionWriter& writer, const std::string& name,
                                 Members& members, Dice& dice) {
    const std::string to = "/h" + std::string(1, static_cast<char>('a' + dice.Below(2)));
    if (members.contains(to)) return absl::OkStatus();
    const bool moves = dice.Percent(50);
    const absl::Status status = moves ? writer.Move(name, to) : writer.Copy(name, to);
    if (!status.ok()) return IgnoreStaged(status);
    members[to] = members[name];
    if (moves) members.erase(name);
    return status;
  }

  // Readers come and go, and open members late.
  absl::Status Read(Collection& collection, std::vector<Reader>& readers) {
    if (dice_.Percent(30)) {
      absl::StatusOr<CollectionSnapshot> snapshot = collection.Refresh();
      if (!snapshot.ok()) return snapshot.status();
      if (snapshot->number() != number_) Violate("a reader does not see the last commit");
      readers.push_back({.number = number_, .snapshot = *std::move(snapshot)});
    }
    if (!readers.empty() && dice_.Percent(30)) {
      readers.erase(readers.begin() + static_cast<int64_t>(dice_.Below(readers.size())));
    }
    for (const Reader& reader : readers) {
      if (dice_.Percent(20)) CheckMembers(reader.snapshot, "reader");
    }
    return dice_.Percent(10) ? ReadHistory(collection, number_, readers) : absl::OkStatus();
  }

  // Opens some of the commits that are kept. Some readers go on with them.
  absl::Status ReadHistory(Collection& collection, uint64_t newest, std::vector<Reader>& readers) {
    const absl::StatusOr<std::vector<CommitInfo>> history = collection.History();
    if (!history.ok()) return history.status();
    if (history->back().number != newest) Violate("the history does not end with the last commit");
    CheckHistory(*history);
    const uint64_t any =
        history->front().number + dice_.Below(newest - history->front().number + 1);
    const absl::StatusOr<CollectionSnapshot> between = collection.OpenCommit(any);
    if (!between.ok()) return between.status();
    CheckMembers(*between, "history, between");
    for (const CommitInfo& commit : *history) {
      if (dice_.Percent(40)) continue;
      absl::StatusOr<CollectionSnapshot> snapshot = collection.OpenCommit(commit.number);
      if (!snapshot.ok()) return snapshot.status();
      if (snapshot->number() != commit.number) Violate("another commit of the history");
      CheckMembers(*snapshot, "history");
      older_ += commit.number < newest ? 1 : 0;
      if (dice_.Percent(20)) {
        readers.push_back({.number = commit.number, .snapshot = *std::move(snapshot)});
      }
    }
    return absl::OkStatus();
  }

  // All commits that changed content are listed, and of the others the newest at most.
  void CheckHistory(const std::vector<CommitInfo>& history) {
    for (size_t i = 1; i < history.size(); ++i) {
      const CommitInfo& commit = history[i];
      const uint64_t before = history[i - 1].number;
      if (commit.number <= before) return Violate("the history is out of order");
      for (uint64_t number = before + 1; number < commit.number; ++number) {
        if (states_[number] != states_[before]) Violate("the history lacks a commit");
      }
      const bool is_told =
          !commit.added.empty() || !commit.removed.empty() || !commit.changed.empty();
      if (!is_told && states_[commit.number] != states_[before]) {
        Violate("the history does not tell a change");
      }
      if (!is_told && i + 1 < history.size()) Violate("the history has a commit without content");
    }
  }

  void CheckMembers(const CollectionSnapshot& snapshot, const std::string& when) {
    const Members& expected = states_[snapshot.number()];
    std::vector<std::string> names;
    for (const auto& [name, values] : expected) names.push_back(name);
    if (snapshot.Members() != names) return Violate(when + ": other members");
    for (const auto& [name, values] : expected) {
      const absl::StatusOr<Values> found = ValuesOf(snapshot.OpenMember(name));
      if (disk_->dead()) return;
      if (!found.ok()) return Violate(when + ": " + found.status().ToString());
      if (*found != values) return Violate(when + ": another content of " + name);
    }
  }

  // The process is killed, or the power goes.
  void Crash() {
    disk_ = dice_.Percent(40) ? disk_->Clone() : disk_->PowerLoss(dice_);
    disk_->Revive();
  }

  // Looks at some of the states that a power cut may leave.
  void ExamineImages() {
    std::unique_ptr<SimulatedDisk> disk = std::move(disk_);
    for (int i = 0; i < 8 && violation_.empty(); ++i) {
      disk_ = disk->PowerLoss(dice_);
      disk_->Revive();
      Look("power cut");
    }
    disk_ = std::move(disk);
  }

  // History goes on with the state that is found.
  void Examine(const std::string& when) {
    const std::optional<uint64_t> found = Look(when);
    if (!found.has_value()) return;
    number_ = *found;
    states_.erase(states_.upper_bound(number_), states_.end());
  }

  // Returns the number of the newest commit that the disk has, or nothing after a violation.
  std::optional<uint64_t> Look(const std::string& when) {
    ++looks_;
    absl::StatusOr<Collection> collection = Collection::Open("c", Options());
    if (!collection.ok()) Violate(when + ": " + collection.status().ToString());
    if (!violation_.empty()) return std::nullopt;
    const CollectionSnapshot found = collection->snapshot();
    if (found.number() < acknowledged_) Violate(when + ": an acknowledged commit is lost");
    if (!states_.contains(found.number())) Violate(when + ": a commit that was not made");
    if (!violation_.empty()) return std::nullopt;
    CheckMembers(found, when);
    for (const auto& [name, values] : states_[found.number()]) ExamineAlone(name, when);
    std::vector<Reader> readers;
    const absl::Status status = ReadHistory(*collection, found.number(), readers);
    if (!status.ok()) Violate(when + ": history: " + status.ToString());
    return found.number();
  }

  // A file may be aside still.
  void ExamineAlone(const std::string& name, const std::string& when) {
    const absl::StatusOr<Frame> frame =
        Frame::Open("c" + name + ".b2nd", {.file_system = disk_->root()});
    if (absl::IsNotFound(frame.status())) return;
    if (!frame.ok()) return Violate(when + ": alone: " + frame.status().ToString());
    const absl::StatusOr<Values> found = ValuesOf(frame->snapshot());
    if (!found.ok()) return Violate(when + ": alone: " + found.status().ToString());
    const bool is_known = std::ranges::any_of(states_, [&](const auto& state) {
      const auto member = state.second.find(name);
      return member != state.second.end() && member->second == *found;
    });
    if (!is_known) Violate(when + ": alone: a state that was not committed");
  }

  // The next writer dies, too, while it completes what was committed, or soon after.
  void DieInRecovery() {
    if (!violation_.empty()) return;
    DieSoon(60);
    if (absl::StatusOr<Collection> collection = Collection::Open("c", Options()); collection.ok()) {
      collection->OpenWriter(Writing()).IgnoreError();
    }
    Crash();
    Examine("after a death in recovery");
  }

  // The next writer completes what was committed.
  void Recover() {
    if (!violation_.empty()) return;
    {
      absl::StatusOr<Collection> collection = Collection::Open("c", Options());
      const absl::StatusOr<CollectionWriter> writer = collection->OpenWriter(Writing());
      if (!writer.ok()) return Violate("writer: " + writer.status().ToString());
    }
    acknowledged_ = number_;
    Examine("after a writer");
  }

  const NoThreads no_threads_;  // for the disk
  Dice dice_;
  const Judge judge_;
  std::unique_ptr<SimulatedDisk> disk_;
  std::map<uint64_t, Members> states_;  // by number, also of commits under way
  uint64_t number_ = 0;                 // of the newest commit
  // The newest commit that a power cut must leave. A process that dies may leave one more.
  uint64_t acknowledged_ = 0;
  bool has_compacted_ = false;  // in the commit under way
  int64_t older_ = 0;
  int64_t looks_ = 0;
  std::string violation_;
};

TEST(CollectionCrashTest, CollectionsKeepWhatWasCommitted) {
  int64_t older = 0;
  int64_t looks = 0;
  ForEachSeed(300, [&](uint64_t seed) {
    if (testing::Test::HasFailure()) return;
    SCOPED_TRACE(testing::Message() << "CAIRN_CRASH_RUN=" << seed);
    CollectionLife life(seed);
    EXPECT_EQ(life.Run(), "");
    older += life.older();
    looks += life.looks();
  });
  EXPECT_GT(older, 0) << "no commit was kept";
  RecordProperty("states", std::to_string(looks));
  std::printf("%s\n", absl::StrCat(looks, " states, ", older, " older commits read").c_str());
}

// Expects that crashes do harm if `judge` plants a fault.
void ExpectHarm(const CollectionLife::Judge& judge) {
  for (uint64_t seed = 1; seed < 2000; ++seed) {
    if (!CollectionLife(seed, judge).Run().empty()) return;
  }
  ADD_FAILURE() << "no crash does harm";
}

TEST(CollectionCrashTest, LedgerThatIsNotSyncedLosesCommits) {
  ExpectHarm([](const DiskOperation& operation) -> Fate {
    const bool skips =
        operation.kind == DiskOperation::Kind::kSync && operation.name == "c/embed.b2e";
    return skips ? Fate{.kind = Fate::Kind::kSkip} : Fate{};
  });
}

TEST(CollectionCrashTest, LargePartsThatAreNotSyncedAreLost) {
  ExpectHarm([](const DiskOperation& operation) -> Fate {
    const bool skips =
        operation.kind == DiskOperation::Kind::kSync && operation.name.ends_with(".b2nd");
    return skips ? Fate{.kind = Fate::Kind::kSkip} : Fate{};
  });
}

TEST(CollectionCrashTest, NamesThatAreNotSyncedAreLost) {
  ExpectHarm([](const DiskOperation& operation) -> Fate {
    const bool skips = operation.kind == DiskOperation::Kind::kSyncDirectory;
    return skips ? Fate{.kind = Fate::Kind::kSkip} : Fate{};
  });
}

}  // namespace
}  // namespace cairn::test
