// Logs out of damaged frames: the records of lost chunks are as if they were deleted.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_format.h"
#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "cairn/log.h"
#include "cairn/log_writer.h"
#include "cairn/recover.h"
#include "cairn/verify.h"
#include "engine/base/binary_value.h"
#include "tests/log/sensor_log.h"
#include "tests/support/files.h"
#include "tests/support/little_endian.h"
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

// Logs with keys, out of files that were cut off.

#pragma pack(push, 1)
struct SalvagedReading {
  test::LittleEndian<int64_t> time = 0;
  test::LittleEndian<int32_t> number = 0;
  test::LittleEndian<uint32_t> host = 0;
  test::LittleEndian<uint32_t> room = 0;
};
#pragma pack(pop)

constexpr int64_t kFirstNew = 1'000'000;  // the time of the first record after salvage

std::string HostOf(int64_t i) { return absl::StrFormat("host%d", i % 7 + i / 100); }
std::string RoomOf(int64_t i) { return absl::StrFormat("room%d", i / 60); }

// Appends a record for each of these times. `prefix` begins all of its keys.
void AppendKeyed(LogWriter& writer, int64_t begin, int64_t end, const std::string& prefix) {
  std::vector<SalvagedReading> readings;
  for (int64_t i = begin; i < end; ++i) {
    SalvagedReading& reading = readings.emplace_back();
    reading.time = i;
    reading.number = static_cast<int32_t>(i % kFirstNew);
    reading.host = writer.CodeOf("host", prefix + HostOf(i % kFirstNew)).value();
    reading.room = writer.CodeOf("room", prefix + RoomOf(i % kFirstNew)).value();
  }
  ASSERT_TRUE(IsOk(writer.Append(readings)));
  ASSERT_TRUE(IsOk(writer.Commit()));
}

// Counts of the records and keys that a damaged log shows.
struct ShownKeys {
  int64_t records = 0;
  int64_t blank = 0;      // records that were deleted
  int64_t stand_ins = 0;  // keys whose texts are lost
  bool operator==(const ShownKeys&) const = default;
};

// Checks that each key is that of its record, or one that stands for a lost text.
ShownKeys CheckKeys(const LogSnapshot& log) {
  ShownKeys shown;
  absl::StatusOr<LogCursor> cursor = log.Query({});
  EXPECT_TRUE(IsOk(cursor.status()));
  if (!cursor.ok()) return shown;
  std::map<std::string, std::string> stands_for;
  while (true) {
    const absl::StatusOr<LogBatch> batch = cursor->Next();
    EXPECT_TRUE(IsOk(batch.status()));
    if (!batch.ok() || batch->size() == 0) return shown;
    const auto times = batch->Column<int64_t>("time").value();
    const auto numbers = batch->Column<int32_t>("number").value();
    const auto hosts = batch->Column<std::string>("host").value();
    const auto rooms = batch->Column<std::string>("room").value();
    const auto check = [&](const std::string& field, const std::string& got,
                           const std::string& expected) {
      if (got == expected) return;
      ++shown.stand_ins;
      ASSERT_TRUE(got.starts_with('?')) << got << ", not " << expected;
      // Each stands for one text.
      const auto [known, added] = stands_for.emplace(field + got, expected);
      EXPECT_EQ(known->second, expected) << got;
    };
    for (size_t i = 0; i < times.size(); ++i) {
      ++shown.records;
      const std::string prefix = times[i] >= kFirstNew ? "new" : "";
      const int64_t number = times[i] % kFirstNew;
      if (numbers[i] != number) {
        EXPECT_EQ(hosts[i] + rooms[i], "");
        ++shown.blank;
        continue;
      }
      check("host", hosts[i], prefix + HostOf(number));
      check("room", rooms[i], prefix + RoomOf(number));
    }
  }
}

struct KeyHistory {
  std::string name;
  int64_t sessions = 1;
  bool checkpoints = false;  // within the sessions
  bool deletes = false;
  bool closes = true;
  bool compacts = false;  // so that the file has no older state
  int64_t retain = 0;
  int64_t records = 160;  // of a session
  friend void PrintTo(const KeyHistory& history, std::ostream* out) { *out << history.name; }
};

class CutKeyedLog : public testing::TestWithParam<KeyHistory> {
 protected:
  void Make() {
    const KeyHistory& history = GetParam();
    LogCreateOptions options;
    for (const char* field : {"time:timestamp[ms]", "number:i4", "host:text", "room:text"}) {
      fields_.push_back(*Schema::ParseField(field));
    }
    options.schema = Schema::Make(fields_).value();
    options.chunksize = 50 * static_cast<int32_t>(sizeof(SalvagedReading));
    options.retention.max_records = history.retain;
    Log log = Log::Create(whole_, options).value();
    int64_t end = 0;
    for (int64_t n = 0; n < history.sessions; ++n) {
      LogWriter writer = log.OpenWriter({}).value();
      for (int64_t part = 0; part < 4; ++part) {
        AppendKeyed(writer, end, end + history.records / 4, "");
        end += history.records / 4;
        if (history.checkpoints) {
          EXPECT_TRUE(IsOk(writer.Checkpoint()));
        }
      }
      if (history.deletes) {
        const TimeRange times = {.begin = end - 30, .end = end - 20};
        EXPECT_TRUE(IsOk(writer.Delete({.times = times}).status()));
      }
      if (history.closes) {
        EXPECT_TRUE(IsOk(writer.Close()));
      }
    }
    if (history.compacts) {
      EXPECT_TRUE(IsOk(Frame::Open(whole_)->Compact().status()));
    }
  }

