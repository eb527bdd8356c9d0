#include "engine/log/write/limits_request.h"

#include <chrono>
#include <filesystem>
#include <grp.h>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "tests/log/sensor_log.h"
#include "tests/support/child_process.h"
#include "tests/support/files.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::log {
namespace {

constexpr LimitsRequest kAge = {.retention = {.max_age = 7, .max_records = -1, .max_bytes = -1}};
constexpr LimitsRequest kRecords = {
    .retention = {.max_age = -1, .max_records = 5, .max_bytes = -1}};

class LimitsRequestTest : public testing::Test {
 protected:
  LimitsRequestTest() {
    const std::string path = dir_.Path("log");
    EXPECT_TRUE(IsOk(Log::Create(path, test::SensorOptions())));
    log_ = LogCore::Open(path, {}, "time").value();
  }
  std::optional<LimitsRequest> Found() const { return FindRequest(*log_).value(); }

  const test::TempDir dir_;
  std::shared_ptr<LogCore> log_;
};

TEST_F(LimitsRequestTest, LimitsOfOneThatIsThereStay) {
  EXPECT_EQ(Found(), std::nullopt);
  ASSERT_TRUE(IsOk(LeaveRequest(*log_, kAge)));
  EXPECT_EQ(Found(), kAge);
  ASSERT_TRUE(IsOk(LeaveRequest(*log_, kRecords)));
  EXPECT_EQ(Found()->retention.max_age, 7);
  EXPECT_EQ(Found()->retention.max_records, 5);
}

TEST_F(LimitsRequestTest, OneThatCameSinceIsNotEnded) {
  ASSERT_TRUE(IsOk(LeaveRequest(*log_, kAge)));
  const LimitsRequest taken = *Found();
  ASSERT_TRUE(IsOk(LeaveRequest(*log_, kRecords)));
  const LimitsRequest newer = *Found();
  ASSERT_TRUE(IsOk(RemoveRequest(*log_, taken)));
  EXPECT_EQ(Found(), newer);
  ASSERT_TRUE(IsOk(RemoveRequest(*log_, newer)));
  EXPECT_EQ(Found(), std::nullopt);
}

// In a shared folder another user may leave one.
TEST_F(LimitsRequestTest, OneThatCannotBeRemovedIsTakenOnceAndEndsNoCommit) {
  namespace fs = std::filesystem;
  if (::geteuid() != 0) GTEST_SKIP() << "only root may take another user";
  fs::permissions(dir_.path(), fs::perms::all | fs::perms::sticky_bit);
  fs::permissions(log_->path(), fs::perms::all);
  ASSERT_TRUE(IsOk(LeaveRequest(*log_, kRecords)));
  const std::string path = log_->path();
  const int result = test::ResultOfChild([&] {
    constexpr uid_t kStranger = 4321;
    if (::setgroups(0, nullptr) != 0 || ::setgid(kStranger) != 0 || ::setuid(kStranger) != 0) {
      return 1;
    }
    auto log = Log::Open(path);
    if (!log.ok()) return 2;
    auto writer = log->OpenWriter({});
    if (!writer.ok()) return 3;
    const test::Reading reading = {.time = 1, .temp = 2, .count = 3};
    const Bytes record = std::as_bytes(std::span(&reading, 1));
    for (int i = 0; i < 2; ++i) {
      if (!writer->Append(record).ok() || !writer->Commit().ok()) return 4;
      const auto newest = log->Refresh();
      if (!newest.ok() || newest->retention().max_records != 5) return 5;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // so that it is looked for
    }
    return writer->Close().ok() ? 0 : 6;
  });
  EXPECT_EQ(result, 0);
  EXPECT_EQ(Found()->retention.max_records, 5);
}

// Another user could have all records dropped.
TEST_F(LimitsRequestTest, OneOfAStrangerIsNotTaken) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may make files of another user";
  constexpr uid_t kStranger = 4321;
  ASSERT_TRUE(IsOk(LeaveRequest(*log_, kRecords)));
  const std::string path = log_->path() + ".request";
  ASSERT_EQ(::chown(path.c_str(), kStranger, kStranger), 0);
  EXPECT_TRUE(absl::IsPermissionDenied(FindRequest(*log_).status()));
  // The owner's takes its place.
  ASSERT_TRUE(IsOk(LeaveRequest(*log_, kAge)));
  EXPECT_EQ(Found(), kAge);
}

TEST_F(LimitsRequestTest, StrangerLearnsThatNobodyTakesOne) {
  namespace fs = std::filesystem;
  if (::geteuid() != 0) GTEST_SKIP() << "only root may take another user";
  fs::permissions(dir_.path(), fs::perms::all);
  const int result = test::ResultOfChild([&] {
    constexpr uid_t kStranger = 4321;
    if (::setgroups(0, nullptr) != 0 || ::setgid(kStranger) != 0 || ::setuid(kStranger) != 0) {
      return 1;
    }
    return LeaveRequest(*log_, kRecords).ok() ? 2 : 0;
  });
  EXPECT_EQ(result, 0);
  EXPECT_EQ(test::NamesIn(dir_.path()), std::vector<std::string>{"log"});
}

TEST_F(LimitsRequestTest, EverybodyMayLeaveOneWhereEverybodyMayWriteTheLog) {
  namespace fs = std::filesystem;
  if (::geteuid() != 0) GTEST_SKIP() << "only root may take another user";
  fs::permissions(dir_.path(), fs::perms::all);
  fs::permissions(log_->path(), fs::perms(0666));
  const int result = test::ResultOfChild([&] {
    constexpr uid_t kStranger = 4321;
    if (::setgroups(0, nullptr) != 0 || ::setgid(kStranger) != 0 || ::setuid(kStranger) != 0) {
      return 1;
    }
    return LeaveRequest(*log_, kRecords).ok() ? 0 : 2;
  });
  EXPECT_EQ(result, 0);
  EXPECT_EQ(Found(), kRecords);
}

// The link leads to a request for another log.
TEST_F(LimitsRequestTest, LinkIsNotTaken) {
  namespace fs = std::filesystem;
  ASSERT_TRUE(IsOk(LeaveRequest(*log_, kRecords)));
  const std::string path = log_->path() + ".request";
  const std::string other = dir_.Path("other.request");
  fs::rename(path, other);
  fs::create_symlink(other, path);
  EXPECT_TRUE(absl::IsPermissionDenied(FindRequest(*log_).status()));
  fs::remove(path);
  fs::create_hard_link(other, path);
  EXPECT_TRUE(absl::IsPermissionDenied(FindRequest(*log_).status()));
}

}  // namespace
}  // namespace cairn::log
