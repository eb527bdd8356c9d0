// Keys that the portal of single sign-on lends to who has signed in.
#ifndef CAIRN_ENGINE_OBJECT_S3_KEYS_SIGN_ON_H_
#define CAIRN_ENGINE_OBJECT_S3_KEYS_SIGN_ON_H_

#include <string>

#include "cairn/s3.h"

namespace cairn::object {

struct SignOn {
  std::string profile;    // for messages
  std::string directory;  // where `aws sso login` leaves what it gets
  std::string session;    // name of the session, or URL of the portal if it has none
  std::string region;
  std::string account;
  std::string role;
  std::string endpoint = {};  // URL of the portal's service; empty: AWS in the region
};

// The source reads the sign-in for each renewal.
S3KeySource SignOnSource(SignOn sign_on);

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_KEYS_SIGN_ON_H_
