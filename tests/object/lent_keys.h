// Answers that lend keys, each the same.
#ifndef CAIRN_TESTS_OBJECT_LENT_KEYS_H_
#define CAIRN_TESTS_OBJECT_LENT_KEYS_H_

#include <chrono>
#include <string>

#include "absl/status/statusor.h"
#include <gtest/gtest.h>

#include "cairn/s3.h"

namespace cairn::test {

inline const std::string kMetadataAnswer =
    R"({"Code":"Success","AccessKeyId":"key","SecretAccessKey":"TOP-SECRET","Token":"token",)"
    R"("Expiration":"2099-01-02T03:04:05Z"})";
inline const std::string kProcessAnswer =
    R"({"Version":1,"AccessKeyId":"key","SecretAccessKey":"TOP-SECRET","SessionToken":"token",)"
    R"("Expiration":"2099-01-02T03:04:05Z"})";
inline const std::string kRoleAnswer =
    R"({"roleCredentials":{"accessKeyId":"key","secretAccessKey":"TOP-SECRET",)"
    R"("sessionToken":"token","expiration":4071006245000}})";

// Returns a transport that gives up soon.
inline TransportOptions Quick() {
  TransportOptions transport;
  transport.first_pause = transport.longest_pause = std::chrono::milliseconds(1);
  transport.retries = 2;
  transport.call_timeout = std::chrono::milliseconds(5000);
  return transport;
}

// Checks that the keys are those of the answers above, which serve until 2099.
inline testing::AssertionResult AreTheKeys(const absl::StatusOr<S3LentKeys>& lent) {
  if (!lent.ok()) return testing::AssertionFailure() << lent.status();
  if (lent->keys.access_key != "key" || lent->keys.secret_key != "TOP-SECRET" ||
      lent->keys.session_token != "token") {
    return testing::AssertionFailure() << "other keys: " << lent->keys.access_key;
  }
  if (std::chrono::system_clock::to_time_t(lent->expiry) != 4071006245) {
    return testing::AssertionFailure()
           << "another time: " << std::chrono::system_clock::to_time_t(lent->expiry);
  }
  return testing::AssertionSuccess();
}

}  // namespace cairn::test

#endif  // CAIRN_TESTS_OBJECT_LENT_KEYS_H_