  // Checks the log that salvage makes of the first bytes of the file.
  void CheckCut(const test::Buffer& bytes, size_t size) {
    const test::TempDir temp;
    const std::string cut = temp.Path("cut");
    const std::string path = temp.Path("log");
    test::PutFileBytes(cut, test::Buffer(bytes.begin(), bytes.begin() + static_cast<long>(size)));
    const auto report = Salvage(cut, path);
    if (absl::IsNotFound(report.status())) return;
    ASSERT_TRUE(IsOk(report.status()));
    const bool loses = !report->lost_metalayers.empty();
    absl::StatusOr<Log> log = Log::Open(path);
    if (absl::IsFailedPrecondition(log.status())) return;  // no records, and that is told
    ASSERT_TRUE(IsOk(log.status()));
    ++logs_;
    const Field* const host = log->snapshot().schema().Find("host");
    ASSERT_NE(host, nullptr);
    if (host->type != FieldType::kText) {
      EXPECT_TRUE(loses);
      return;
    }
    ++with_keys_;
    const ShownKeys before = CheckKeys(log->snapshot());
    EXPECT_TRUE(loses || before.blank + before.stand_ins == 0);
    stand_ins_ += before.stand_ins;
    absl::StatusOr<LogWriter> writer = log->OpenWriter({});
    ASSERT_TRUE(IsOk(writer.status()));
    ASSERT_NO_FATAL_FAILURE(AppendKeyed(*writer, kFirstNew, kFirstNew + 9, "new"));
    ASSERT_TRUE(IsOk(writer->Close()));
    ShownKeys after = CheckKeys(Log::Open(path)->snapshot());
    EXPECT_EQ(CheckKeys(*log->Refresh()), after);
    if (GetParam().retain == 0) {
      after.records -= 9;
      EXPECT_EQ(before, after);
    }
    EXPECT_TRUE(Frame::Open(path).value().snapshot().Verify()->ok());
  }

  const test::TempDir temp_;
  const std::string whole_ = temp_.Path("whole");
  std::vector<Field> fields_;
  int64_t logs_ = 0;
  int64_t with_keys_ = 0;
  int64_t stand_ins_ = 0;
};

TEST_P(CutKeyedLog, ShowsNoKeyThatARecordDidNotHave) {
  ASSERT_NO_FATAL_FAILURE(Make());
  const test::Buffer bytes = test::FileBytes(whole_);
  const size_t step = std::max<size_t>(1, bytes.size() / 70);
  for (size_t size = 1; size < bytes.size(); size += step) {
    SCOPED_TRACE(absl::StrFormat("%d of %d bytes", size, bytes.size()));
    ASSERT_NO_FATAL_FAILURE(CheckCut(bytes, size));
    if (HasFailure()) return;
  }
  RecordProperty("logs", static_cast<int>(logs_));
  RecordProperty("with_keys", static_cast<int>(with_keys_));
  RecordProperty("stand_ins", static_cast<int>(stand_ins_));
}

// A compacted file has no older state.
TEST_P(CutKeyedLog, ShowsStandInsForTextsThatAreNowhere) {
  if (!GetParam().compacts) GTEST_SKIP() << "it may have older states";
  ASSERT_NO_FATAL_FAILURE(Make());
  const test::Buffer bytes = test::FileBytes(whole_);
  const std::string_view text = "host0";
  const auto at = std::ranges::search(bytes, std::as_bytes(std::span(text))).begin();
  const auto keys = static_cast<size_t>(at - bytes.begin());
  for (size_t size = keys - 40; size < keys + 60; size += 5) {
    SCOPED_TRACE(size);
    ASSERT_NO_FATAL_FAILURE(CheckCut(bytes, size));
  }
  EXPECT_GT(stand_ins_, 0);
}

