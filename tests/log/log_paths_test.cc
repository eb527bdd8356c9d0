// Logs whose paths come to mean other files.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/log.h"
#include "cairn/log_writer.h"
#include "tests/log/sensor_log.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

namespace fs = std::filesystem;

// Works in another directory for as long as it lives.
class WorkingDirectory {
 public:
  explicit WorkingDirectory(const fs::path& path) : before_(fs::current_path()) {
    fs::current_path(path);
  }
  ~WorkingDirectory() { fs::current_path(before_); }
  WorkingDirectory(const WorkingDirectory&) = delete;
  WorkingDirectory& operator=(const WorkingDirectory&) = delete;

 private:
  const fs::path before_;
};

class LogPathsTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(here_);
    fs::create_directory(there_);
  }

  static LogCreateOptions Rotating() {
    LogCreateOptions options = SensorOptions();
    options.rotation.period = 2'000;  // files of 200 readings
    return options;
  }
  // Makes a log of a few records, whose counts begin with this number.
  static void Make(const std::string& path, int64_t from,
                   const LogCreateOptions& options = SensorOptions()) {
    Log log = Log::Create(path, options).value();
    LogWriter writer = log.OpenWriter({}).value();
    ASSERT_TRUE(IsOk(writer.Append(Readings(20, from))));
    ASSERT_TRUE(IsOk(writer.Close()));
  }
  static std::vector<Reading> Read(const std::string& path) {
    return AllOf(Log::Open(path).value().snapshot());
  }
  static size_t CountFiles(const std::string& directory) {
    return static_cast<size_t>(std::distance(fs::directory_iterator(directory), {}));
  }
  static const Field& Added() {
    static const Field field = {.name = "added", .type = FieldType::kInt, .size = 4};
    return field;
  }

  const TempDir temp_;
  const std::string here_ = temp_.Path("here");
  const std::string there_ = temp_.Path("there");
};

TEST_F(LogPathsTest, AFieldIsAddedToTheLogThatWasOpened) {
  Make(there_ + "/log", 100);
  {
    const WorkingDirectory begin(here_);
    Log log = Log::Create("log", SensorOptions()).value();
    LogWriter writer = log.OpenWriter({}).value();
    ASSERT_TRUE(IsOk(writer.Append(Readings(20))));
    const WorkingDirectory moved(there_);
    ASSERT_TRUE(IsOk(writer.AddField(Added())));
    ASSERT_TRUE(IsOk(writer.Close()));
  }
  EXPECT_EQ(Read(there_ + "/log"), Readings(20, 100));
  EXPECT_NE(Log::Open(here_ + "/log").value().snapshot().schema().Find("added"), nullptr);
}

TEST_F(LogPathsTest, ARequestGoesToTheWriterOfTheLogThatWasOpened) {
  Make(here_ + "/log", 0);
  Make(there_ + "/log", 0);
  const WorkingDirectory begin(here_);
  Log log = Log::Open("log").value();
  LogWriter writer = log.OpenWriter({}).value();
  const WorkingDirectory moved(there_);
  EXPECT_TRUE(Fails(log.Delete({.times = {.begin = 0, .end = 100}}, std::chrono::milliseconds(0)),
                    absl::StatusCode::kUnavailable, ""));
  EXPECT_EQ(CountFiles(there_), 1U);
  ASSERT_TRUE(IsOk(writer.Close()));
}

