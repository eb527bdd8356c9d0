// Conditions as people write them.
#ifndef CAIRN_TOOLS_CAIRN_RECORDS_CONDITION_H_
#define CAIRN_TOOLS_CAIRN_RECORDS_CONDITION_H_

#include <string_view>

#include "absl/status/statusor.h"

#include "cairn/log.h"
#include "cairn/record.h"

namespace cairn::tool {

// "temp > 20", "host = 'web 1'", "seen >= 2026-11-24T10:00", with =, ==, !=, <, <=, > or >=. Names
// with such characters, and texts with blanks at their ends, are in quotes of either kind.
// kInvalidArgument for what is none, and kNotFound for the field.
absl::StatusOr<Condition> ParseCondition(const Schema& schema, std::string_view text);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_RECORDS_CONDITION_H_
