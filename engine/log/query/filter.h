// The conditions of a query.
#ifndef CAIRN_ENGINE_LOG_QUERY_FILTER_H_
#define CAIRN_ENGINE_LOG_QUERY_FILTER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/log.h"
#include "engine/log/stats/chunk_stats.h"

namespace cairn::log {

// Thread-safe.
class Filter {
 public:
  Filter() = default;  // takes every record
  // kNotFound for a field, kInvalidArgument for a value that does not fit its field.
  static absl::StatusOr<Filter> Make(const Schema& schema, std::span<const Condition> conditions);

  bool empty() const { return tests_.empty(); }
  // Fields that it looks at, by index in the schema.
  const std::vector<size_t>& fields() const { return fields_; }
  // Whether a chunk may hold a record that all conditions hold for.
  bool MayMatch(const ChunkStats& stats) const;
  // Clears what does not match: one byte for each record.
  void Apply(const Columns& columns, std::vector<uint8_t>& chosen) const;

 private:
  struct Test {
    Field field;
    size_t column = 0;  // in the schema
    size_t number = 0;  // among the numbers of the schema
    Comparison comparison = Comparison::kEqual;
    FieldValue value = int64_t{0};
  };
  static bool MayMatch(const Test& test, const FieldAggregate& values);

  std::vector<Test> tests_;
  std::vector<size_t> fields_;
};

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_QUERY_FILTER_H_
