// Expectations on absl::Status.
#ifndef CAIRN_TESTS_SUPPORT_STATUS_H_
#define CAIRN_TESTS_SUPPORT_STATUS_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include <gtest/gtest.h>

namespace cairn {

// Is for ASSERT_TRUE, whose failure then shows the message.
inline testing::AssertionResult IsOk(const absl::Status& status) {
  if (status.ok()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << status;
}

template <typename T>
testing::AssertionResult IsOk(const absl::StatusOr<T>& result) {
  return IsOk(result.status());
}

// Checks that the status has the code, and that `part` is in its message.
inline testing::AssertionResult Fails(const absl::Status& status, absl::StatusCode code,
                                      std::string_view part) {
  const std::string message(status.message());
  if (status.code() == code && message.find(part) != std::string::npos) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << "expected " << absl::StatusCodeToString(code) << " with \""
                                     << part << "\", got " << status;
}

template <typename T>
testing::AssertionResult Fails(const absl::StatusOr<T>& result, absl::StatusCode code,
                               std::string_view part) {
  return Fails(result.status(), code, part);
}

inline testing::AssertionResult IsDamage(const absl::Status& status, std::string_view part) {
  return Fails(status, absl::StatusCode::kDataLoss, part);
}

template <typename T>
testing::AssertionResult IsDamage(const absl::StatusOr<T>& result, std::string_view part) {
  return Fails(result.status(), absl::StatusCode::kDataLoss, part);
}

// Accepts the answers that hostile bytes may get besides data.
inline testing::AssertionResult IsOkOrRefusal(const absl::Status& status) {
  const bool no_frame =
      absl::IsInvalidArgument(status) && absl::EndsWith(status.message(), "not a Blosc2 frame");
  if (status.ok() || absl::IsDataLoss(status) || absl::IsUnimplemented(status) || no_frame) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << "bytes blamed on the caller: " << status;
}

}  // namespace cairn

#endif  // CAIRN_TESTS_SUPPORT_STATUS_H_
