// Sums of the values of a field.
#ifndef CAIRN_ENGINE_LOG_QUERY_FIELD_SUMS_H_
#define CAIRN_ENGINE_LOG_QUERY_FIELD_SUMS_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/log.h"
#include "engine/base/endian.h"
#include "engine/log/state/segment.h"
#include "engine/log/stats/chunk_stats.h"
#include "engine/log/stats/values.h"

namespace cairn::log {

// Calls visit(first, numbers) for parts of a column, where `numbers` is a span of values as `load`
// of VisitLoader loads them, and `first` the place of the first.
template <typename Load, typename Visit>
void VisitNumbers(const Field& field, Bytes column, const Load& load, const Visit& visit) {
  using Number = decltype(load(column.data()));
  const auto step = static_cast<size_t>(field.size);
  const size_t count = column.size() / step;
  std::array<Number, 512> numbers;
  for (size_t first = 0; first < count; first += numbers.size()) {
    const size_t n = std::min(numbers.size(), count - first);
    const Bytes from = column.subspan(first * step, n * step);
    if (step == sizeof(Number)) {  // it is loaded as it is stored
      LoadLe(from.data(), std::span(numbers).first(n));
    } else {
      for (size_t i = 0; i < n; ++i) numbers[i] = load(from.data() + i * step);
    }
    visit(first, std::span<const Number>(numbers).first(n));
  }
}

// Records of a chunk, whose times are read when they are needed. If the records are in the order of
// time, a sum needs only those of its first and its last value.
class RowTimes {
 public:
  RowTimes(const Segment& segment, const Rows& rows, bool in_order)
      : segment_(segment), rows_(rows), in_order_(in_order) {}

  bool in_order() const { return in_order_; }
  // Reads all times. Without this, they must be in order.
  absl::Status Load();
  const std::vector<int64_t>& loaded() const { return times_; }
  // Returns the time of one of the rows.
  absl::StatusOr<int64_t> At(size_t row) const;

 private:
  const Segment& segment_;
  const Rows rows_;
  const bool in_order_;
  std::vector<int64_t> times_;  // of all rows, or empty
};

// The sum of one field, as doubles and exact. For floats `whole` is 0.
struct ExactSum {
  FieldSum sum;
  WholeAggregate whole = {};
};

// Returns true for a field whose values are integers.
inline bool IsWhole(const Field& field) {
  return IsNumber(field) && field.type != FieldType::kFloat;
}
// Returns true if the statistics of an integer field are its sum to the last digit.
bool IsExact(const FieldAggregate& values);
ExactSum FromStatistics(const Field& field, const FieldSum& sum);

// Sums up the values of the chosen rows from `begin` on. `column` and `chosen` have a value and a
// byte, 1 or 0, for each of these rows.
absl::StatusOr<ExactSum> SumChosen(const Field& field, Bytes column,
                                   std::span<const uint8_t> chosen, const RowTimes& times,
                                   size_t begin);

// Adds the sum of records with greater numbers.
void Merge(ExactSum& sum, const ExactSum& more);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_QUERY_FIELD_SUMS_H_
