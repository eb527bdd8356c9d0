// Upserts of records that are in older files of a log: beside readers, and while a file is held.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/file_system.h"
#include "cairn/forwarding_file.h"
#include "cairn/frame.h"
#include "cairn/log.h"
#include "cairn/log_writer.h"
#include "engine/log/state/edit_layer.h"
#include "tests/log/sensor_log.h"
#include "tests/support/little_endian.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn {
namespace {

using test::AllOf;
using test::Corrected;
using test::Joined;
using test::LittleEndian;
using test::Reading;
using test::Readings;
using test::SensorOptions;
using test::TempDir;

class LogUpsertOfManyFiles : public testing::Test {
 protected:
  LogUpsertOfManyFiles() {
    LogCreateOptions options = SensorOptions();
    options.rotation.period = 2000;
    log_.emplace(Log::Create(temp_.Path("log"), options).value());
    writer_.emplace(log_->OpenWriter({}).value());
    EXPECT_TRUE(IsOk(writer_->Append(Readings(450))));
    EXPECT_TRUE(IsOk(writer_->Commit()));
  }

  std::string File(int number) const {
    return temp_.Path("log") + "/log.00000" + std::to_string(number) + ".b2frame";
  }
  // Returns the readings that a frame of the log holds from this row on.
  std::vector<Reading> Stored(size_t file, int64_t row, int64_t count) {
    std::vector<Reading> readings(static_cast<size_t>(count));
    EXPECT_TRUE(IsOk(log_->Refresh()->frames().at(file).ReadItems(row, readings)));
    return readings;
  }
  std::vector<RecordRange> EditsOf(size_t file) {
    const absl::StatusOr<std::vector<std::byte>> layer =
        log_->Refresh()->frames().at(file).GetVlmetalayer(log::kEditLayer);
    return layer.ok() ? log::ParseEditLayer(*layer)->deleted : std::vector<RecordRange>();
  }

  const TempDir temp_;
  std::optional<Log> log_;
  std::optional<LogWriter> writer_;
};

// Old records of a file that another program holds are gone for every reader, and every call.
TEST_F(LogUpsertOfManyFiles, ReplacesRecordsOfAFileThatIsBeingCompacted) {
  Log reader = Log::Open(temp_.Path("log")).value();
  const LogSnapshot before = reader.snapshot();
  {
    Frame older = Frame::Open(File(0)).value();
    const Writer holder = older.OpenWriter({}).value();
    EXPECT_EQ(writer_->Upsert(Joined(Corrected(10, 100), Corrected(10, 445))).value(),
              (UpsertReport{.inserted = 5, .replaced = 15, .removed = 15}));
  }
  ASSERT_EQ(Stored(0, 100, 1), Readings(1, 100)) << "nobody held the file";
  std::vector<Reading> expected = Joined(Readings(445), Corrected(10, 445));
  std::ranges::copy(Corrected(10, 100), expected.begin() + 100);
  const std::vector<RecordRange> gone = {{.begin = 100, .end = 110}, {.begin = 445, .end = 450}};
  Log second = Log::Open(temp_.Path("log")).value();
  for (const LogSnapshot& log :
       {writer_->snapshot(), reader.Refresh().value(), second.snapshot()}) {
    EXPECT_EQ(AllOf(log), expected);
    EXPECT_EQ(log.deleted(), gone);
    EXPECT_EQ(log.ChangesSince(before).deleted, gone);
    EXPECT_EQ(log.nrecords(), 455);
    EXPECT_EQ(log.Aggregate({.fields = {"count"}})->front().records, 455);
    EXPECT_EQ(log.VerifyStatistics().value(), std::vector<std::string>());
    std::vector<Reading> row(1);
    ASSERT_TRUE(IsOk(log.ReadRecords(105, row)));
    EXPECT_EQ(row[0].count, 0) << "values of deleted records are not read";
    EXPECT_EQ(row[0].time, 1050);
    std::vector<LittleEndian<int32_t>> counts(3);
    ASSERT_TRUE(IsOk(log.ReadColumn("count", 109, counts)));
    EXPECT_EQ(counts, (std::vector<LittleEndian<int32_t>>{0, 110, 111}));
  }
  // The next upsert that has to do with older files overwrites them, too.
  ASSERT_TRUE(IsOk(writer_->Upsert(Corrected(1, 300))));
  EXPECT_EQ(Stored(0, 100, 1)[0].count, 0);
  EXPECT_EQ(EditsOf(0), (std::vector<RecordRange>{{.begin = 100, .end = 110}}));
  EXPECT_EQ(EditsOf(2), (std::vector<RecordRange>{{.begin = 445, .end = 450}}));
  EXPECT_EQ(reader.Refresh()->deleted().size(), 3);
  EXPECT_EQ(reader.Refresh()->nrecords(), 455);
}

// A file system that calls a function once, before it opens or identifies some file.
class LookingHook final : public ForwardingFileSystem {
 public:
  LookingHook() : ForwardingFileSystem(PosixFileSystem()) {}
  void CallAt(std::string name, std::function<void()> call) {
    name_ = std::move(name);
    call_ = std::move(call);
  }
  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, FileMode mode) override {
    Look(path);
    return ForwardingFileSystem::Open(path, mode);
  }
  absl::StatusOr<FileIdentity> Identity(const std::string& path) override {
    Look(path);
    return ForwardingFileSystem::Identity(path);
  }

