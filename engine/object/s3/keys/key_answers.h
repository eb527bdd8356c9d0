// Parses answers that lend keys. No message quotes an answer, because it may have secrets.
#ifndef CAIRN_ENGINE_OBJECT_S3_KEYS_KEY_ANSWERS_H_
#define CAIRN_ENGINE_OBJECT_S3_KEYS_KEY_ANSWERS_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "cairn/s3.h"

namespace cairn::object {

// Errors of all of these: kDataLoss if it is no such answer.

// Parses the answer of the metadata service of a machine or container. Errors: also
// kPermissionDenied if it says why there are no keys.
absl::StatusOr<S3LentKeys> ParseMetadataKeys(std::string_view json);
// Parses what a credential_process writes. Without a time, its keys do not expire.
absl::StatusOr<S3LentKeys> ParseProcessKeys(std::string_view json);
// Parses the answer of the portal of single sign-on.
absl::StatusOr<S3LentKeys> ParseRoleKeys(std::string_view json);
// Parses the answer of STS to an action such as "AssumeRole".
absl::StatusOr<S3LentKeys> ParseStsKeys(std::string_view xml, const std::string& action);

// The result of a sign-in with `aws sso login`.
struct SignIn {
  std::string token;
  absl::Time expiry;
};
absl::StatusOr<SignIn> ParseSignIn(std::string_view json);

// Errors: kDataLoss if the keys are empty, or could not stand in a header.
absl::Status CheckKeyTexts(const S3Credentials& keys);

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_KEYS_KEY_ANSWERS_H_
