// Aggregations that read the records in the order of time: those with groups or measures.
#ifndef CAIRN_ENGINE_LOG_QUERY_ORDERED_H_
#define CAIRN_ENGINE_LOG_QUERY_ORDERED_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/log.h"
#include "engine/log/query/buckets.h"
#include "engine/log/state/log_state.h"

namespace cairn::log {

// Checks that the values of a field can make groups. Errors: kInvalidArgument for floats.
absl::Status CheckGroupField(const Field& field);
// Returns the value at `at` of such a field. `texts` are its texts, or null if it has no codes.
FieldValue GroupValueOf(const Field& field, const KeyTexts* texts, const std::byte* at);

// Returns a row for each group and bucket that has records, as LogSnapshot::Aggregate does.
// `summed` are the fields, by index in the schema, that each row sums up.
absl::StatusOr<std::vector<LogBucket>> AggregateInOrder(
    const std::shared_ptr<const LogState>& state, const LogAggregation& aggregation,
    const Buckets& buckets, const std::vector<size_t>& summed);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_QUERY_ORDERED_H_
