// Tests comparisons with numbers of every type.
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/log.h"
#include "cairn/log_writer.h"
#include "tests/support/little_endian.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn {
namespace {

using test::LittleEndian;

struct Numbers {
  LittleEndian<int64_t> time = 0;
  LittleEndian<uint16_t> half = 0;
  LittleEndian<float> single = 0;
  LittleEndian<double> real = 0;
  LittleEndian<int64_t> signed_whole = 0;
  LittleEndian<uint64_t> unsigned_whole = 0;
};

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr uint64_t kMostUnsigned = std::numeric_limits<uint64_t>::max();
constexpr int64_t kOdd = (int64_t{1} << 53) + 1;  // no double is equal to it

// Three records, whose halves are 2048, 65504 and 0.
class FilterTest : public testing::Test {
 protected:
  FilterTest() {
    LogCreateOptions options;
    options.schema = Schema::Make({{.name = "time", .type = FieldType::kTimestamp},
                                   {.name = "half", .type = FieldType::kFloat, .size = 2},
                                   {.name = "single", .type = FieldType::kFloat, .size = 4},
                                   {.name = "real", .type = FieldType::kFloat, .size = 8},
                                   {.name = "signed", .type = FieldType::kInt, .size = 8},
                                   {.name = "unsigned", .type = FieldType::kUint, .size = 8}})
                         .value();
    Log log = Log::Create(temp_.Path("log"), options).value();
    LogWriter writer = log.OpenWriter({}).value();
    const std::vector<Numbers> numbers = {{.time = 0,
                                           .half = 0x6800,
                                           .single = 16777216,
                                           .real = 9007199254740992,
                                           .signed_whole = kOdd,
                                           .unsigned_whole = kMostUnsigned},
                                          {.time = 1,
                                           .half = 0x7BFF,
                                           .single = 0.3F,
                                           .real = 0.3,
                                           .signed_whole = kMost,
                                           .unsigned_whole = 10'000'000'000'000'000'001U},
                                          {.time = 2, .signed_whole = kLeast}};
    EXPECT_TRUE(IsOk(writer.Append(numbers)));
    EXPECT_TRUE(IsOk(writer.Commit()));
    log_.emplace(*log.Refresh());
  }
  std::vector<int64_t> Run(const LogQuery& query) const {
    absl::StatusOr<LogCursor> cursor = log_->Query(query);
    EXPECT_TRUE(IsOk(cursor));
    const absl::StatusOr<LogBatch> batch = cursor->Next();
    EXPECT_TRUE(IsOk(batch));
    return batch->records;
  }
  std::vector<int64_t> Find(const std::string& filter) const { return Run({.filters = {filter}}); }
  std::vector<int64_t> Find(const std::string& field, Comparison comparison,
                            const FieldValue& value) const {
    return Run({.where = {{.field = field, .comparison = comparison, .value = value}}});
  }

  const test::TempDir temp_;
  std::optional<LogSnapshot> log_;
};

using Records = std::vector<int64_t>;

// 2049, 2^24 + 1 and 2^53 + 1 were stored as the even number before them.
TEST_F(FilterTest, WholeNumbersAreRoundedAsTheFloatsThatTheyAreComparedWith) {
  struct Odd {
    std::string field;
    int64_t number;
    Records at_least;
    Records less;
  };
  const std::vector<Odd> odds = {
      {"half", 2049, {0, 1}, {2}}, {"single", 16777217, {0}, {1, 2}}, {"real", kOdd, {0}, {1, 2}}};
  for (const auto& [field, number, at_least, less] : odds) {
    const FieldValue with_sign = number;
    const FieldValue without_sign = static_cast<uint64_t>(number);
    for (const FieldValue& value : {with_sign, without_sign}) {
      EXPECT_EQ(Find(field, Comparison::kEqual, value), Records{0}) << field;
      EXPECT_EQ(Find(field, Comparison::kNotEqual, value), (Records{1, 2})) << field;
      EXPECT_EQ(Find(field, Comparison::kGreaterOrEqual, value), at_least) << field;
      EXPECT_EQ(Find(field, Comparison::kLess, value), less) << field;
    }
    const std::string text = std::to_string(number);
    EXPECT_EQ(Find(field + " = " + text), Records{0});
    EXPECT_EQ(Find(field + " in (5, " + text + ")"), Records{0});
    EXPECT_EQ(Find(field + " != " + text), (Records{1, 2}));
    EXPECT_EQ(Find(field + " = " + text + ".0"), Records{0});
  }
  // Greater than every half.
  EXPECT_EQ(Find("half < 70000"), (Records{0, 1, 2}));
  EXPECT_EQ(Find("half >= 70000"), Records{});
}

// Just above the middle of two floats, but as doubles it is the middle.
TEST_F(FilterTest, TextsAreRoundedOnce) {
  LogCreateOptions options;
  options.schema = Schema::Make({{.name = "single", .type = FieldType::kFloat, .size = 4}}).value();
  Log log = Log::Create(temp_.Path("singles"), options).value();
  LogWriter writer = log.OpenWriter({}).value();
  const std::vector<LittleEndian<float>> floats = {1.0F, std::nextafter(1.0F, 2.0F)};
  EXPECT_TRUE(IsOk(writer.Append(floats)));
  EXPECT_TRUE(IsOk(writer.Commit()));
  log_.emplace(*log.Refresh());
  EXPECT_EQ(Find("single = 1.000000059604644775390625000000001"), Records{1});
}

TEST_F(FilterTest, NothingIsComparedWithNoValue) {
  const LogQuery query = {.where = {{.field = "real", .value = std::monostate()}}};
  EXPECT_TRUE(Fails(log_->Query(query), absl::StatusCode::kInvalidArgument, "no value"));
}

TEST_F(FilterTest, IntegersAreComparedExactlyWithFloats) {
  const double two63 = 9223372036854775808.0;
  const std::vector<std::pair<std::string, Records>> cases = {
      {"signed < 9.223372036854775808e18", {0, 1, 2}},
      {"signed >= 9.223372036854775808e18", {}},
      {"signed != 9.223372036854775808e18", {0, 1, 2}},
      {"signed = -9.223372036854775808e18", {2}},
      {"signed < -9.223372036854775808e18", {}},
      {"signed > 9007199254740992.0", {0, 1}},
      {"unsigned < 18446744073709551616", {0, 1, 2}},
      {"unsigned = 18446744073709551616", {}},
      {"unsigned > 1e19", {0, 1}},
      {"unsigned <= 1e19", {2}},
      {"unsigned = 10000000000000000001", {1}},
      {"unsigned >= -0.0", {0, 1, 2}},
      {"unsigned > -1e300", {0, 1, 2}}};
  for (const auto& [filter, expected] : cases) EXPECT_EQ(Find(filter), expected) << filter;
  EXPECT_EQ(Find("signed", Comparison::kLess, two63), (Records{0, 1, 2}));
  EXPECT_EQ(Find("unsigned", Comparison::kLess, 2 * two63), (Records{0, 1, 2}));
  EXPECT_EQ(Find("signed", Comparison::kLess, std::numeric_limits<double>::quiet_NaN()), Records{});
}

}  // namespace
}  // namespace cairn
