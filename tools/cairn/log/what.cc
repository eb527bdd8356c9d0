#include "tools/cairn/log/what.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_format.h"

#include "tools/cairn/records/record_parser.h"
#include "tools/cairn/records/values.h"
#include "tools/cairn/text/words.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

constexpr std::array<Word<What>, 8> kWhatWords = {{
    {What::kCount, "count"},
    {What::kMin, "min"},
    {What::kMax, "max"},
    {What::kMean, "mean"},
    {What::kSum, "sum"},
    {What::kFirst, "first"},
    {What::kLast, "last"},
    {What::kRange, "range"},
}};

constexpr std::array<Word<MeasureKind>, 4> kMeasureWords = {{
    {MeasureKind::kQuantile, "median"},
    {MeasureKind::kDeviation, "stddev"},
    {MeasureKind::kIncrease, "increase"},
    {MeasureKind::kRate, "rate"},
}};

// A function of --what, with or without a field.
struct Item {
  std::string word;
  What what = What::kMeasure;
  LogMeasure measure = {};  // whose field is empty if there is none
};

bool IsWhole(const Field& field) { return field.type != FieldType::kFloat && !IsText(field); }

// Parses "p95" or "p99.9" as a quantile.
std::optional<double> ParsePercentile(std::string_view word) {
  if (!word.starts_with('p') || word.size() < 2) return std::nullopt;
  double percent = 0;
  const char* const end = word.data() + word.size();
  const auto [rest, error] =
      std::from_chars(word.data() + 1, end, percent, std::chars_format::fixed);
  if (error != std::errc() || rest != end || std::signbit(percent) || !(percent <= 100)) {
    return std::nullopt;
  }
  return percent / 100;
}

absl::StatusOr<Item> ParseItem(std::string_view text) {
  const size_t colon = text.rfind(':');
  const bool named = colon != std::string_view::npos;
  Item item = {.word = std::string(named ? text.substr(colon + 1) : text)};
  if (named) item.measure.field = text.substr(0, colon);
  if (const std::optional<What> what = FindWord(kWhatWords, item.word)) {
    item.what = *what;
    return item;
  }
  if (const std::optional<MeasureKind> kind = FindWord(kMeasureWords, item.word)) {
    item.measure.kind = *kind;
    return item;
  }
  const std::optional<double> quantile = ParsePercentile(item.word);
  if (!quantile.has_value() || (named && colon == 0)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "--what: expected count, min, max, mean, sum, first, last, range, median, p95 or another "
        "percentile, stddev, increase or rate, as temp:p95 for one field, got '%s'",
        text));
  }
  item.measure.quantile = *quantile;
  return item;
}

// Adds a column to those before it, and what it needs to the aggregation.
void AddColumn(const Item& item, const Field& field, LogAggregation& aggregation,
               std::vector<AggColumn>& columns) {
  AggColumn& column = columns.emplace_back();
  column.what = item.what;
  column.source = field;
  column.column = {.name = absl::StrFormat("%s(%s)", item.word, NameOf(field))};
  if (item.what == What::kMeasure) {
    column.number = aggregation.measures.size();
    aggregation.measures.push_back(item.measure);
    aggregation.measures.back().field = field.name;
    return;
  }
  const auto known = std::ranges::find(aggregation.fields, field.name);
  column.number = static_cast<size_t>(known - aggregation.fields.begin());
  if (known == aggregation.fields.end()) aggregation.fields.push_back(field.name);
}

absl::int128 WholeOf(const WholeAggregate& values, int64_t count, What what) {
  switch (what) {
    case What::kCount:
      return count;
    case What::kMin:
      return values.min;
    case What::kMax:
      return values.max;
    case What::kSum:
      return values.sum;
    case What::kFirst:
      return values.first;
    case What::kLast:
      return values.last;
    case What::kRange:
      return values.max - values.min;
    default:
      return 0;
  }
}

// Returns the mean of integers. A conversion of more than 64 bits would round twice.
double MeanOf(absl::int128 sum, int64_t count) {
  const auto divisor = static_cast<double>(count);
  constexpr absl::int128 kEnd = absl::int128(std::numeric_limits<uint64_t>::max());
  if (sum >= -kEnd && sum <= kEnd) return static_cast<double>(sum) / divisor;
  return static_cast<double>(sum / count) + static_cast<double>(sum % count) / divisor;
}

