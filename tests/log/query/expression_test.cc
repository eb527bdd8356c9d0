// Conditions as people write them.
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/log.h"
#include "cairn/log_writer.h"
#include "tests/log/sensor_log.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn {
namespace {

using absl::StatusCode;
using test::Reading;
using test::RunQuery;

// Four readings, whose counts are 0 to 3.
class ExpressionTest : public testing::Test {
 protected:
  ExpressionTest() {
    Log log = Log::Create(temp_.Path("log"), test::SensorOptions()).value();
    LogWriter writer = log.OpenWriter({}).value();
    const std::vector<Reading> readings = {{.time = 1'000'000, .temp = -5.5, .count = 0},
                                           {.time = 2'000'000, .temp = 20, .count = 1},
                                           {.time = 3'000'000, .temp = std::nan(""), .count = 2},
                                           {.time = 4'000'000, .temp = 30.25, .count = 3}};
    EXPECT_TRUE(IsOk(writer.Append(readings)));
    EXPECT_TRUE(IsOk(writer.Commit()));
    log_.emplace(*log.Refresh());
  }
  std::vector<int64_t> Find(const std::string& filter) const {
    std::vector<int64_t> found;
    const auto rows = RunQuery(*log_, {.filters = {filter}});
    EXPECT_TRUE(IsOk(rows)) << filter;
    for (const test::NumberedReading& row : *rows) found.push_back(row.record);
    return found;
  }
  absl::Status Error(const std::string& filter) const {
    return log_->Query({.filters = {filter}}).status();
  }

  const test::TempDir temp_;
  std::optional<LogSnapshot> log_;
};

TEST_F(ExpressionTest, JoinsConditions) {
  const std::vector<std::pair<std::string, std::vector<int64_t>>> cases = {
      {"temp > 0", {1, 3}},
      {"temp > 0 and count < 3", {1}},
      {"temp < 0 or count = 2", {0, 2}},
      {"count = 0 or count = 1 and temp > 100", {0}},
      {"(count = 0 or count = 1) and temp > 100", {}},
      {"not temp > 0", {0, 2}},
      {"not (temp > 0 or temp <= 0)", {2}},
      {"not not count in (1, 3)", {1, 3}},
      {"count not in [1, 3,]", {0, 2}},
      {"-5.5 <= temp < 20", {0}},
      {"2 > 'count' AND count<>0", {1}},
      {"temp is null", {2}},
      {"temp IS NOT null and not count is null", {0, 1, 3}},
      {"\"temp\" is null or count is null or time is null", {2}},
      {"time >= '1970-01-01T00:00:02.0000001Z'", {2, 3}},
      {"time <= 1970-01-01 00:00:02.0000001", {0, 1}}};
  for (const auto& [filter, expected] : cases) EXPECT_EQ(Find(filter), expected) << filter;
}

TEST_F(ExpressionTest, ErrorsSayWhere) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "at character 1: expected a field, got the end"},
      {"count = 1 and", "at character 14: expected a field"},
      {"(count = 1", "at character 11: expected 'and', 'or' or ')'"},
      {"count = 1)", "at character 10: expected 'and', 'or' or the end, got ')'"},
      {"count = 1 & temp = 2", "at character 11: expected 'and'"},
      {"count in 5", "at character 10: expected '('"},
      {"count in (5; 6)", "at character 11: "},
      {"count not 5", "at character 11: expected 'in'"},
      {"count is not 5", "at character 14: expected 'in'"},
      {"temp = nan", "at character 8: nothing is equal to nan: expected 'temp is null'"},
      {"temp in (1, NULL)", "at character 13: nothing is equal to NULL"},
      {"temp = 'a", "at character 8: a quote without an end"},
      {"temp = count", "at character 8: a field is compared with a value"},
      {"time = 1970-01-01T00:00:00.0000001", "at character 8: "},
      {std::string(100, '(') + "count = 1", "nested too deeply"}};
  for (const auto& [filter, where] : cases) {
    EXPECT_TRUE(Fails(Error(filter), StatusCode::kInvalidArgument, where)) << filter;
  }
  EXPECT_TRUE(Fails(Error("a = 1"), StatusCode::kNotFound, "at character 1: no field 'a'"));
  EXPECT_TRUE(Fails(Error("a is null"), StatusCode::kNotFound, "at character 1: no field 'a'"));
}

}  // namespace
}  // namespace cairn