 private:
  void Look(const std::string& path) {
    if (path.ends_with(name_) && call_ != nullptr) std::exchange(call_, nullptr)();
  }

  std::string name_;
  std::function<void()> call_;
};

// The files of a log are read one after the other, and an upsert comes in between: for each file,
// before that one is read. Calls read(files, path, upsert), which returns a reader after upsert().
template <typename Read>
void ForEachMoment(const Read& read) {
  for (const char* const name :
       {"log.000000.b2frame", "log.000001.b2frame", "log.000002.b2frame"}) {
    SCOPED_TRACE(name);
    const TempDir temp;
    const std::string path = temp.Path("log");
    LogCreateOptions options = SensorOptions();
    options.rotation.period = 2000;
    Log log = Log::Create(path, options).value();
    LogWriter writer = log.OpenWriter({}).value();
    ASSERT_TRUE(IsOk(writer.Append(Readings(450))));
    ASSERT_TRUE(IsOk(writer.Commit()));
    bool called = false;
    const auto files = std::make_shared<LookingHook>();
    // The first upsert tells readers to look at all files, and the second one comes meanwhile.
    const auto upsert = [&, name] {
      EXPECT_TRUE(IsOk(writer.Upsert(Corrected(1, 10))));
      files->CallAt(name, [&] {
        called = true;
        EXPECT_TRUE(IsOk(writer.Upsert(Corrected(310, 100))));
      });
    };
    Log reader = read(files, path, upsert);
    ASSERT_TRUE(called);
    std::vector<Reading> before = Readings(450);
    before[10].temp = 2.5;
    std::vector<Reading> after = before;
    std::ranges::copy(Corrected(310, 100), after.begin() + 100);
    const std::vector<Reading> found = AllOf(reader.snapshot());
    EXPECT_TRUE(found == before || found == after) << found.size();
    EXPECT_EQ(AllOf(reader.Refresh().value()), after);
  }
}

TEST(LogUpsertMeanwhile, ReaderThatOpensTheLogSeesAllOrNothing) {
  ForEachMoment([](const auto& files, const std::string& path, const auto& upsert) {
    upsert();
    return Log::Open(path, {.file_system = files}).value();
  });
}

TEST(LogUpsertMeanwhile, ReaderThatRefreshesSeesAllOrNothing) {
  ForEachMoment([](const auto& files, const std::string& path, const auto& upsert) {
    Log reader = Log::Open(path, {.file_system = files}).value();
    upsert();
    EXPECT_TRUE(IsOk(reader.Refresh()));
    return reader;
  });
}

