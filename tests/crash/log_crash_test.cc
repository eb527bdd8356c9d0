// Crashes of processes that write logs: what is found afterwards is a prefix of the commits, with
// all that were durable, and without what retention may drop. Of a deletion under way, each record
// is there or gone. Records that an upsert replaces are gone when, and only when, the new ones are
// there.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include <gtest/gtest.h>

#include "cairn/log.h"
#include "cairn/log_writer.h"
#include "tests/log/sensor_log.h"
#include "tests/support/dice.h"
#include "tests/support/search.h"
#include "tests/support/simulated_disk.h"
#include "tests/support/status.h"

namespace cairn::test {
namespace {

// A log on a disk, and processes that write it one after the other.
class LogLife {
 public:
  LogLife(uint64_t seed, bool many_files)
      : dice_(seed),
        requests_deletion_(seed % 3 == 0),
        upserts_(seed % 2 == 0),
        disk_(std::make_unique<SimulatedDisk>(seed)) {
    LogCreateOptions options = SensorOptions();
    options.file_system = disk_->root();
    options.retention.max_records = 300 + static_cast<int64_t>(dice_.Below(500));
    if (many_files) options.rotation.period = 2000;
    if (many_files && dice_.Percent(30)) options.rotation.max_bytes = 6000;
    least_ = options.retention.max_records;
    limits_ = {least_};
    EXPECT_TRUE(IsOk(Log::Create("log", options)));
  }

  void Run() {
    for (int process = 0; process < 5 && !testing::Test::HasFailure(); ++process) {
      SCOPED_TRACE(testing::Message() << "process " << process);
      disk_->DieAt(disk_->operations() + 1 + static_cast<int64_t>(dice_.Below(250)), dice_);
      Write().IgnoreError();  // it dies
      Crash();
      ASSERT_NO_FATAL_FAILURE(Examine());
    }
  }

 private:
  absl::Status Write() {
    absl::StatusOr<Log> log = Log::Open("log", {.file_system = disk_->root()});
    if (!log.ok()) return log.status();
    if (dice_.Percent(40)) {
      const int64_t limit = ChooseLimit();
      const absl::Status left = log->RequestLimits(
          {.max_age = -1, .max_records = limit, .max_bytes = -1}, {.max_bytes = -1, .period = -1});
      if (!left.ok()) return left;
      limits_ = {limit};
    }
    const auto durability = dice_.Percent(50) ? Durability::kMachine : Durability::kProcess;
    absl::StatusOr<LogWriter> writer = log->OpenWriter({.durability = durability});
    if (!writer.ok()) return writer.status();
    for (int i = 0; i < 60; ++i) {
      const size_t count = 1 + dice_.Below(dice_.Percent(20) ? 250 : 10);
      std::vector<Reading> batch;
      for (size_t j = 0; j < count; ++j) {
        now_ += static_cast<int64_t>(dice_.Below(10));
        const int64_t late = dice_.Percent(3) ? static_cast<int64_t>(dice_.Below(300)) : 0;
        batch.push_back({.time = now_ - late,
                         .temp = static_cast<double>(dice_.Below(100)),
                         .count = static_cast<int32_t>(written_.size() + j)});
      }
      const bool sets = dice_.Percent(3);
      const int64_t limit = sets ? ChooseLimit() : 0;
      if (sets) {
        if (absl::Status set = writer->SetRetention({.max_records = limit}); !set.ok()) return set;
      }
      if (absl::Status status = writer->Append(batch); !status.ok()) return status;
      std::ranges::stable_sort(batch, {}, TimeOf);
      written_.insert(written_.end(), batch.begin(), batch.end());
      if (absl::Status status = writer->Commit(); !status.ok()) return status;
      committed_ = std::ssize(written_);
      if (durability == Durability::kMachine) durable_ = committed_;
      const int64_t limit_now = log->Refresh()->retention().max_records;
      EXPECT_TRUE(limits_.contains(limit_now)) << limit_now;
      if (durability == Durability::kMachine) limits_ = {limit_now};
      if (dice_.Percent(8)) {
        if (absl::Status status = Delete(*log, *writer); !status.ok()) return status;
      }
      if (upserts_ && dice_.Percent(15)) {
        if (absl::Status status = Upsert(*writer); !status.ok()) return status;
        if (durability == Durability::kMachine) durable_ = committed_;
      }
      if (dice_.Percent(5)) {
        if (absl::Status status = writer->Checkpoint(); !status.ok()) return status;
        durable_ = committed_;
      }
    }
    absl::Status status = writer->Close();
    if (status.ok()) durable_ = committed_;
    return status;
  }

