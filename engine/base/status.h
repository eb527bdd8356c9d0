// Helpers around absl::Status. Messages say what failed, where, what was expected and what was
// found.
#ifndef CAIRN_ENGINE_BASE_STATUS_H_
#define CAIRN_ENGINE_BASE_STATUS_H_

#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

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

// Use: CAIRN_ASSIGN_OR_RETURN(auto value, Function());
#define CAIRN_ASSIGN_OR_RETURN(lhs, expr) \
  CAIRN_ASSIGN_OR_RETURN_(CAIRN_CONCAT_(cairn_result_, __LINE__), lhs, expr)
#define CAIRN_ASSIGN_OR_RETURN_(result, lhs, expr)     \
  auto result = (expr);                                \
  if (!result.ok()) return std::move(result).status(); \
  lhs = *std::move(result)

namespace cairn {

namespace internal {

template <typename T>
concept Number = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char>;

template <typename T>
void Collect(const T& value, std::vector<int64_t>& numbers) {
  if constexpr (Number<T>) numbers.push_back(static_cast<int64_t>(value));
}

template <typename... Args>
std::vector<int64_t> Numbers(const Args&... args) {
  std::vector<int64_t> numbers;
  (Collect(args, numbers), ...);
  return numbers;
}

// The section is the beginning of `message`; see ErrorDetails.
absl::Status MakeError(absl::StatusCode code, std::string_view message,
                       std::span<const int64_t> numbers);
// Puts "<where>: " before the message of `status`. The section becomes that of `where`, if that
// names one.
absl::Status Annotate(const absl::Status& status, std::string_view where,
                      std::span<const int64_t> numbers);

}  // namespace internal

template <typename... Args>
absl::Status DataLoss(const absl::FormatSpec<Args...>& format, const Args&... args) {
  return internal::MakeError(absl::StatusCode::kDataLoss, absl::StrFormat(format, args...),
                             internal::Numbers(args...));
}

template <typename... Args>
absl::Status InvalidArgument(const absl::FormatSpec<Args...>& format, const Args&... args) {
  return internal::MakeError(absl::StatusCode::kInvalidArgument, absl::StrFormat(format, args...),
                             internal::Numbers(args...));
}

// Checks an option that is a count, a size or a span. Errors: kInvalidArgument, naming the option,
// if it is less than 0.
inline absl::Status CheckNotNegative(std::string_view option, int64_t value) {
  if (value >= 0) return absl::OkStatus();
  return InvalidArgument("%s: expected 0 or more, got %d", option, value);
}

template <typename... Args>
absl::Status OutOfRange(const absl::FormatSpec<Args...>& format, const Args&... args) {
  return internal::MakeError(absl::StatusCode::kOutOfRange, absl::StrFormat(format, args...),
                             internal::Numbers(args...));
}

template <typename... Args>
absl::Status NotFound(const absl::FormatSpec<Args...>& format, const Args&... args) {
  return internal::MakeError(absl::StatusCode::kNotFound, absl::StrFormat(format, args...),
                             internal::Numbers(args...));
}

template <typename... Args>
absl::Status Unavailable(const absl::FormatSpec<Args...>& format, const Args&... args) {
  return internal::MakeError(absl::StatusCode::kUnavailable, absl::StrFormat(format, args...),
                             internal::Numbers(args...));
}

template <typename... Args>
absl::Status Unimplemented(const absl::FormatSpec<Args...>& format, const Args&... args) {
  return internal::MakeError(absl::StatusCode::kUnimplemented, absl::StrFormat(format, args...),
                             internal::Numbers(args...));
}

template <typename... Args>
absl::Status ResourceExhausted(const absl::FormatSpec<Args...>& format, const Args&... args) {
  return internal::MakeError(absl::StatusCode::kResourceExhausted, absl::StrFormat(format, args...),
                             internal::Numbers(args...));
}

template <typename... Args>
absl::Status FailedPrecondition(const absl::FormatSpec<Args...>& format, const Args&... args) {
  return internal::MakeError(absl::StatusCode::kFailedPrecondition,
                             absl::StrFormat(format, args...), internal::Numbers(args...));
}

// Returns the same error with "<where>: " before its message. Success stays as it is.
template <typename... Args>
absl::Status Annotate(const absl::Status& status, const absl::FormatSpec<Args...>& where,
                      const Args&... args) {
  if (status.ok()) return status;
  return internal::Annotate(status, absl::StrFormat(where, args...), internal::Numbers(args...));
}

// Returns the same error with "<path>: " before its message. A path is never a section, whatever it
// looks like.
absl::Status AtPath(std::string_view path, const absl::Status& status);

// Returns the same error under another code.
absl::Status WithCode(absl::StatusCode code, const absl::Status& status);

}  // namespace cairn

#endif  // CAIRN_ENGINE_BASE_STATUS_H_
