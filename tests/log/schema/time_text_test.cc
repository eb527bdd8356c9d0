#include "cairn/time_text.h"

#include <cstdint>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/support/status.h"

namespace cairn {
namespace {

int64_t Seconds(std::string_view text, std::string_view zone = {}, std::string_view now = {}) {
  TimeTextOptions options = {.time_zone = zone};
  if (!now.empty()) options.now = ParseTime(now, TimeUnit::kSeconds).value();
  const absl::StatusOr<int64_t> time = ParseTime(text, TimeUnit::kSeconds, options);
  EXPECT_TRUE(IsOk(time)) << text;
  return time.value_or(-1);
}

TEST(ParseTime, ReadsATimeWithoutAnOffsetInItsZone) {
  EXPECT_EQ(Seconds("2026-07-01", "Europe/Berlin"), Seconds("2026-06-30T22:00Z"));
  EXPECT_EQ(Seconds("2026-01-01T12:30:01", "Europe/Berlin"), Seconds("2026-01-01T11:30:01Z"));
  EXPECT_EQ(Seconds("2026-01-01T12:30Z", "Europe/Berlin"), Seconds("2026-01-01T12:30"));
  EXPECT_EQ(Seconds("2026-01-01T12:30+02:00", "Europe/Berlin"), Seconds("2026-01-01T10:30"));
  EXPECT_EQ(Seconds("1971-06-01T11:15:30-00:44:30", "Europe/Berlin"), Seconds("1971-06-01T12:00"));
  EXPECT_EQ(Seconds("2026-10-25T02:30", "Europe/Berlin"), Seconds("2026-10-25T00:30")) << "first";
  EXPECT_EQ(Seconds("2026-03-29T02:30", "Europe/Berlin"), Seconds("2026-03-29T01:00")) << "jump";
  EXPECT_EQ(Seconds("1767225600", "Europe/Berlin"), 1767225600) << "a count";
  EXPECT_TRUE(Fails(ParseTime("2026-01-01", TimeUnit::kSeconds, {.time_zone = "Europe/Nowhere"}),
                    absl::StatusCode::kInvalidArgument, "'Europe/Nowhere'"));
}

TEST(ParseTime, ReadsTimesRelativeToNow) {
  constexpr std::string_view kNow = "2026-03-29T08:15:30Z";
  const auto at = [&](std::string_view text, std::string_view zone = {}) {
    return Seconds(text, zone, kNow);
  };
  EXPECT_EQ(at("now"), Seconds(kNow));
  EXPECT_EQ(at("now-90s"), Seconds("2026-03-29T08:14:00"));
  EXPECT_EQ(at("-15m"), Seconds("2026-03-29T08:00:30"));
  EXPECT_EQ(at("+2h"), Seconds("2026-03-29T10:15:30"));
  EXPECT_EQ(at("today"), Seconds("2026-03-29T00:00"));
  EXPECT_EQ(at("tomorrow"), Seconds("2026-03-30T00:00"));
  EXPECT_EQ(at("yesterday-1w"), Seconds("2026-03-21T00:00"));
  EXPECT_EQ(at("today", "Europe/Berlin"), Seconds("2026-03-28T23:00"));
  EXPECT_EQ(at("tomorrow", "Europe/Berlin"), Seconds("2026-03-29T22:00")) << "after 23 hours";
  EXPECT_EQ(at("now-1d", "Europe/Berlin"), Seconds("2026-03-28T09:15:30")) << "the same clock time";
  EXPECT_EQ(at("now-24h", "Europe/Berlin"), Seconds("2026-03-28T08:15:30"));
  EXPECT_EQ(at("today", "Pacific/Auckland"), Seconds("2026-03-28T11:00"));
  EXPECT_EQ(ParseTime("-1ms", TimeUnit::kNanoseconds, {.now = 5'000'000}).value(), 4'000'000);
  EXPECT_EQ(ParseTime("now-1d", TimeUnit::kMilliseconds, {.now = -1}).value(), -86'400'001);
}

TEST(ParseTime, RefusesOffsetsThatAreNone) {
  for (const std::string_view offset : {"+24:00", "+01:60", "+01:00:60", "+01:00:", "+0100:30"}) {
    const std::string text = "2026-01-01T12:30" + std::string(offset);
    EXPECT_TRUE(Fails(ParseTime(text, TimeUnit::kSeconds, {}), absl::StatusCode::kInvalidArgument,
                      "is not a time"))
        << text;
  }
}

TEST(ParseTime, RefusesWhatIsNotRelativeToNow) {
  for (const std::string_view text :
       {"now-", "now15m", "nowhere", "today-1", "today-1y", "todayish", "now-1h30m", "-m", "--1m",
        "now-99999999999999999999s", "now-9000000000000000000w", "now+99999999999w", "-1 m"}) {
    EXPECT_TRUE(Fails(ParseTime(text, TimeUnit::kSeconds, {.now = 0}),
                      absl::StatusCode::kInvalidArgument, text))
        << text;
  }
  EXPECT_FALSE(IsOk(ParseTime("now", TimeUnit::kSeconds))) << "without a now";
  EXPECT_FALSE(IsOk(ParseTime("-15m", TimeUnit::kSeconds)));
}

}  // namespace
}  // namespace cairn