// A file that lacks only bytes of its trailer has older states.
TEST_P(CutKeyedLog, TakesOlderKeys) {
  const KeyHistory& history = GetParam();
  if (history.checkpoints || history.compacts || !history.closes)
    GTEST_SKIP() << "its states lie elsewhere";
  ASSERT_NO_FATAL_FAILURE(Make());
  const test::Buffer bytes = test::FileBytes(whole_);
  for (size_t missing = 1; missing < 600; missing += 29) {
    SCOPED_TRACE(missing);
    ASSERT_NO_FATAL_FAILURE(CheckCut(bytes, bytes.size() - missing));
  }
  EXPECT_EQ(with_keys_, logs_);
  EXPECT_EQ(stand_ins_, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Histories, CutKeyedLog,
    testing::Values(KeyHistory{.name = "One"}, KeyHistory{.name = "Deleted", .deletes = true},
                    KeyHistory{.name = "Checkpoints", .checkpoints = true, .deletes = true},
                    KeyHistory{.name = "Sessions", .sessions = 4, .deletes = true},
                    KeyHistory{.name = "Retained", .sessions = 4, .deletes = true, .retain = 120},
                    KeyHistory{.name = "Compacted", .deletes = true, .compacts = true},
                    KeyHistory{.name = "Journal", .checkpoints = true, .closes = false}),
    [](const auto& info) { return info.param.name; });

// Another program removes the texts, and nothing says so.
TEST(LogWithoutTexts, GivesNoCodeOfARecordToANewText) {
  const test::TempDir temp;
  const std::string path = temp.Path("log");
  LogCreateOptions options;
  options.schema =
      Schema::Make({*Schema::ParseField("time:timestamp[ms]"), *Schema::ParseField("number:i4"),
                    *Schema::ParseField("host:text"), *Schema::ParseField("room:text")})
          .value();
  Log log = Log::Create(path, options).value();
  LogWriter writer = log.OpenWriter({}).value();
  AppendKeyed(writer, 0, 100, "");
  ASSERT_TRUE(IsOk(writer.Close()));
  {
    Frame frame = Frame::Open(path).value();
    Writer edit = frame.OpenWriter().value();
    ASSERT_TRUE(IsOk(edit.DeleteVlmetalayer("cairn.log.keys0")));
    ASSERT_TRUE(IsOk(edit.Close()));
  }
  log = Log::Open(path).value();
  EXPECT_EQ(CheckKeys(log.snapshot()).stand_ins, 200);
  writer = log.OpenWriter({}).value();
  AppendKeyed(writer, kFirstNew, kFirstNew + 9, "new");
  ASSERT_TRUE(IsOk(writer.Close()));
  const ShownKeys shown = CheckKeys(Log::Open(path)->snapshot());
  EXPECT_EQ(shown.records, 109);
  EXPECT_EQ(shown.stand_ins, 200);
}

// A stand-in is none of the texts that are left.
TEST(LogWithoutTexts, TellsAStandInFromAKey) {
  const test::TempDir temp;
  const std::string path = temp.Path("log");
  LogCreateOptions options;
  options.schema =
      Schema::Make({*Schema::ParseField("time:i4"), *Schema::ParseField("host:text")}).value();
  options.time_field = "time";
  Log log = Log::Create(path, options).value();
  LogWriter writer = log.OpenWriter({}).value();
  std::vector<test::LittleEndian<uint32_t>> records;
  for (const char* text : {"?2", "lost", "?3"}) {
    records.emplace_back(static_cast<uint32_t>(records.size()));
    records.emplace_back(writer.CodeOf("host", text).value());
  }
  ASSERT_TRUE(IsOk(writer.Append(std::as_bytes(std::span(records)))));
  ASSERT_TRUE(IsOk(writer.Close()));
  {
    Frame frame = Frame::Open(path).value();
    const std::vector<std::byte> table = *frame.snapshot().GetVlmetalayer("cairn.log.keys0");
    const auto begin = table.begin() + ptrdiff_t{kBinaryHead};
    std::vector<std::byte> cut(begin, begin + 8 + 8 + 8 + 4);
    cut[16] = std::byte{1};  // one text is left
    Writer edit = frame.OpenWriter().value();
    ASSERT_TRUE(IsOk(edit.SetVlmetalayer("cairn.log.keys0", cut)));
    const std::string mark(
        "\xDB\0\0\0\x0F"
        "cairn.log.keys0",
        20);
    ASSERT_TRUE(IsOk(edit.SetVlmetalayer("lost_metalayers", std::as_bytes(std::span(mark)))));
    ASSERT_TRUE(IsOk(edit.Close()));
  }
  const auto hosts = [&] {
    const LogSnapshot snapshot = Log::Open(path)->snapshot();
    return snapshot.Query({})->Next()->Column<std::string>("host").value();
  };
  EXPECT_EQ(hosts(), (std::vector<std::string>{"?2", "??2", "?3"}));
  log = Log::Open(path).value();
  writer = log.OpenWriter({}).value();
  EXPECT_EQ(writer.CodeOf("host", "lost").value(), 4u);
  EXPECT_EQ(writer.CodeOf("host", "?3").value(), 3u);
  ASSERT_TRUE(IsOk(writer.Close()));
  EXPECT_EQ(hosts(), (std::vector<std::string>{"?2", "??2", "?3"}));
  EXPECT_FALSE(Frame::Open(path)->snapshot().HasVlmetalayer("lost_metalayers"));
}

}  // namespace
}  // namespace cairn
