// Logs out of damaged frames: the records of lost chunks are as if they were deleted.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "cairn/log.h"
#include "cairn/log_writer.h"
#include "cairn/recover.h"
#include "cairn/verify.h"
#include "tests/log/sensor_log.h"
#include "tests/support/files.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn {
namespace {

using test::kChunkRecords;
using test::NumberedReading;
using test::Reading;
using test::Readings;
using test::RunQuery;
using test::SensorOptions;

std::vector<NumberedReading> Rows(const LogSnapshot& log, const LogQuery& query = {}) {
  const absl::StatusOr<std::vector<NumberedReading>> rows = RunQuery(log, query);
  EXPECT_TRUE(IsOk(rows.status()));
  return rows.value_or(std::vector<NumberedReading>());
}

constexpr int64_t kCount = 1030;  // the last chunk is not full

class SalvagedLog : public testing::TestWithParam<std::vector<int64_t>> {
 protected:
  // Makes a log, damages these chunks and salvages it.
  SalvagedLog() {
    {
      Log log = Log::Create(damaged_, SensorOptions()).value();
      LogWriter writer = log.OpenWriter({}).value();
      EXPECT_TRUE(IsOk(writer.Append(Readings(kCount))));
      EXPECT_TRUE(IsOk(writer.Checkpoint()));
      EXPECT_TRUE(IsOk(writer.Close()));
    }
    const Frame frame = Frame::Open(damaged_).value();
    test::Buffer bytes = test::FileBytes(damaged_);
    for (const int64_t n : GetParam()) {
      const ChunkEntry entry = frame.snapshot().GetEntry(n).value();
      for (int64_t i = 0; i < 24; ++i) {
        bytes[static_cast<size_t>(*entry.offset + 40 + i)] ^= std::byte{0x55};
      }
    }
    test::PutFileBytes(damaged_, bytes);
    EXPECT_TRUE(IsOk(Salvage(damaged_, path_).status()));
  }

  bool IsLost(int64_t count) const {
    return std::ranges::count(GetParam(), count / kChunkRecords) > 0;
  }
  // Returns the readings that are left of these and their numbers.
  std::vector<NumberedReading> Left(int64_t begin, int64_t end) const {
    std::vector<NumberedReading> left;
    for (const Reading& reading : Readings(end - begin, begin)) {
      if (!IsLost(reading.count)) left.push_back({.record = reading.count, .reading = reading});
    }
    return left;
  }
  // Checks what all ways to read give of a log of so many readings.
  void ExpectLeft(const Log& log, int64_t end) const {
    const LogSnapshot snapshot = log.snapshot();
    EXPECT_EQ(snapshot.end_record(), end);
    EXPECT_EQ(Rows(snapshot), Left(0, end));
    const TimeRange times = {.begin = 1500, .end = 8000};
    EXPECT_EQ(Rows(snapshot, {.times = times}), Left(150, 800));
    const auto filtered = Rows(snapshot, {.filters = {"count >= 420", "temp < 2"}});
    EXPECT_EQ(filtered, Left(420, end));
    int64_t records = 0;
    double sum = 0;
    LogAggregation hours = {.bucket = 1000};
    hours.fields = {"count"};
    const auto buckets = snapshot.Aggregate(hours);
    ASSERT_TRUE(IsOk(buckets.status()));
    for (const LogBucket& bucket : *buckets) {
      records += bucket.records;
      sum += bucket.fields[0].sum;
    }
    const std::vector<NumberedReading> left = Left(0, end);
    EXPECT_EQ(records, std::ssize(left));
    double expected = 0;
    for (const NumberedReading& one : left) expected += one.reading.count;
    EXPECT_EQ(sum, expected);
    const auto span = snapshot.Times();
    ASSERT_TRUE(IsOk(span.status()));
    EXPECT_EQ((*span)->begin, left.front().reading.time);
  }

