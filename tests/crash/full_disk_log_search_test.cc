// Random calls of log writers on a disk that other files fill again and again. Records that were
// taken are not lost, old ones can be dropped at any time, and no refusal ends a writer.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include <gtest/gtest.h>

#include "cairn/log.h"
#include "cairn/log_writer.h"
#include "tests/crash/filler.h"
#include "tests/log/sensor_log.h"
#include "tests/support/dice.h"
#include "tests/support/search.h"
#include "tests/support/simulated_disk.h"
#include "tests/support/status.h"

namespace cairn::test {
namespace {

constexpr int64_t kLogDisk = 2 << 20;
constexpr int64_t kLogBlock = 4096;
constexpr int kLogSteps = 120;

// A log and the disk that it shares with a file of others. Record i has the count i.
class CrowdedLog {
 public:
  CrowdedLog(bool rotates, uint64_t seed) : dice_(seed) {
    disk_.SetCapacity(kLogDisk);
    if (shows()) {
      disk_.Judge([this](const DiskOperation& operation) {
        std::printf("  %s, %lld free\n", ToString(operation).c_str(),
                    static_cast<long long>(disk_.Free()));
        return Fate();
      });
    }
    LogCreateOptions options = SensorOptions();
    records_of_chunk_ = static_cast<int64_t>(100 + dice_.Below(1'000));
    options.chunksize = static_cast<int32_t>(records_of_chunk_ * int64_t{sizeof(Reading)});
    options.file_system = disk_.root();
    if (rotates) options.rotation.max_bytes = static_cast<int64_t>(50'000 + dice_.Below(100'000));
    log_.emplace(Log::Create("log", options).value());
    OpenWriter();
  }

  void Run() {
    for (int i = 0; i < kLogSteps && !testing::Test::HasFailure(); ++i) Step();
    if (testing::Test::HasFailure()) return;
    LeaveFree(disk_, INT64_MAX);  // all that waits has room
    EXPECT_TRUE(IsOk(writer_->Close()));
    ExpectRecords();
  }
  int refused() const { return refused_; }

 private:
  static bool shows() { return NumberIn("CAIRN_CRASH_RUN", 0) != 0; }
  void Say(const char* what, int64_t count, const absl::Status& status) {
    if (!shows()) return;
    std::printf("%s %lld: %s\n", what, static_cast<long long>(count), status.ToString().c_str());
  }

  void OpenWriter() {
    absl::StatusOr<LogWriter> writer = log_->OpenWriter({.commit_records = 1});
    ASSERT_TRUE(IsOk(writer));
    writer_.emplace(*std::move(writer));
  }

  void Step() {
    if (dice_.Percent(50)) LeaveFree(disk_, static_cast<int64_t>(dice_.Below(8)) * 2 * kLogBlock);
    if (dice_.Percent(10)) LeaveFree(disk_, static_cast<int64_t>(dice_.Below(200)) * kLogBlock);
    switch (dice_.Below(8)) {
      default:
        return Append();
      case 5:
        return Retain();
      case 6:
        return Delete();
      case 7:
        return dice_.Percent(40) ? Reopen() : Checkpoint();
    }
  }

  void Take(const char* what, int64_t count, const absl::Status& status) {
    Say(what, count, status);
    if (status.ok()) return;
    ++refused_;
    EXPECT_TRUE(absl::IsResourceExhausted(status)) << what << ": " << status;
  }

  void Append() {
    const auto count = static_cast<int64_t>(1 + dice_.Below(dice_.Percent(40) ? 2'000 : 200));
    std::vector<Reading> batch;
    for (int64_t i = 0; i < count; ++i) {
      batch.push_back({.time = (end_ + i) * 10,
                       .temp = std::ldexp(static_cast<double>(dice_.Next() >> 11), -53),
                       .count = static_cast<int32_t>(end_ + i)});
    }
    const absl::Status status = writer_->Append(batch);
    // They are taken if the disk is full, too.
    if (status.ok() || absl::IsResourceExhausted(status)) end_ += count;
    Take("append", count, status);
  }
  void Retain() {
    const int64_t most = records_of_chunk_ * static_cast<int64_t>(1 + dice_.Below(20));
    EXPECT_TRUE(IsOk(writer_->SetRetention({.max_records = most})));
    Take("retain", most, writer_->ApplyRetention());
    EXPECT_TRUE(IsOk(writer_->SetRetention({})));
  }
  void Delete() {
    const LogSnapshot now = log_->Refresh().value();
    if (now.nrecords() == 0) return;
    const auto first =
        now.first_record() + static_cast<int64_t>(dice_.Below(static_cast<size_t>(now.nrecords())));
    const int64_t end = first + static_cast<int64_t>(dice_.Below(300));
    const absl::StatusOr<int64_t> deleted =
        writer_->Delete({.times = {.begin = first * 10, .end = end * 10}});
    Take("delete", end - first, deleted.status());
  }
  void Checkpoint() { Take("checkpoint", 0, writer_->Checkpoint()); }
  // Records that wait are lost with their writer, unless it could be closed.
  void Reopen() {
    const absl::Status status = writer_->Close();
    Take("close", 0, status);
    writer_.reset();
    OpenWriter();
    if (!status.ok()) end_ = writer_->end_record();
  }

  void ExpectRecords() {
    const LogSnapshot snapshot = log_->Refresh().value();
    ASSERT_EQ(snapshot.end_record(), end_);
    std::vector<LittleEndian<int32_t>> counts(static_cast<size_t>(snapshot.nrecords()));
    ASSERT_TRUE(IsOk(snapshot.ReadColumn("count", snapshot.first_record(), counts)));
    for (int64_t i = 0; i < std::ssize(counts); ++i) {
      const int32_t count = counts[static_cast<size_t>(i)];
      ASSERT_TRUE(count == snapshot.first_record() + i || count == 0) << i;
    }
  }

  Dice dice_;
  SimulatedDisk disk_;
  std::optional<Log> log_;
  std::optional<LogWriter> writer_;
  int64_t records_of_chunk_ = 0;
  int64_t end_ = 0;
  int refused_ = 0;
};

class FullDiskLogSearchTest : public testing::TestWithParam<bool> {};

TEST_P(FullDiskLogSearchTest, NoRecordIsLostAndNoRefusalEndsAWriter) {
  int refused = 0;
  ForEachSeed(200, [&](uint64_t seed) {
    if (HasFailure()) return;
    SCOPED_TRACE(testing::Message() << "CAIRN_CRASH_RUN=" << seed);
    CrowdedLog log(GetParam(), seed);
    log.Run();
    refused += log.refused();
  });
  EXPECT_TRUE(refused > 0 || NumberIn("CAIRN_CRASH_RUN", 0) != 0);
}

INSTANTIATE_TEST_SUITE_P(Files, FullDiskLogSearchTest, testing::Values(false, true),
                         [](const auto& info) { return info.param ? "Many" : "One"; });

}  // namespace
}  // namespace cairn::test
