#include "engine/log/query/buckets.h"

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include <gtest/gtest.h>

#include "tests/support/status.h"

namespace cairn::log {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

Field Time(TimeUnit unit = TimeUnit::kSeconds) {
  return {.name = "time", .type = FieldType::kTimestamp, .unit = unit};
}

Buckets Calendar(int64_t count, CalendarUnit unit, const std::string& zone,
                 TimeUnit time = TimeUnit::kSeconds) {
  return Buckets::Make({.bucket = count, .calendar = unit, .time_zone = zone}, Time(time)).value();
}

int64_t Utc(const std::string& text) {
  absl::Time time;
  std::string error;
  EXPECT_TRUE(absl::ParseTime("%Y-%m-%d %H:%M", text, &time, &error)) << error;
  return absl::ToUnixSeconds(time);
}

// Returns the begins of buckets that follow each other, the first of which holds a time.
std::string Bounds(Buckets buckets, const std::string& from, size_t count) {
  std::string bounds;
  int64_t time = Utc(from);
  for (size_t i = 0; i < count; ++i) {
    const TimeRange bucket = buckets.Of(time);
    bounds +=
        (i == 0 ? "" : ", ") +
        absl::FormatTime("%m-%d %H:%M", absl::FromUnixSeconds(bucket.begin), absl::UTCTimeZone());
    EXPECT_LT(bucket.begin, bucket.end);
    time = bucket.end;
    EXPECT_EQ(buckets.Of(time).begin, bucket.end);
    EXPECT_EQ(buckets.Of(time - 1).begin, bucket.begin);
  }
  return bounds;
}

TEST(CalendarBuckets, HaveDaysOf23And25Hours) {
  const Buckets days = Calendar(1, CalendarUnit::kDay, "Europe/Berlin");
  EXPECT_EQ(Bounds(days, "2026-03-28 12:00", 3), "03-27 23:00, 03-28 23:00, 03-29 22:00");
  EXPECT_EQ(Bounds(days, "2026-10-24 12:00", 3), "10-23 22:00, 10-24 22:00, 10-25 23:00");
}

TEST(CalendarBuckets, HaveNoDayThatAZoneLeftOut) {
  const Buckets days = Calendar(1, CalendarUnit::kDay, "Pacific/Apia");
  EXPECT_EQ(Bounds(days, "2011-12-29 12:00", 3), "12-29 10:00, 12-30 10:00, 12-31 10:00");
}

TEST(CalendarBuckets, CountAMidnightThatClocksShowTwiceOnce) {
  const Buckets days = Calendar(1, CalendarUnit::kDay, "America/Havana");
  EXPECT_EQ(Bounds(days, "2025-11-01 12:00", 3), "11-01 04:00, 11-02 04:00, 11-03 05:00");
  // Clocks went from 00:01 back to 23:01.
  const Buckets johns = Calendar(1, CalendarUnit::kDay, "America/St_Johns");
  EXPECT_EQ(Bounds(johns, "2010-11-06 12:00", 3), "11-06 02:30, 11-07 02:30, 11-08 03:30");
}

TEST(CalendarBuckets, BeginWeeksOnMonday) {
  EXPECT_EQ(Bounds(Calendar(1, CalendarUnit::kWeek, "Europe/Berlin"), "2026-03-25 12:00", 3),
            "03-22 23:00, 03-29 22:00, 04-05 22:00");
  EXPECT_EQ(Bounds(Calendar(2, CalendarUnit::kWeek, ""), "1970-01-05 00:00", 2),
            "01-05 00:00, 01-19 00:00");
}

TEST(CalendarBuckets, HaveMonthsQuartersAndYears) {
  EXPECT_EQ(Bounds(Calendar(1, CalendarUnit::kMonth, "Europe/Berlin"), "2024-02-29 22:59", 2),
            "01-31 23:00, 02-29 23:00");
  EXPECT_EQ(Bounds(Calendar(3, CalendarUnit::kMonth, ""), "2026-05-05 00:00", 3),
            "04-01 00:00, 07-01 00:00, 10-01 00:00");
  EXPECT_EQ(Calendar(10, CalendarUnit::kYear, "").Of(Utc("1969-12-31 00:00")).begin,
            Utc("1960-01-01 00:00"));
  EXPECT_EQ(Calendar(1, CalendarUnit::kYear, "").Of(Utc("1969-12-31 00:00")).end, 0);
}

TEST(CalendarBuckets, KeepTheHoursApartThatClocksShowTwice) {
  EXPECT_EQ(Bounds(Calendar(1, CalendarUnit::kHour, "Europe/Berlin"), "2026-10-24 23:30", 4),
            "10-24 23:00, 10-25 00:00, 10-25 01:00, 10-25 02:00");
  EXPECT_EQ(Bounds(Calendar(6, CalendarUnit::kHour, "Europe/Berlin"), "2026-10-24 23:30", 2),
            "10-24 22:00, 10-25 05:00")
      << "seven hours";
  EXPECT_EQ(Bounds(Calendar(6, CalendarUnit::kHour, "Europe/Berlin"), "2026-03-28 23:30", 2),
            "03-28 23:00, 03-29 04:00")
      << "five hours";
  EXPECT_EQ(Bounds(Calendar(1, CalendarUnit::kHour, "Asia/Kathmandu"), "2026-01-01 00:00", 2),
            "12-31 23:15, 01-01 00:15");
}

TEST(CalendarBuckets, FollowAChangeOfHalfAnHour) {
  const Buckets hours = Calendar(1, CalendarUnit::kHour, "Australia/Lord_Howe");
  EXPECT_EQ(Bounds(hours, "2026-04-04 13:30", 3), "04-04 13:00, 04-04 14:00, 04-04 15:30");
  EXPECT_EQ(Bounds(hours, "2026-10-03 14:45", 3), "10-03 14:30, 10-03 15:30, 10-03 16:00");
}

TEST(CalendarBuckets, HoldEveryTimeOfEveryUnit) {
  std::mt19937_64 random(1);
  for (const std::string zone : {"", "Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia"}) {
    for (const TimeUnit unit : {TimeUnit::kSeconds, TimeUnit::kMilliseconds,
                                TimeUnit::kMicroseconds, TimeUnit::kNanoseconds}) {
      for (const CalendarUnit calendar :
           {CalendarUnit::kHour, CalendarUnit::kDay, CalendarUnit::kWeek, CalendarUnit::kMonth,
            CalendarUnit::kYear}) {
        std::vector<int64_t> times = {kLeast, kLeast + 1, -1, 0, 1, kMost - 1, kMost};
        for (int shift = 1; shift < 60; ++shift) {
          times.push_back(static_cast<int64_t>(random()) >> shift);
        }
        for (const int64_t time : times) {
          const TimeRange bucket = Calendar(1, calendar, zone, unit).Of(time);
          ASSERT_TRUE(Contains(bucket, time)) << time << " " << bucket.begin << " " << bucket.end;
        }
      }
    }
  }
}

TEST(PlainBuckets, HoldTheLeastAndTheGreatestTime) {
  Buckets buckets = Buckets::Make({.bucket = 1000, .origin = 3}, Time()).value();
  EXPECT_EQ(buckets.Of(2).begin, -997);
  EXPECT_EQ(buckets.Of(2).end, 3);
  EXPECT_EQ(buckets.Of(kLeast).begin, kLeast);
  Buckets fresh = Buckets::Make({.bucket = 1000, .origin = 3}, Time()).value();
  EXPECT_EQ(fresh.Of(kLeast + 1).begin, kLeast + 1);  // the least time
  EXPECT_EQ(buckets.Of(kMost).end, kMost);
  EXPECT_TRUE(Contains(buckets.Of(kMost), kMost));
  EXPECT_FALSE(Contains(buckets.Of(kLeast), 0));
}

TEST(CalendarBuckets, RefuseWhatFitsNoCalendar) {
  const auto refuses = [](const LogAggregation& aggregation, std::string_view part) {
    return Fails(Buckets::Make(aggregation, Time()), absl::StatusCode::kInvalidArgument, part);
  };
  for (const std::string zone : {"Europe/Nowhere", "../../etc/passwd", "/etc/localtime", "a\nb"}) {
    EXPECT_TRUE(refuses({.bucket = 1, .calendar = CalendarUnit::kDay, .time_zone = zone},
                        "time zone '" + zone + "'"));
  }
  EXPECT_TRUE(refuses({.bucket = 0, .calendar = CalendarUnit::kDay}, "1 to"));
  EXPECT_TRUE(refuses({.bucket = kMost, .calendar = CalendarUnit::kWeek}, "1 to"));
  EXPECT_TRUE(refuses({.bucket = -1}, "bucket"));
  EXPECT_TRUE(refuses({.bucket = 24, .calendar = CalendarUnit::kHour}, "or 12"));
  EXPECT_TRUE(refuses({.bucket = 5, .calendar = CalendarUnit::kHour}, "or 12"));
  EXPECT_TRUE(refuses({.bucket = 1, .origin = 1, .calendar = CalendarUnit::kDay}, "origin"));
  EXPECT_TRUE(refuses({.bucket = 1, .time_zone = "UTC"}, "without a calendar"));
  const Field number = {.name = "t", .type = FieldType::kInt, .size = 8};
  EXPECT_TRUE(Fails(Buckets::Make({.bucket = 1, .calendar = CalendarUnit::kDay}, number),
                    absl::StatusCode::kInvalidArgument, "'t' is a number"));
}

}  // namespace
}  // namespace cairn::log