  const test::TempDir temp_;
  const std::string damaged_ = temp_.Path("damaged");
  const std::string path_ = temp_.Path("log");
};

TEST_P(SalvagedLog, IsReadWithoutTheLostRecords) { ExpectLeft(Log::Open(path_).value(), kCount); }

TEST_P(SalvagedLog, IsWrittenAndThenSound) {
  EXPECT_FALSE(Frame::Open(path_).value().snapshot().Verify()->ok());
  {
    Log log = Log::Open(path_).value();
    absl::StatusOr<LogWriter> writer = log.OpenWriter({});
    ASSERT_TRUE(IsOk(writer.status()));
    ExpectLeft(Log::Open(path_).value(), kCount);
    ASSERT_TRUE(IsOk(writer->Append(Readings(300, kCount))));
    ASSERT_TRUE(IsOk(writer->Commit()));
    ASSERT_TRUE(IsOk(writer->Close()));
  }
  const Log log = Log::Open(path_).value();
  const LogSnapshot snapshot = log.snapshot();
  std::vector<NumberedReading> left = Left(0, kCount);
  for (const Reading& reading : Readings(300, kCount)) {
    left.push_back({.record = reading.count, .reading = reading});
  }
  EXPECT_EQ(Rows(snapshot), left);
  EXPECT_TRUE(Frame::Open(path_).value().snapshot().Verify()->ok());
}

TEST_P(SalvagedLog, LosesMoreRecordsByDeletion) {
  Log log = Log::Open(path_).value();
  LogWriter writer = log.OpenWriter({}).value();
  const auto deleted = writer.Delete({.times = {.begin = 0, .end = 5000}});
  ASSERT_TRUE(IsOk(deleted.status()));
  EXPECT_EQ(*deleted, std::ssize(Left(0, 500)));
  ASSERT_TRUE(IsOk(writer.Close()));
  EXPECT_EQ(Rows(Log::Open(path_)->snapshot()), Left(500, kCount));
}

TEST_P(SalvagedLog, KeepsAChunkThatWasPutBack) {
  const int64_t n = GetParam().front();
  Frame frame = Frame::Open(path_).value();
  Writer writer = frame.OpenWriter().value();
  const int64_t begin = n * kChunkRecords;
  const int64_t count = std::min(kChunkRecords, kCount - begin);
  const std::vector<Reading> again = Readings(count, begin);
  std::vector<Reading> chunk(static_cast<size_t>(kChunkRecords));  // with padding
  std::ranges::copy(again, chunk.begin());
  ASSERT_TRUE(IsOk(writer.UpdateChunk(n, std::as_bytes(std::span(chunk)))));
  ASSERT_TRUE(IsOk(writer.Commit().status()));
  ASSERT_TRUE(IsOk(writer.Close()));
  const std::vector<NumberedReading> found = Rows(Log::Open(path_)->snapshot());
  std::vector<NumberedReading> expected = Left(0, kCount);
  for (const Reading& reading : again) {
    expected.push_back({.record = reading.count, .reading = reading});
  }
  std::ranges::sort(expected, {}, &NumberedReading::record);
  EXPECT_EQ(found, expected);
}

using Lost = std::vector<int64_t>;
INSTANTIATE_TEST_SUITE_P(Chunks, SalvagedLog,
                         testing::Values(Lost{0}, Lost{4}, Lost{10}, Lost{2, 3, 7}, Lost{9, 10}),
                         [](const auto& info) {
                           std::string name = "Of";
                           for (const int64_t n : info.param) name += "_" + std::to_string(n);
                           return name;
                         });

// A layer with such a name may be somebody's own.
TEST(SalvagedLogLayer, ThatIsNoListLosesNothing) {
  for (const std::string& content : std::vector<std::string>{
           "", "x", "\xDB", "\xDB\xFF\xFF\xFF\xFF", std::string("\xDB\0\0\0\1x", 6),
           std::string("\xDB\0\0\0\2-1", 7), std::string("\xDB\0\0\0\0031-0", 8),
           std::string("\xDB\0\0\0\0041, 0", 9),
           std::string("\xDB\0\0\0\0250-9223372036854775807", 26)}) {
    const test::TempDir temp;
    const std::string path = temp.Path("log");
    Log log = Log::Create(path, SensorOptions()).value();
    LogWriter writer = log.OpenWriter({}).value();
    ASSERT_TRUE(IsOk(writer.Append(Readings(250))));
    ASSERT_TRUE(IsOk(writer.Close()));
    Frame frame = Frame::Open(path).value();
    Writer edit = frame.OpenWriter().value();
    ASSERT_TRUE(IsOk(edit.SetVlmetalayer("lost_chunks", std::as_bytes(std::span(content)))));
    ASSERT_TRUE(IsOk(edit.Commit().status()));
    ASSERT_TRUE(IsOk(edit.Close()));
    EXPECT_EQ(Log::Open(path)->snapshot().nrecords(), 250) << content.size();
  }
}

}  // namespace
}  // namespace cairn
