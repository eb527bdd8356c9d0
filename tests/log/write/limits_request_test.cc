#include "engine/log/write/limits_request.h"

#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "tests/log/sensor_log.h"
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

}  // namespace
}  // namespace cairn::log
