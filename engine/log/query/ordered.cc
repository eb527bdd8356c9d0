#include "engine/log/query/ordered.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <string>
#include <utility>
#include <variant>

#include "engine/base/endian.h"
#include "engine/base/status.h"
#include "engine/log/query/group_index.h"
#include "engine/log/query/measure.h"
#include "engine/log/query/query_run.h"
#include "engine/log/stats/values.h"

namespace cairn::log {

namespace {

constexpr int64_t kLastTime = std::numeric_limits<int64_t>::max();

// The sums of one field.
struct Total {
  FieldAggregate values;
  WholeAggregate wholes = {};

  // Takes value `i`, which is not earlier than those before it.
  void Add(const Numbers& numbers, size_t i) {
    const double value = numbers.reals[i];
    if (std::isnan(value)) return;
    const bool none = values.count++ == 0;
    values.min = none ? value : std::min(values.min, value);
    values.max = none ? value : std::max(values.max, value);
    values.sum += value;
    if (none) values.first = value;
    values.last = value;
    if (numbers.wholes.empty()) return;
    const absl::int128 whole = numbers.wholes[i];
    wholes.min = none ? whole : std::min(wholes.min, whole);
    wholes.max = none ? whole : std::max(wholes.max, whole);
    wholes.sum += whole;
    if (none) wholes.first = whole;
    wholes.last = whole;
  }
};

// The records of one group.
struct Group {
  std::vector<FieldValue> values;
  // The rest is of the bucket that is being read.
  int64_t records = 0;
  int64_t first_time = 0;
  int64_t last_time = 0;
  std::vector<Total> totals;
  std::vector<Measurer> measurers;
};

class OrderedAggregator {
 public:
  OrderedAggregator(const LogState& state, const Field& time, const LogAggregation& aggregation,
                    const Buckets& buckets, const std::vector<size_t>& summed)
      : schema_(state.schema()),
        first_record_(state.first_record()),
        aggregation_(aggregation),
        buckets_(buckets),
        units_per_second_(time.type == FieldType::kTimestamp ? UnitsPerSecond(time.unit) : 1) {
    time_ = ColumnOf(IndexOf(time.name));
    for (const size_t field : summed) totals_.push_back(ColumnOf(field));
  }

  absl::Status AddMeasure(const LogMeasure& measure) {
    const Field* const field = schema_.Find(measure.field);
    if (field == nullptr) return NotFound("log: no field '%s'", measure.field);
    if (IsText(*field)) return InvalidArgument("log: field '%s' is not numeric", field->name);
    const bool quantile = measure.kind == MeasureKind::kQuantile;
    if (quantile && !(measure.quantile >= 0 && measure.quantile <= 1)) {
      return InvalidArgument("log: quantile of '%s': expected 0 to 1, got %g", field->name,
                             measure.quantile);
    }
    const size_t column = ColumnOf(IndexOf(measure.field));
    const auto known = std::ranges::find(measured_, column, &Measured::column);
    measures_.push_back(static_cast<size_t>(known - measured_.begin()));
    if (known == measured_.end()) measured_.push_back({.column = column});
    Measuring& what = measured_[measures_.back()].what;
    what.values |= quantile;
    what.deviation |= measure.kind == MeasureKind::kDeviation;
    what.increase |= measure.kind == MeasureKind::kIncrease || measure.kind == MeasureKind::kRate;
    return absl::OkStatus();
  }

  absl::Status AddGroupField(const std::string& name) {
    const Field* const field = schema_.Find(name);
    if (field == nullptr) return NotFound("log: no field '%s'", name);
    CAIRN_RETURN_IF_ERROR(CheckGroupField(*field));
    by_.push_back(ColumnOf(IndexOf(name)));
    index_.AddField(by_.back(), *field);
    return absl::OkStatus();
  }

  // Returns the names of the fields that Add needs, in this order.
  const std::vector<std::string>& names() const { return names_; }