// The newest file says which records are gone, also after the next one is the newest.
TEST_F(LogUpsertOfManyFiles, NextFileTakesOverWhatIsStillToDo) {
  Log reader = Log::Open(temp_.Path("log")).value();
  const std::vector<RecordRange> gone = {{.begin = 100, .end = 110}};
  {
    Frame older = Frame::Open(File(0)).value();
    const Writer holder = older.OpenWriter({}).value();
    ASSERT_TRUE(IsOk(writer_->Upsert(Corrected(10, 100))));
    ASSERT_TRUE(IsOk(writer_->Append(Readings(300, 450))));
    ASSERT_TRUE(IsOk(writer_->Commit()));
    ASSERT_EQ(log_->Refresh()->frames().size(), 4);
    EXPECT_EQ(EditsOf(3), gone);
    EXPECT_EQ(reader.Refresh()->deleted(), gone);
    EXPECT_EQ(Log::Open(temp_.Path("log"))->snapshot().deleted(), gone);
    writer_.reset();
    writer_.emplace(log_->OpenWriter({}).value());
    EXPECT_EQ(writer_->snapshot().deleted(), gone);
  }
  EXPECT_EQ(Stored(0, 100, 1), Readings(1, 100));
  writer_.reset();
  writer_.emplace(log_->OpenWriter({}).value());
  EXPECT_EQ(Stored(0, 100, 1)[0].count, 0);
  EXPECT_EQ(EditsOf(0), gone);
  EXPECT_EQ(EditsOf(3), std::vector<RecordRange>());
  EXPECT_EQ(reader.Refresh()->deleted(), gone);
  EXPECT_EQ(reader.snapshot().nrecords(), 750);
}

struct KeyedReading {
  LittleEndian<int64_t> time;
  LittleEndian<uint32_t> host;
};
struct WideReading {
  KeyedReading reading;
  LittleEndian<int32_t> added;
};

// The next writer does what one that died had left to do in older files.
TEST(LogUpsertOfKeyedFiles, NextWriterReadsOlderFilesWithTheFieldsOfTheLog) {
  const TempDir temp;
  LogCreateOptions options;
  options.schema = Schema::Make({{.name = "time", .type = FieldType::kTimestamp},
                                 {.name = "host", .type = FieldType::kText, .size = 4}})
                       .value();
  options.rotation.period = 2000;
  Log log = Log::Create(temp.Path("log"), options).value();
  std::optional<LogWriter> writer = log.OpenWriter({}).value();
  const uint32_t host = writer->CodeOf("host", "a").value();
  std::vector<KeyedReading> readings;
  for (int64_t i = 0; i < 450; ++i) readings.push_back({.time = 10 * i, .host = host});
  ASSERT_TRUE(IsOk(writer->Append(readings)));
  ASSERT_TRUE(IsOk(writer->AddField({.name = "added", .type = FieldType::kInt, .size = 4})));
  const auto upsert = [&](int64_t from) {
    std::vector<WideReading> wide;
    for (int64_t i = from; i < from + 5; ++i) {
      wide.push_back({.reading = readings[static_cast<size_t>(i)], .added = 1});
    }
    return writer->Upsert(wide);
  };
  {
    Frame older = Frame::Open(temp.Path("log") + "/log.000000.b2frame").value();
    const Writer holder = older.OpenWriter({}).value();
    ASSERT_TRUE(IsOk(upsert(100)));
  }
  writer.reset();
  writer.emplace(log.OpenWriter({}).value());
  const absl::StatusOr<UpsertReport> done = upsert(20);
  ASSERT_TRUE(IsOk(done));
  EXPECT_EQ(*done, (UpsertReport{.replaced = 5, .removed = 5}));
}

}  // namespace
}  // namespace cairn
