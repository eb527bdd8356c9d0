// The values that `cairn log agg` writes of each bucket: --what.
#ifndef CAIRN_TOOLS_CAIRN_LOG_WHAT_H_
#define CAIRN_TOOLS_CAIRN_LOG_WHAT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/status/statusor.h"

#include "cairn/log.h"
#include "cairn/record.h"

namespace cairn::tool {

enum class What : uint8_t {
  kCount,
  kMin,
  kMax,
  kMean,
  kSum,
  kFirst,
  kLast,
  kRange,
  kMeasure,  // one of LogMeasure
};

// A column of an aggregation.
struct AggColumn {
  What what = What::kMean;
  size_t number = 0;  // of its field among LogAggregation::fields, or of its measure
  Field source;       // the field
  Field column;       // what is written; SetType gives it a type
};

// A value of a column.
struct AggValue {
  bool exists = false;
  double real = 0;
  absl::int128 whole = 0;  // for a column of integers or times
};

// Parses such as "mean,p95" and "temp:mean,hum:max". What names no field is written of all
// `fields`. Sets the fields and the measures of the aggregation. Errors: kInvalidArgument for a
// word that is not a function, or a field that is not a number; kNotFound for a field that does not
// exist.
absl::StatusOr<std::vector<AggColumn>> ParseWhat(const std::string& text,
                                                 const std::vector<Field>& fields,
                                                 const Schema& schema, LogAggregation& aggregation);

// Chooses the type of a column, which has to hold the values of all buckets.
void SetType(AggColumn& column, const std::vector<LogBucket>& buckets);

AggValue ValueOf(const AggColumn& column, const LogBucket& bucket);

// Stores a value in the type of the column. Returns true unless the value is missing and the type
// cannot say so.
bool StoreValue(const AggValue& value, const Field& column, std::byte* at);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_LOG_WHAT_H_