  absl::Status Add(const LogBatch& batch) {
    numbers_.resize(names_.size());
    for (const size_t column : totals_) {
      LoadNumbers(FieldOf(column), batch.columns[column], numbers_[column]);
    }
    for (const Measured& measured : measured_) {
      const size_t column = measured.column;
      if (std::ranges::count(totals_, column) > 0) continue;
      LoadNumbers(FieldOf(column), batch.columns[column], numbers_[column]);
    }
    index_.Begin(batch, first_record_);
    const std::vector<int64_t> times = TimesOf(FieldOf(time_), batch.columns[time_]);
    for (size_t i = 0; i < times.size(); ++i) {
      const int64_t time = times[i];
      if (!Contains(bucket_, time)) {
        EndBucket();
        bucket_ = buckets_.Of(time);
      }
      CAIRN_ASSIGN_OR_RETURN(Group* const group, FindGroup(batch, i));
      if (group->records++ == 0) {
        group->first_time = time;
        active_.push_back(group);
      }
      group->last_time = time;
      for (size_t j = 0; j < totals_.size(); ++j) {
        if (batch.HasValue(totals_[j], i)) group->totals[j].Add(numbers_[totals_[j]], i);
      }
      for (size_t j = 0; j < measured_.size(); ++j) {
        if (!batch.HasValue(measured_[j].column, i)) continue;
        Measurer& measurer = group->measurers[j];
        const int64_t before = measurer.held();
        measurer.Add(numbers_[measured_[j].column], i, time);
        held_ += measurer.held() - before;
      }
      if (held_ > aggregation_.max_memory / static_cast<int64_t>(sizeof(double))) {
        return ResourceExhausted(
            "log: the values of a bucket, which quantiles need, are more than %d bytes: choose "
            "smaller buckets, fewer records or fields, or a greater max_memory",
            aggregation_.max_memory);
      }
    }
    return absl::OkStatus();
  }

  // Returns the rows of all groups, in the order of the groups.
  std::vector<LogBucket> Take() && {
    EndBucket();
    std::ranges::stable_sort(rows_, {}, &LogBucket::group);
    return std::move(rows_);
  }

 private:
  // A field that is measured.
  struct Measured {
    size_t column = 0;
    Measuring what = {};
  };

  size_t IndexOf(const std::string& name) const {
    return static_cast<size_t>(schema_.Find(name) - schema_.fields().data());
  }
  // Returns the place among the columns of a batch of a field of the schema, which gets one.
  size_t ColumnOf(size_t field) {
    const auto known = std::ranges::find(fields_, field);
    if (known != fields_.end()) return static_cast<size_t>(known - fields_.begin());
    fields_.push_back(field);
    names_.push_back(schema_.fields()[field].name);
    return fields_.size() - 1;
  }
  const Field& FieldOf(size_t column) const { return schema_.fields()[fields_[column]]; }

  // Returns the group of a record.
  absl::StatusOr<Group*> FindGroup(const LogBatch& batch, size_t record) {
    const size_t number = index_.Of(record);
    if (number < groups_.size()) return &groups_[number];
    if (std::ssize(groups_) == aggregation_.max_groups) {
      return ResourceExhausted(
          "log: by: more than %d groups: choose other fields, fewer records, or a greater "
          "max_groups",
          aggregation_.max_groups);
    }
    Group& group = groups_.emplace_back();
    for (const size_t column : by_) {
      const auto size = static_cast<size_t>(FieldOf(column).size);
      if (!batch.HasValue(column, record)) {
        group.values.emplace_back(std::monostate());
        continue;
      }
      group.values.push_back(GroupValueOf(FieldOf(column), batch.TextsOf(column),
                                          batch.columns[column].data() + record * size));
    }
    group.totals.resize(totals_.size());
    for (const Measured& measured : measured_) group.measurers.emplace_back(measured.what);
    return &group;
  }

