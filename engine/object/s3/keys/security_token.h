// Keys that STS lends: for a web identity, or to whoever has other keys.
#ifndef CAIRN_ENGINE_OBJECT_S3_KEYS_SECURITY_TOKEN_H_
#define CAIRN_ENGINE_OBJECT_S3_KEYS_SECURITY_TOKEN_H_

#include <string>

#include "cairn/s3.h"

namespace cairn::object {

// A role that is assumed with other keys.
struct AssumedRole {
  std::string role_arn;
  std::string session_name;
  std::string external_id = {};
  std::string seconds = {};   // how long the keys serve; empty: as STS likes
  std::string endpoint = {};  // URL of STS; empty: AWS in the region
  std::string region;
};

// The source reads the file for each renewal.
S3KeySource WebIdentitySource(S3WebIdentity identity, std::string region);
// The source gets keys from `other` for each renewal, and then those of the role.
S3KeySource RoleSource(AssumedRole role, S3KeySource other);

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_KEYS_SECURITY_TOKEN_H_
