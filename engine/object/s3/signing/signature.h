// Signs requests to AWS and compatible servers, version 4.
#ifndef CAIRN_ENGINE_OBJECT_S3_SIGNING_SIGNATURE_H_
#define CAIRN_ENGINE_OBJECT_S3_SIGNING_SIGNATURE_H_

#include <map>
#include <string>

#include "absl/time/time.h"

#include "cairn/s3.h"

namespace cairn::object {

// The signed parts of a request: everything that is sent, except headers that do not matter.
struct SignedParts {
  std::string method;
  std::string path;                            // in the form of the URL
  std::string query;                           // in the form of EncodeQuery
  std::map<std::string, std::string> headers;  // lower-case names, with host and x-amz-date
  std::string payload_hash;
};

// Returns a time such as "20150830T123600Z".
std::string SigningTime(absl::Time now);

// Returns the value of the Authorization header.
std::string Authorization(const SignedParts& parts, const S3Credentials& credentials,
                          const std::string& region, const std::string& service);

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_SIGNING_SIGNATURE_H_