TEST_F(LogPathsTest, AWriterRotatesInTheDirectoryThatWasOpened) {
  Make(there_ + "/log", 0, Rotating());
  {
    const WorkingDirectory begin(here_);
    Log log = Log::Create("log", Rotating()).value();
    const WorkingDirectory moved(there_);
    LogWriter writer = log.OpenWriter({}).value();
    for (int64_t i = 0; i < 10; ++i) {
      ASSERT_TRUE(IsOk(writer.Append(Readings(500, 500 * i))));
      ASSERT_TRUE(IsOk(writer.Commit()));
    }
    ASSERT_TRUE(IsOk(writer.Close()));
    EXPECT_EQ(AllOf(log.Refresh().value()), Readings(5'000));
  }
  EXPECT_EQ(CountFiles(there_ + "/log"), 1U);
  EXPECT_GT(CountFiles(here_ + "/log"), 1U);
}

TEST_F(LogPathsTest, AFieldIsNotAddedToAFileThatTookTheNameOfTheLog) {
  const std::string path = temp_.Path("log");
  Log log = Log::Create(path, SensorOptions()).value();
  LogWriter writer = log.OpenWriter({}).value();
  ASSERT_TRUE(IsOk(writer.Append(Readings(20))));
  ASSERT_TRUE(IsOk(writer.Commit()));
  fs::rename(path, path + ".1");
  Make(path, 100);
  EXPECT_TRUE(Fails(writer.AddField(Added()), absl::StatusCode::kFailedPrecondition,
                    "was moved or replaced"));
  EXPECT_EQ(Read(path), Readings(20, 100));
  EXPECT_EQ(Read(path + ".1"), Readings(20));
  EXPECT_FALSE(fs::exists(path + ".fields"));
}

class ReplacedLogTest : public LogPathsTest {
 protected:
  void SetUp() override {
    log_.emplace(Log::Create(path_, Rotating()).value());
    writer_.emplace(log_->OpenWriter({}).value());
    for (int64_t i = 0; i < 4; ++i) {
      ASSERT_TRUE(IsOk(writer_->Append(Readings(500, 500 * i))));
      ASSERT_TRUE(IsOk(writer_->Commit()));
    }
    ASSERT_GT(CountFiles(path_), 1U);
    fs::rename(path_, path_ + ".1");
    Make(path_, 100, Rotating());
    Log log = Log::Open(path_).value();
    LogWriter writer = log.OpenWriter({}).value();
    for (int64_t i = 0; i < 10; ++i) {
      ASSERT_TRUE(IsOk(writer.Append(Readings(500, 120 + 500 * i))));
      ASSERT_TRUE(IsOk(writer.Commit()));
    }
    ASSERT_TRUE(IsOk(writer.Close()));
  }
  void TearDown() override { EXPECT_EQ(Read(path_), Readings(5'020, 100)); }

  const std::string path_ = temp_.Path("log");
  std::optional<Log> log_;
  std::optional<LogWriter> writer_;
};

TEST_F(ReplacedLogTest, IsNotContinuedByTheWriterOfTheLogBefore) {
  absl::Status status;
  for (int64_t i = 0; i < 10 && status.ok(); ++i) {
    status = writer_->Append(Readings(500, 2'000 + 500 * i));
    if (status.ok()) status = writer_->Commit();
  }
  EXPECT_TRUE(Fails(status, absl::StatusCode::kFailedPrecondition, "was moved or replaced"));
}

TEST_F(ReplacedLogTest, LosesNoFilesToTheRetentionOfTheLogBefore) {
  ASSERT_TRUE(IsOk(writer_->SetRetention({.max_records = 100})));
  EXPECT_TRUE(Fails(writer_->ApplyRetention(), absl::StatusCode::kFailedPrecondition,
                    "was moved or replaced"));
}

TEST_F(ReplacedLogTest, LosesNoRecordsToADeletionInTheLogBefore) {
  const absl::StatusOr<int64_t> deleted = writer_->Delete({.times = {.begin = 0, .end = 10'000}});
  EXPECT_TRUE(
      Fails(deleted.status(), absl::StatusCode::kFailedPrecondition, "was moved or replaced"));
}

// A checkpoint without records takes the path as a new file.
// Nobody would see what it commits.
TEST_F(LogPathsTest, WriterOfALogThatIsGoneFromItsPathStops) {
  for (const bool rotates : {false, true}) {
    for (const bool is_removed : {false, true}) {
      const std::string path = here_ + "/log";
      fs::remove_all(here_);
      fs::remove_all(there_);
      fs::create_directory(here_);
      Make(path, 0, rotates ? Rotating() : SensorOptions());
      Log log = Log::Open(path).value();
      LogWriter writer = log.OpenWriter({}).value();
      ASSERT_TRUE(IsOk(writer.Append(Readings(5, 20))));
      ASSERT_TRUE(IsOk(writer.Commit()));
      if (is_removed) {
        fs::remove_all(path);
      } else {
        fs::rename(path, there_);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(15));
      ASSERT_TRUE(IsOk(writer.Append(Readings(5, 25))));
      EXPECT_TRUE(Fails(writer.Commit(), absl::StatusCode::kFailedPrecondition, "was moved"));
      EXPECT_FALSE(writer.Append(Readings(1, 30)).ok());
      if (!is_removed) {
        EXPECT_EQ(Read(there_).size(), 25);
      }
    }
  }
}

TEST_F(LogPathsTest, FileThatItsWriterReplacedIsStillItsOwn) {
  const std::string path = temp_.Path("rotating");
  Log log = Log::Create(path, Rotating()).value();
  LogWriter writer = log.OpenWriter({}).value();
  ASSERT_TRUE(IsOk(writer.SetRetention({.max_records = 1'000'000})));
  ASSERT_TRUE(IsOk(writer.Checkpoint()));
  ASSERT_TRUE(IsOk(writer.Append(Readings(500))));
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_EQ(CountFiles(path), 3u);
  EXPECT_EQ(Read(path), Readings(500));
}

// Returns how many descriptors of this process lead to files in the directory that have no name.
size_t CountUnnamed(const std::string& directory) {
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    const std::string target = fs::read_symlink(entry.path(), error).string();
    if (target.starts_with(directory) && target.ends_with(" (deleted)")) ++count;
  }
  return count;
}

// A file is compacted a moment after the next one is there, and a reader may look in between.
TEST_F(LogPathsTest, ReaderThatHasSeenAllKeepsNoFileThatIsGone) {
  const std::string path = temp_.Path("rotating");
  LogCreateOptions options = Rotating();
  options.retention.max_records = 2'000;
  Log log = Log::Create(path, options).value();
  Log reader = Log::Open(path).value();
  std::atomic<bool> has_ended = false;
  std::thread refreshing([&] {
    while (!has_ended) EXPECT_TRUE(IsOk(reader.Refresh()));
  });
  LogWriter writer = log.OpenWriter({}).value();
  for (int64_t i = 0; i < 10'000; i += 20) {
    EXPECT_TRUE(IsOk(writer.Append(Readings(20, i))));
    EXPECT_TRUE(IsOk(writer.Commit()));
  }
  has_ended = true;
  refreshing.join();
  EXPECT_EQ(reader.Refresh()->end_record(), 10'000);
  EXPECT_EQ(CountUnnamed(path), 0u);
}

class LinkedLogTest : public LogPathsTest {
 protected:
  void SetUp() override {
    Make(path_, 0);
    fs::create_symlink(path_, link_);
  }
  const std::string path_ = temp_.Path("log");
  const std::string link_ = temp_.Path("link");
};

TEST_F(LinkedLogTest, GetsAFieldAndTheLinkStays) {
  Log log = Log::Open(link_).value();
  ASSERT_TRUE(IsOk(log.AddField(Added(), std::chrono::seconds(5))));
  EXPECT_TRUE(fs::is_symlink(link_));
  EXPECT_NE(Log::Open(path_).value().snapshot().schema().Find("added"), nullptr);
}

TEST_F(LinkedLogTest, TakesRequestsThatAreLeftByItsOtherName) {
  Log log = Log::Open(path_).value();
  LogWriter writer = log.OpenWriter({}).value();
  ASSERT_TRUE(IsOk(Log::Open(link_).value().RequestLimits({.max_bytes = 1 << 20},
                                                          {.max_bytes = -1, .period = -1})));
  ASSERT_TRUE(IsOk(writer.Append(Readings(20, 20))));
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_EQ(writer.snapshot().retention().max_bytes, 1 << 20);
}

}  // namespace
}  // namespace cairn::test
