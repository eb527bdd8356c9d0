// Values for the spans of an aggregation that have none: --fill.
#ifndef CAIRN_TOOLS_CAIRN_LOG_FILL_H_
#define CAIRN_TOOLS_CAIRN_LOG_FILL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/log.h"
#include "tools/cairn/log/what.h"

namespace cairn::tool {

struct Fill {
  enum class Kind : uint8_t { kNone, kNull, kPrevious, kLinear, kValue };
  Kind kind = Kind::kNone;
  double value = 0;  // for kValue
};

// Errors: kInvalidArgument if the text is neither a word nor a number.
absl::StatusOr<Fill> ParseFill(const std::string& text);

// Chooses the type of a column whose values are filled.
void WidenType(const Fill& fill, AggColumn& column);

// Takes one row: a bucket and the values of its columns.
using TakeRow = std::function<absl::Status(const LogBucket&, const std::vector<AggValue>&)>;

// Calls `take` with each bucket of an aggregation, in its order, and with those in between that
// have no records. Only as many rows as the aggregation has are in memory.
absl::Status ForEachRow(const LogSnapshot& log, const LogAggregation& aggregation, const Fill& fill,
                        std::span<const LogBucket> buckets, const std::vector<AggColumn>& columns,
                        const TakeRow& take);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_LOG_FILL_H_
