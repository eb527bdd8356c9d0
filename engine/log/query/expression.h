// Conditions on the fields of a record as people write them.
#ifndef CAIRN_ENGINE_LOG_QUERY_EXPRESSION_H_
#define CAIRN_ENGINE_LOG_QUERY_EXPRESSION_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/log.h"

namespace cairn::log {

struct Expression {
  enum class Kind : uint8_t {
    kTest,  // the condition holds
    kAll,   // all parts hold
    kAny,   // some part holds
    kNot,   // the one part does not hold
  };
  Kind kind = Kind::kTest;
  Condition condition = {};
  std::vector<Expression> parts = {};
};

// See LogQuery::filters.
//
// Errors, each with the place in the text:
//   kInvalidArgument for a text that is not a condition, or a value that its field cannot have;
//   kNotFound for a field that does not exist.
absl::StatusOr<Expression> ParseExpression(const Schema& schema, std::string_view text);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_QUERY_EXPRESSION_H_
