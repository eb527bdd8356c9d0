// Crashes of processes that write logs: what is found afterwards is a prefix of the commits, with
// all that were durable, and without what retention may drop.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <vector>

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
      : dice_(seed), disk_(std::make_unique<SimulatedDisk>(seed)) {
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
      const auto last = disk_->operations() + 1 + static_cast<int64_t>(dice_.Below(250));
      disk_->Judge([last, this](const DiskOperation& operation) {
        if (operation.number < last) return Fate{};
        return Fate{.kind = Fate::Kind::kDie, .written = SomeSectors(operation, dice_)};
      });
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
      if (dice_.Percent(5)) {
        if (absl::Status status = writer->Checkpoint(); !status.ok()) return status;
        durable_ = committed_;
      }
    }
    absl::Status status = writer->Close();
    if (status.ok()) durable_ = committed_;
    return status;
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
    EXPECT_GE(found.nrecords(), std::min(end, least_)) << "more is dropped than retention allows";
    std::vector<Reading> records(static_cast<size_t>(found.nrecords()));
    ASSERT_TRUE(IsOk(found.ReadRecords(found.first_record(), records)));
    for (size_t i = 0; i < records.size(); ++i) {
      const Reading& expected = written_[static_cast<size_t>(found.first_record()) + i];
      ASSERT_EQ(std::memcmp(&records[i], &expected, sizeof(Reading)), 0) << "record " << i;
    }
    const absl::StatusOr<std::vector<std::string>> wrong = found.VerifyStatistics();
    ASSERT_TRUE(IsOk(wrong));
    EXPECT_EQ(*wrong, std::vector<std::string>());
    // The next process continues from here.
    written_.resize(static_cast<size_t>(end));
    committed_ = end;
    if (!killed_) durable_ = end;
  }

  Dice dice_;
  std::unique_ptr<SimulatedDisk> disk_;
  std::vector<Reading> written_;  // by number, also what was dropped or not committed
  std::set<int64_t> limits_;      // records that retention may keep
  int64_t least_ = 0;             // the least of them so far
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

TEST(LogCrashTest, LogsOfManyFilesKeepWhatWasCommitted) {
  ForEachSeed(150, [](uint64_t seed) {
    if (testing::Test::HasFailure()) return;
    SCOPED_TRACE(testing::Message() << "CAIRN_CRASH_RUN=" << seed);
    LogLife(seed, /*many_files=*/true).Run();
  });
}

}  // namespace
}  // namespace cairn::test