double RealOf(const FieldAggregate& values, What what) {
  switch (what) {
    case What::kCount:
      return static_cast<double>(values.count);
    case What::kMin:
      return values.min;
    case What::kMax:
      return values.max;
    case What::kMean:
      return values.mean();
    case What::kSum:
      return values.sum;
    case What::kFirst:
      return values.first;
    case What::kLast:
      return values.last;
    case What::kRange:
      return values.max - values.min;
    case What::kMeasure:
      break;
  }
  return 0;
}

}  // namespace

absl::StatusOr<std::vector<AggColumn>> ParseWhat(const std::string& text,
                                                 const std::vector<Field>& fields,
                                                 const Schema& schema,
                                                 LogAggregation& aggregation) {
  ASSIGN_OR_RETURN(const std::vector<std::string> texts, ParseCsvRow(text, ','));
  std::vector<AggColumn> columns;
  std::vector<Item> of_all;
  const auto flush = [&] {
    for (const Field& field : fields) {
      for (const Item& item : of_all) AddColumn(item, field, aggregation, columns);
    }
    of_all.clear();
  };
  for (const std::string& one : texts) {
    ASSIGN_OR_RETURN(Item item, ParseItem(one));
    if (item.measure.field.empty()) {
      of_all.push_back(std::move(item));
      continue;
    }
    flush();
    ASSIGN_OR_RETURN(const Field* const field,
                     FindField(schema.fields(), item.measure.field, "--what"));
    if (IsText(*field)) {
      return absl::InvalidArgumentError(
          absl::StrFormat("--what: field '%s' is not numeric", NameOf(*field)));
    }
    AddColumn(item, *field, aggregation, columns);
  }
  flush();
  // The library takes no fields for all fields.
  if (aggregation.fields.empty() && !columns.empty()) {
    aggregation.fields.push_back(columns.front().source.name);
  }
  return columns;
}

// Sums of integers are integers, if the type can hold all of them.
void SetType(AggColumn& column, const std::vector<LogBucket>& buckets) {
  Field& type = column.column;
  switch (column.what) {
    case What::kCount:
      type.type = FieldType::kInt;
      return;
    case What::kMin:
    case What::kMax:
    case What::kFirst:
    case What::kLast:
      type.type = column.source.type;
      type.size = column.source.size;
      type.unit = column.source.unit;
      return;
    case What::kMean:
    case What::kMeasure:
      return;
    case What::kSum:
    case What::kRange:
      break;
  }
  if (!IsWhole(column.source)) return;
  const auto fits = [&](absl::int128 least, absl::int128 greatest) {
    return std::ranges::all_of(buckets, [&](const LogBucket& bucket) {
      const absl::int128 value = WholeOf(bucket.wholes[column.number], 0, column.what);
      return value >= least && value <= greatest;
    });
  };
  if (fits(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max())) {
    type.type = FieldType::kInt;
  } else if (fits(0, std::numeric_limits<uint64_t>::max())) {
    type.type = FieldType::kUint;
  }
}

// If there are no values, only their number and sum exist.
AggValue ValueOf(const AggColumn& column, const LogBucket& bucket) {
  if (column.what == What::kMeasure) {
    const double value = bucket.measures[column.number];
    return {.exists = !std::isnan(value), .real = value};
  }
  const FieldAggregate& values = bucket.fields[column.number];
  const absl::int128 sum = bucket.wholes[column.number].sum;
  if (column.what == What::kMean && IsWhole(column.source) && values.count > 0) {
    return {.exists = true, .real = MeanOf(sum, values.count)};
  }
  const bool always = column.what == What::kCount || column.what == What::kSum;
  return {.exists = values.count > 0 || always,
          .real = RealOf(values, column.what),
          .whole = WholeOf(bucket.wholes[column.number], values.count, column.what)};
}

bool StoreValue(const AggValue& value, const Field& column, std::byte* at) {
  if (!value.exists) return StoreMissing(column, at);
  if (IsWhole(column)) {
    StoreInt64(static_cast<int64_t>(absl::Int128Low64(value.whole)), at);
  } else {
    StoreNumber(column, value.real, at);
  }
  return true;
}

}  // namespace cairn::tool
