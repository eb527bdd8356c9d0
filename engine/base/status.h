// Helpers around absl::Status. Messages say what, where, expected and got.
#ifndef CAIRN_ENGINE_BASE_STATUS_H_
#define CAIRN_ENGINE_BASE_STATUS_H_

#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"

#define CAIRN_RETURN_IF_ERROR(expr)                                 \
  do {                                                              \
    if (absl::Status cairn_status_ = (expr); !cairn_status_.ok()) { \
      return cairn_status_;                                         \
    }                                                               \
  } while (false)

#define CAIRN_CONCAT_INNER_(a, b) a##b
#define CAIRN_CONCAT_(a, b) CAIRN_CONCAT_INNER_(a, b)

// CAIRN_ASSIGN_OR_RETURN(auto value, Function());
#define CAIRN_ASSIGN_OR_RETURN(lhs, expr) \
  CAIRN_ASSIGN_OR_RETURN_(CAIRN_CONCAT_(cairn_result_, __LINE__), lhs, expr)
#define CAIRN_ASSIGN_OR_RETURN_(result, lhs, expr)     \
  auto result = (expr);                                \
  if (!result.ok()) return std::move(result).status(); \
  lhs = *std::move(result)

namespace cairn {

template <typename... Args>
absl::Status DataLoss(const absl::FormatSpec<Args...>& format, const Args&... args) {
  return absl::DataLossError(absl::StrFormat(format, args...));
}

template <typename... Args>
absl::Status InvalidArgument(const absl::FormatSpec<Args...>& format, const Args&... args) {
  return absl::InvalidArgumentError(absl::StrFormat(format, args...));
}

template <typename... Args>
absl::Status OutOfRange(const absl::FormatSpec<Args...>& format, const Args&... args) {
  return absl::OutOfRangeError(absl::StrFormat(format, args...));
}

template <typename... Args>
absl::Status Unimplemented(const absl::FormatSpec<Args...>& format, const Args&... args) {
  return absl::UnimplementedError(absl::StrFormat(format, args...));
}

template <typename... Args>
absl::Status ResourceExhausted(const absl::FormatSpec<Args...>& format, const Args&... args) {
  return absl::ResourceExhaustedError(absl::StrFormat(format, args...));
}

template <typename... Args>
absl::Status FailedPrecondition(const absl::FormatSpec<Args...>& format, const Args&... args) {
  return absl::FailedPreconditionError(absl::StrFormat(format, args...));
}

// The same error with "<where>: " before its message.
inline absl::Status Annotate(std::string_view where, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrFormat("%s: %s", where, status.message()));
}

}  // namespace cairn

#endif  // CAIRN_ENGINE_BASE_STATUS_H_