  // Writes records, of which many have the times of others.
  absl::Status Upsert(LogWriter& writer) {
    std::map<int64_t, Reading> batch;
    const size_t count = 1 + dice_.Below(dice_.Percent(20) ? 200 : 10);
    for (size_t j = 0; j < count; ++j) {
      if (dice_.Percent(30)) now_ += static_cast<int64_t>(dice_.Below(20));
      const auto back = dice_.Below(std::min<size_t>(written_.size(), 800));
      const int64_t time =
          dice_.Percent(70) ? int64_t{written_[written_.size() - 1 - back].time} : now_;
      batch[time] = {.time = time, .temp = static_cast<double>(dice_.Below(100))};
    }
    const auto first = static_cast<size_t>(writer.snapshot().first_record());
    const auto end = std::ssize(written_);
    std::vector<Reading> records;
    for (auto& [time, reading] : batch) {
      reading.count = static_cast<int32_t>(end + std::ssize(records));
      records.push_back(reading);
    }
    for (size_t i = first; i < written_.size(); ++i) {
      const auto found = batch.find(written_[i].time);
      const auto number = static_cast<int64_t>(i);
      if (found == batch.end() || deleted_.contains(number) || replaced_.contains(number)) continue;
      replaced_[number] = found->second.count;
    }
    written_.insert(written_.end(), records.begin(), records.end());
    const absl::Status status = writer.Upsert(records).status();
    if (status.ok()) committed_ = std::ssize(written_);
    return status;
  }

  // Deletes the records with some counts, or asks the writer to do so with a later commit.
  absl::Status Delete(Log& log, LogWriter& writer) {
    const auto begin = static_cast<int32_t>(dice_.Below(written_.size()));
    const Counts counts = {begin, begin + 1 + static_cast<int32_t>(dice_.Below(150))};
    const LogSelection which = {
        .filters = {absl::StrFormat("%d <= count < %d", counts.begin, counts.end)}};
    if (requests_deletion_ && dice_.Percent(50)) {
      requested_.push_back({.counts = counts, .end = committed_});
      const absl::Status left = log.Delete(which, std::chrono::milliseconds(0)).status();
      return absl::IsUnavailable(left) ? absl::OkStatus() : left;
    }
    deleting_ = counts;
    const absl::StatusOr<int64_t> deleted = writer.Delete(which);
    if (!deleted.ok()) return deleted.status();
    if (*deleted > 0) durable_ = committed_;
    // Dropped records are not deleted, and a power cut may bring them back.
    for (int64_t i = writer.snapshot().first_record(); i < std::ssize(written_); ++i) {
      if (counts.Has(written_[static_cast<size_t>(i)])) deleted_.insert(i);
    }
    deleting_ = {};
    return absl::OkStatus();
  }

  // From now on the log may have this limit, as well as those that it had before.
  int64_t ChooseLimit() {
    const int64_t limit = 300 + static_cast<int64_t>(dice_.Below(500));
    limits_.insert(limit);
    least_ = std::min(least_, limit);
    return limit;
  }

  // The process is killed, or the power goes.
  void Crash() {
    killed_ = dice_.Percent(40);
    disk_ = killed_ ? disk_->Clone() : disk_->PowerLoss(dice_);
    disk_->Revive();
  }

  void Examine() {
    const absl::StatusOr<Log> log = Log::Open("log", {.file_system = disk_->root()});
    ASSERT_TRUE(IsOk(log));
    const LogSnapshot found = log->snapshot();
    const int64_t end = found.end_record();
    EXPECT_GE(end, killed_ ? committed_ : durable_);
    ASSERT_LE(end, std::ssize(written_));
    std::vector<Reading> records(static_cast<size_t>(end - found.first_record()));
    ASSERT_TRUE(IsOk(found.ReadRecords(found.first_record(), records)));
    const std::vector<RecordRange> gone = found.deleted();
    for (size_t i = 0; i < records.size(); ++i) {
      const int64_t number = found.first_record() + static_cast<int64_t>(i);
      Reading expected = written_[static_cast<size_t>(number)];
      const bool is_gone = std::ranges::any_of(gone, [number](const RecordRange& range) {
        return range.begin <= number && number < range.end;
      });
      const auto replaced = replaced_.find(number);
      if (replaced != replaced_.end() && replaced->second < end) {
        ASSERT_TRUE(is_gone) << "record " << number << " is there beside " << replaced->second;
      } else if (deleted_.contains(number)) {
        ASSERT_TRUE(is_gone) << "record " << number << " is there again";
      } else if (is_gone) {
        ASSERT_TRUE(MayBeDeleted(number, expected)) << "record " << number;
        deleted_.insert(number);
      }
      if (is_gone) expected = {.time = expected.time, .temp = std::nan(""), .count = 0};
      ASSERT_EQ(std::memcmp(&records[i], &expected, sizeof(Reading)), 0) << "record " << number;
    }
    deleting_ = {};
    for (Request& request : requested_) request.end = std::min(request.end, end);
    deleted_.erase(deleted_.lower_bound(end), deleted_.end());
    std::erase_if(replaced_, [end](const auto& pair) { return pair.second >= end; });
    // A deletion that comes later may leave fewer than retention has kept.
    EXPECT_GE(end - found.first_record(), std::min(end, least_))
        << "more is dropped than retention allows";
    const absl::StatusOr<std::vector<std::string>> wrong = found.VerifyStatistics();
    ASSERT_TRUE(IsOk(wrong));
    EXPECT_EQ(*wrong, std::vector<std::string>());
    // The next process continues from here.
    written_.resize(static_cast<size_t>(end));
    committed_ = end;
    if (!killed_) durable_ = end;
  }

