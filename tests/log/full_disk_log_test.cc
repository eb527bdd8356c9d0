// Logs whose disk is full.
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include <gtest/gtest.h>

#include "cairn/log.h"
#include "cairn/log_writer.h"
#include "tests/log/sensor_log.h"
#include "tests/support/bare_disk.h"
#include "tests/support/dice.h"
#include "tests/support/simulated_disk.h"
#include "tests/support/status.h"

namespace cairn {
namespace {

using test::Reading;
using test::SensorOptions;

constexpr int64_t kCapacity = int64_t{4} << 20;
constexpr int64_t kChunkRecords = 2'000;
constexpr int64_t kBatch = 500;

class FullDiskLogTest : public testing::Test {
 protected:
  void SetUp() override {
    disk_.SetCapacity(kCapacity);
    LogCreateOptions options = SensorOptions();
    options.chunksize = static_cast<int32_t>(kChunkRecords * sizeof(Reading));
    options.file_system = disk_.root();
    log_.emplace(Log::Create("log", options).value());
    writer_.emplace(log_->OpenWriter({}).value());
    most_ = Append(INT64_MAX);
    ASSERT_GT(most_, 10 * kBatch);
  }
  // Appends until the disk is full, or there are as many new records. Returns how many fit.
  int64_t Append(int64_t most) {
    int64_t count = 0;
    for (; count < most; count += kBatch) {
      std::vector<Reading> batch;
      for (int64_t i = 0; i < kBatch; ++i, ++end_) {
        batch.push_back({.time = end_ * 10,
                         .temp = std::ldexp(static_cast<double>(dice_.Next() >> 11), -53),
                         .count = static_cast<int32_t>(end_)});
      }
      absl::Status status = writer_->Append(batch);
      if (status.ok()) status = writer_->Commit();
      if (!status.ok()) {
        EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
        break;
      }
    }
    return count;
  }
  void ExpectNumbers() {
    disk_.SetCapacity(2 * kCapacity);  // the last batch waits
    ASSERT_TRUE(IsOk(writer_->Close()));
    const LogSnapshot snapshot = log_->Refresh().value();
    ASSERT_EQ(snapshot.end_record(), end_);
    std::vector<test::LittleEndian<int32_t>> counts(static_cast<size_t>(snapshot.nrecords()));
    ASSERT_TRUE(IsOk(snapshot.ReadColumn("count", snapshot.first_record(), counts)));
    for (int64_t i = 0; i < std::ssize(counts); ++i) {
      ASSERT_EQ(counts[static_cast<size_t>(i)], snapshot.first_record() + i);
    }
  }

  test::Dice dice_{1};
  test::SimulatedDisk disk_;
  std::optional<Log> log_;
  std::optional<LogWriter> writer_;
  int64_t end_ = 0;
  int64_t most_ = 0;
};

TEST_F(FullDiskLogTest, RecordsFollowWhereTheOldestWereDropped) {
  ASSERT_TRUE(IsOk(writer_->SetRetention({.max_records = most_ / 10})));
  ASSERT_TRUE(IsOk(writer_->ApplyRetention()));
  EXPECT_EQ(Append(most_), most_);
  ExpectNumbers();
}

TEST_F(FullDiskLogTest, RecordsFollowWhereAnEarlierWriterDroppedSome) {
  ASSERT_TRUE(IsOk(writer_->SetRetention({.max_records = most_ / 10})));
  ASSERT_TRUE(IsOk(writer_->ApplyRetention()));
  writer_.reset();
  writer_.emplace(log_->OpenWriter({}).value());
  EXPECT_EQ(Append(most_), most_);
}

// Whole chunks are deleted without space for other ones.
TEST_F(FullDiskLogTest, ChunksAreDeletedWhileOtherRecordsWaitForRoom) {
  const int64_t deleted = most_ / kChunkRecords * kChunkRecords;
  EXPECT_EQ(writer_->Delete({.times = {.begin = 0, .end = deleted * 10}}).value_or(0), deleted);
  EXPECT_GE(Append(most_ / 2), most_ / 2);
  EXPECT_EQ(log_->Refresh()->end_record(), end_);
}

TEST_F(FullDiskLogTest, RecordsThatTakeTheSpaceOfOlderOnesComeInParts) {
  ASSERT_TRUE(IsOk(writer_->SetRetention({.max_records = most_ / 4})));
  ASSERT_TRUE(IsOk(writer_->ApplyRetention()));
  std::vector<Reading> batch;
  for (int64_t i = 0; i < 3 * most_; ++i, ++end_) {
    batch.push_back({.time = end_ * 10,
                     .temp = std::ldexp(static_cast<double>(dice_.Next() >> 11), -53),
                     .count = static_cast<int32_t>(end_)});
  }
  EXPECT_TRUE(IsOk(writer_->Append(batch)));
  EXPECT_TRUE(IsOk(writer_->Commit()));
  ExpectNumbers();
}

TEST_F(FullDiskLogTest, RequestThatHasNoRoomLeavesNoFile) {
  disk_.SetCapacity(kCapacity - disk_.Free());
  const size_t files = disk_.root()->List(".")->size();
  const absl::Status status =
      log_->RequestLimits({.max_records = 100}, {.max_bytes = -1, .period = -1});
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_EQ(disk_.root()->List(".")->size(), files);
}

// The disk cuts the commit short at any byte, and its file system cannot reserve space.
TEST(BareDiskLogTest, CommitThatFailsIsSeenByNobody) {
  bool made = false;
  for (int64_t room = 0; !made; ++room) {
    SCOPED_TRACE(testing::Message() << room << " bytes free");
    test::SimulatedDisk disk;
    const auto free = std::make_shared<int64_t>(kCapacity);
    LogCreateOptions options = SensorOptions();
    options.file_system = std::make_shared<test::BareFiles>(disk.root(), free);
    Log log = Log::Create("log", options).value();
    LogWriter writer = log.OpenWriter({}).value();
    ASSERT_TRUE(IsOk(writer.Append(test::Readings(5))));
    ASSERT_TRUE(IsOk(writer.Commit()));
    *free = room;
    absl::Status status = writer.Append(test::Readings(3, 5));
    if (status.ok()) status = writer.Commit();
    made = status.ok();
    const auto end_in = [](const std::shared_ptr<FileSystem>& files) {
      return Log::Open("log", {.file_system = files}).value().snapshot().end_record();
    };
    ASSERT_EQ(end_in(options.file_system), made ? 8 : 5) << status;
    ASSERT_EQ(end_in(disk.Clone()->root()), made ? 8 : 5) << "after the death of the writer";
    *free = kCapacity;  // what waited has room
    ASSERT_TRUE(IsOk(writer.Close()));
    ASSERT_EQ(end_in(options.file_system), 8);
  }
}

}  // namespace
}  // namespace cairn
