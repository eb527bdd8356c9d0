#include "tools/cairn/log/fill.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

#include "absl/strings/str_format.h"

#include "tools/cairn/text/words.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

constexpr int64_t kFirstTime = std::numeric_limits<int64_t>::min();
constexpr int64_t kLastTime = std::numeric_limits<int64_t>::max();

constexpr std::array<Word<Fill::Kind>, 4> kFillWords = {{
    {Fill::Kind::kNone, "none"},
    {Fill::Kind::kNull, "null"},
    {Fill::Kind::kPrevious, "previous"},
    {Fill::Kind::kLinear, "linear"},
}};

// A value of one column, and where it is.
struct Known {
  AggValue value;
  int64_t time = 0;
};

// Returns the value between two others.
AggValue Between(const Known& before, const Known& after, int64_t time) {
  // Great times that differ may be equal as doubles, but their distances are not.
  const auto passed = [&before](int64_t until) {
    return static_cast<double>(static_cast<uint64_t>(until) - static_cast<uint64_t>(before.time));
  };
  const double part = passed(time) / passed(after.time);
  const double step = (after.value.real - before.value.real) * part;
  const auto wholes = static_cast<double>(after.value.whole - before.value.whole);
  return {.exists = true,
          .real = before.value.real + step,
          .whole = before.value.whole + absl::int128(std::round(wholes * part))};
}

// Fills the values of one group, whose buckets follow each other.
class Filler {
 public:
  Filler(const Fill& fill, std::span<const LogBucket> buckets,
         const std::vector<AggColumn>& columns)
      : fill_(fill), buckets_(buckets), columns_(columns), before_(columns.size()) {
    next_.resize(columns.size());
  }

  // Returns the values of a bucket at `time`, before which lie `passed` buckets with records.
  std::vector<AggValue> ValuesOf(const LogBucket& bucket, size_t passed) {
    std::vector<AggValue> values;
    for (size_t i = 0; i < columns_.size(); ++i) {
      AggValue value = ValueOf(columns_[i], bucket);
      if (value.exists) {
        before_[i] = {.value = value, .time = bucket.begin};
      } else {
        value = Missing(i, bucket.begin, passed);
      }
      values.push_back(value);
    }
    return values;
  }

 private:
  AggValue Missing(size_t column, int64_t time, size_t passed) {
    const Known& before = before_[column];
    switch (fill_.kind) {
      case Fill::Kind::kValue:
        return {.exists = true, .real = fill_.value, .whole = absl::int128(fill_.value)};
      case Fill::Kind::kPrevious:
        return before.value;
      case Fill::Kind::kLinear:
        break;
      default:
        return {};
    }
    size_t& next = next_[column];
    for (next = std::max(next, passed); next < buckets_.size(); ++next) {
      const AggValue value = ValueOf(columns_[column], buckets_[next]);
      if (!value.exists) continue;
      if (!before.value.exists) return {};
      return Between(before, {.value = value, .time = buckets_[next].begin}, time);
    }
    return {};
  }

  const Fill& fill_;
  const std::span<const LogBucket> buckets_;
  const std::vector<AggColumn>& columns_;
  std::vector<Known> before_;  // newest value of each column
  std::vector<size_t> next_;   // bucket with the next value of each column, or one before it
};

// Returns a bucket without records.
LogBucket EmptyLike(const LogAggregation& aggregation, const TimeRange& times) {
  LogBucket bucket;
  bucket.begin = times.begin;
  bucket.end = times.end;
  bucket.fields.resize(aggregation.fields.size());
  bucket.wholes.resize(aggregation.fields.size());
  bucket.measures.resize(aggregation.measures.size(), std::nan(""));
  return bucket;
}

// The times that rows are written of. There may be no time after the last one.
struct FilledTimes {
  int64_t first = 0;
  int64_t last = 0;
};