  // Makes a row of each group that has records in the bucket, and begins a new one.
  void EndBucket() {
    const bool everything = aggregation_.bucket == 0;
    for (Group* const active : active_) {
      Group& group = *active;
      LogBucket& row = rows_.emplace_back();
      row.begin = everything ? group.first_time : bucket_.begin;
      row.end = everything ? group.last_time + (group.last_time < kLastTime ? 1 : 0) : bucket_.end;
      row.records = std::exchange(group.records, 0);
      row.group = group.values;
      for (Total& total : group.totals) {
        row.fields.push_back(total.values);
        row.wholes.push_back(total.wholes);
        total = {};
      }
      for (size_t i = 0; i < measures_.size(); ++i) {
        Measurer& measurer = group.measurers[measures_[i]];
        row.measures.push_back(measurer.Get(aggregation_.measures[i], units_per_second_));
      }
      for (Measurer& measurer : group.measurers) measurer.EndBucket();
    }
    active_.clear();
    held_ = 0;
  }

  const Schema& schema_;
  const int64_t first_record_;
  const LogAggregation& aggregation_;
  Buckets buckets_;
  const int64_t units_per_second_;
  std::vector<size_t> fields_;      // of each column of a batch, in the schema
  std::vector<std::string> names_;  // of these fields
  size_t time_ = 0;                 // column, like those that follow
  std::vector<size_t> totals_;
  std::vector<size_t> by_;
  std::vector<Measured> measured_;
  std::vector<size_t> measures_;  // place of each measure's field in `measured_`
  std::vector<Numbers> numbers_;  // of the columns of a batch that need them
  GroupIndex index_;
  std::deque<Group> groups_;    // by their numbers
  std::vector<Group*> active_;  // those with records in the bucket
  TimeRange bucket_ = {.begin = 0, .end = 0};
  int64_t held_ = 0;  // values that all groups remember
  std::vector<LogBucket> rows_;
};

}  // namespace

absl::Status CheckGroupField(const Field& field) {
  if (field.type != FieldType::kFloat) return absl::OkStatus();
  return InvalidArgument(
      "log: by: expected integers, booleans, timestamps, bytes or texts, '%s' has floats",
      field.name);
}

FieldValue GroupValueOf(const Field& field, const KeyTexts* texts, const std::byte* at) {
  if (texts != nullptr) return std::string(texts->Get(LoadLe<uint32_t>(at)));
  if (field.type == FieldType::kBytes) {
    std::string text(reinterpret_cast<const char*>(at), static_cast<size_t>(field.size));
    text.resize(text.find_last_not_of('\0') + 1);
    return text;
  }
  FieldValue value;
  VisitLoader(field, [&](const auto& load) { value = load(at); });
  return value;
}

absl::StatusOr<std::vector<LogBucket>> AggregateInOrder(
    const std::shared_ptr<const LogState>& state, const LogAggregation& aggregation,
    const Buckets& buckets, const std::vector<size_t>& summed) {
  CAIRN_ASSIGN_OR_RETURN(const Field* const time, state->NeedTime());
  OrderedAggregator aggregator(*state, *time, aggregation, buckets, summed);
  for (const LogMeasure& measure : aggregation.measures) {
    CAIRN_RETURN_IF_ERROR(aggregator.AddMeasure(measure));
  }
  for (const std::string& name : aggregation.by) {
    CAIRN_RETURN_IF_ERROR(aggregator.AddGroupField(name));
  }
  const LogQuery query = {.times = aggregation.times,
                          .fields = aggregator.names(),
                          .where = aggregation.where,
                          .filters = aggregation.filters};
  CAIRN_ASSIGN_OR_RETURN(const std::unique_ptr<QueryRun> run, QueryRun::Make(state, query));
  while (true) {
    CAIRN_ASSIGN_OR_RETURN(const LogBatch batch, run->Next());
    if (batch.size() == 0) return std::move(aggregator).Take();
    CAIRN_RETURN_IF_ERROR(aggregator.Add(batch));
  }
}

}  // namespace cairn::log
