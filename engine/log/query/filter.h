// The conditions of a query.
#ifndef CAIRN_ENGINE_LOG_QUERY_FILTER_H_
#define CAIRN_ENGINE_LOG_QUERY_FILTER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/log.h"
#include "engine/log/query/expression.h"
#include "engine/log/state/log_state.h"
#include "engine/log/stats/chunk_stats.h"

namespace cairn::log {

// The conditions of a query. Thread-safe.
class Filter {
 public:
  Filter() = default;  // takes every record
  // Makes a filter of conditions and texts that must all hold; see LogQuery. Errors: kNotFound for
  // a field that does not exist; kInvalidArgument for a value that does not fit its field and for a
  // text that does not parse.
  static absl::StatusOr<Filter> Make(const LogState& state, std::span<const Condition> conditions,
                                     std::span<const std::string> texts);
  // Makes a filter of records without keys.
  static absl::StatusOr<Filter> Make(const Schema& schema, std::span<const Condition> conditions,
                                     std::span<const std::string> texts);

  bool empty() const { return all_.parts.empty(); }
  // Returns the fields that the filter reads, by index in the schema.
  const std::vector<size_t>& fields() const { return fields_; }
  // Returns true if a chunk may hold a record for which all conditions hold.
  bool MayMatch(const ChunkStats& stats) const;
  // Clears the byte of each record that does not match. There is one byte for each record.
  void Apply(const Columns& columns, std::vector<uint8_t>& chosen) const;

 private:
  // A comparison with a value of the type in which the field's values are loaded.
  struct Exact {
    bool always = false;  // true if it holds for each record
    Comparison comparison = Comparison::kEqual;
    std::variant<int64_t, uint64_t, double> value = {};
  };
  struct Test {
    Field field;
    size_t column = 0;  // in the schema
    size_t number = 0;  // among the numbers of the schema
    Comparison comparison = Comparison::kEqual;
    FieldValue value = int64_t{0};
    Exact exact = {};  // of a field of numbers
    // For a field with codes of texts: 1 for each code whose text fulfils the comparison, and the
    // number of such codes before each code, with one more for the end.
    std::vector<uint8_t> holds = {};
    std::vector<int64_t> holding = {};
  };
  // An expression whose test is one of `tests_`.
  struct Node {
    Expression::Kind kind = Expression::Kind::kAll;
    size_t test = 0;
    std::vector<Node> parts = {};
  };
  absl::StatusOr<Node> MakeNode(const Schema& schema, const Expression& expression);
  absl::StatusOr<Test> MakeTest(const Schema& schema, const Condition& condition);
  static Exact MakeExact(const Field& field, Comparison comparison, const FieldValue& value);
  void TestTexts(const LogState& state);
  // Returns true if some code of a piece fulfils the test, or with `negated` does not.
  static bool MayHoldText(const Test& test, bool negated, const FieldAggregate& codes);
  // Returns true if the node, or with `negated` its opposite, may hold for a record of the piece.
  bool MayMatch(const Node& node, bool negated, const Piece& piece) const;
  void Apply(const Node& node, const Columns& columns, std::vector<uint8_t>& chosen) const;

  std::vector<Test> tests_;
  Node all_;
  std::vector<size_t> fields_;
};

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_QUERY_FILTER_H_