// Returns those that are asked for, or those of all buckets. Returns nothing if there are none.
std::optional<FilledTimes> TimesToFill(const LogAggregation& aggregation,
                                       std::span<const LogBucket> buckets) {
  const TimeRange& times = aggregation.times;
  const bool tells_all = times.begin != kFirstTime && times.end != kLastTime;
  if (tells_all ? times.begin >= times.end : buckets.empty()) return std::nullopt;
  FilledTimes filled = {.first = times.begin, .last = times.end - 1};
  if (times.begin == kFirstTime) {
    filled.first = std::ranges::min_element(buckets, {}, &LogBucket::begin)->begin;
  }
  if (times.end == kLastTime) {
    filled.last = std::ranges::max_element(buckets, {}, &LogBucket::begin)->begin;
  }
  return filled;
}

}  // namespace

absl::StatusOr<Fill> ParseFill(const std::string& text) {
  if (const std::optional<Fill::Kind> kind = FindWord(kFillWords, text)) return Fill{.kind = *kind};
  Fill fill = {.kind = Fill::Kind::kValue};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, fill.value);
  if (error == std::errc() && rest == end && std::isfinite(fill.value)) return fill;
  return absl::InvalidArgumentError(
      absl::StrFormat("--fill: expected none, null, previous, linear or a number, got '%s'", text));
}

void WidenType(const Fill& fill, AggColumn& column) {
  Field& type = column.column;
  const bool whole = type.type == FieldType::kInt || type.type == FieldType::kUint ||
                     type.type == FieldType::kBool;
  if (!whole || column.what == What::kCount || column.what == What::kSum) return;
  constexpr double kMaxWhole = 9007199254740992;
  const double least = type.type == FieldType::kUint ? 0 : -kMaxWhole;
  const bool fits =
      fill.value == std::floor(fill.value) && fill.value >= least && fill.value <= kMaxWhole;
  if (fill.kind == Fill::Kind::kLinear || (fill.kind == Fill::Kind::kValue && !fits)) {
    type = {.name = type.name};
  } else if (fill.kind == Fill::Kind::kValue) {
    type.size = 8;
    if (type.type == FieldType::kBool) type.type = FieldType::kInt;
  }
}

absl::Status ForEachRow(const LogSnapshot& log, const LogAggregation& aggregation, const Fill& fill,
                        std::span<const LogBucket> buckets, const std::vector<AggColumn>& columns,
                        const TakeRow& take) {
  // Without a record there is no group whose spans could be written.
  if (!aggregation.by.empty() && buckets.empty()) return absl::OkStatus();
  const std::optional<FilledTimes> times =
      fill.kind == Fill::Kind::kNone ? std::nullopt : TimesToFill(aggregation, buckets);
  while (true) {
    const auto is_other = [&](const LogBucket& bucket) {
      return bucket.group != buckets.front().group;
    };
    const auto group = buckets.first(
        static_cast<size_t>(std::ranges::find_if(buckets, is_other) - buckets.begin()));
    Filler filler(fill, group, columns);
    size_t passed = 0;
    const auto take_next = [&] {
      const LogBucket& bucket = group[passed++];
      return take(bucket, filler.ValuesOf(bucket, passed));
    };
    if (fill.kind == Fill::Kind::kNone) {
      while (passed < group.size()) RETURN_IF_ERROR(take_next());
    }
    const FilledTimes filled = times.value_or(FilledTimes{.first = 0, .last = -1});
    for (int64_t time = filled.first; time <= filled.last;) {
      ASSIGN_OR_RETURN(const TimeRange span, log.BucketAt(aggregation, time));
      if (passed < group.size() && group[passed].begin == span.begin) {
        RETURN_IF_ERROR(take_next());
      } else {
        LogBucket empty = EmptyLike(aggregation, span);
        if (!group.empty()) empty.group = group.front().group;
        RETURN_IF_ERROR(take(empty, filler.ValuesOf(empty, passed)));
      }
      if (span.end <= time) break;
      time = span.end;
    }
    buckets = buckets.subspan(group.size());
    if (buckets.empty()) return absl::OkStatus();
  }
}

}  // namespace cairn::tool