  // Counts of readings, from one to before another.
  struct Counts {
    int32_t begin = 0;
    int32_t end = 0;
    bool Has(const Reading& reading) const { return begin <= reading.count && reading.count < end; }
  };

  // A request to delete readings whose numbers are less than `end`.
  struct Request {
    Counts counts;
    int64_t end = 0;
  };

  bool MayBeDeleted(int64_t number, const Reading& reading) const {
    return deleting_.Has(reading) || std::ranges::any_of(requested_, [&](const Request& request) {
             return number < request.end && request.counts.Has(reading);
           });
  }

  Dice dice_;
  const bool requests_deletion_;
  const bool upserts_;
  std::unique_ptr<SimulatedDisk> disk_;
  std::vector<Reading> written_;         // by number, also what was dropped or not committed
  std::set<int64_t> deleted_;            // numbers
  std::map<int64_t, int64_t> replaced_;  // numbers, and those of the records that came instead
  Counts deleting_;                      // a deletion under way
  std::vector<Request> requested_;
  std::set<int64_t> limits_;  // records that retention may keep
  int64_t least_ = 0;         // the least of them so far
  int64_t now_ = 0;
  int64_t committed_ = 0;
  int64_t durable_ = 0;
  bool killed_ = false;
};

TEST(LogCrashTest, LogsOfOneFileKeepWhatWasCommitted) {
  ForEachSeed(150, [](uint64_t seed) {
    if (testing::Test::HasFailure()) return;
    SCOPED_TRACE(testing::Message() << "CAIRN_CRASH_RUN=" << seed);
    LogLife(seed, /*many_files=*/false).Run();
  });
}

// A writer is killed at each operation of a call, the next one repeats the call, and the power
// goes. Calls change(writer) for both, and check(log) for what is there in the end.
template <typename Change, typename Check>
void RepeatAfterAKill(const Change& change, const Check& check) {
  for (int64_t operation = 1;; ++operation) {
    SCOPED_TRACE(testing::Message() << "operation " << operation);
    ASSERT_LT(operation, 1000);
    Dice dice(static_cast<uint64_t>(operation));
    auto disk = std::make_unique<SimulatedDisk>(static_cast<uint64_t>(operation));
    LogCreateOptions options = SensorOptions();
    options.file_system = disk->root();
    options.rotation.period = 2000;
    {
      Log log = Log::Create("log", options).value();
      LogWriter writer = log.OpenWriter({}).value();
      ASSERT_TRUE(IsOk(writer.Append(Readings(450))));
      ASSERT_TRUE(IsOk(writer.Checkpoint()));
      const int64_t last = disk->operations() + operation;
      disk->Judge([last](const DiskOperation& one) {
        return one.number < last ? Fate{} : Fate{.kind = Fate::Kind::kDie};
      });
      change(writer).IgnoreError();  // it dies
    }
    if (!disk->dead()) return;
    disk = disk->Clone();
    disk->Revive();
    {
      Log log = Log::Open("log", {.file_system = disk->root()}).value();
      LogWriter writer = log.OpenWriter({}).value();
      ASSERT_TRUE(IsOk(change(writer)));
      check(log.Refresh().value());
    }
    disk = disk->PowerLoss(dice);
    check(Log::Open("log", {.file_system = disk->root()})->snapshot());
  }
}

TEST(LogCrashTest, DeletionThatIsRepeatedAfterAKillSurvivesAPowerCut) {
  RepeatAfterAKill(
      [](LogWriter& writer) {
        return writer.Delete({.times = {.begin = 1000, .end = 4100}}).status();
      },
      [](const LogSnapshot& log) {
        EXPECT_EQ(AllOf(log), Joined(Readings(100), Readings(40, 410)));
      });
}

TEST(LogCrashTest, UpsertThatIsRepeatedAfterAKillSurvivesAPowerCut) {
  RepeatAfterAKill([](LogWriter& writer) { return writer.Upsert(Corrected(310, 100)).status(); },
                   [](const LogSnapshot& log) {
                     EXPECT_EQ(AllOf(log), Joined(Joined(Readings(100), Corrected(310, 100)),
                                                  Readings(40, 410)));
                     EXPECT_EQ(log.end_record(), 760) << "the repeated call writes nothing";
                   });
}

TEST(LogCrashTest, LogsOfManyFilesKeepWhatWasCommitted) {
  ForEachSeed(150, [](uint64_t seed) {
    if (testing::Test::HasFailure()) return;
    SCOPED_TRACE(testing::Message() << "CAIRN_CRASH_RUN=" << seed);
    LogLife(seed, /*many_files=*/true).Run();
  });
}

}  // namespace
}  // namespace cairn::test
