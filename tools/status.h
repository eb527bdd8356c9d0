// Early returns of errors, for the programs of tools/.
#ifndef CAIRN_TOOLS_STATUS_H_
#define CAIRN_TOOLS_STATUS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define RETURN_IF_ERROR(expr)                                                        \
  do {                                                                               \
    if (absl::Status tool_status_ = (expr); !tool_status_.ok()) return tool_status_; \
  } while (false)

#define TOOL_CONCAT_INNER_(a, b) a##b
#define TOOL_CONCAT_(a, b) TOOL_CONCAT_INNER_(a, b)

// ASSIGN_OR_RETURN(const Frame frame, Frame::Open(path));
#define ASSIGN_OR_RETURN(lhs, expr) \
  ASSIGN_OR_RETURN_(TOOL_CONCAT_(tool_result_, __LINE__), lhs, expr)
#define ASSIGN_OR_RETURN_(result, lhs, expr)           \
  auto result = (expr);                                \
  if (!result.ok()) return std::move(result).status(); \
  lhs = *std::move(result)

#endif  // CAIRN_TOOLS_STATUS_H_
