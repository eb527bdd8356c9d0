// Signatures of requests to AWS and what speaks as it does, version 4.
#ifndef CAIRN_ENGINE_OBJECT_S3_SIGNING_SIGNATURE_H_
#define CAIRN_ENGINE_OBJECT_S3_SIGNING_SIGNATURE_H_

#include <map>
#include <string>

#include "absl/time/time.h"

#include "cairn/s3.h"

namespace cairn::object {

// What is signed: all that is sent, but for headers that are of no account.
struct SignedParts {
  std::string method;
  std::string path;                            // as in the URL
  std::string query;                           // as EncodeQuery makes it
  std::map<std::string, std::string> headers;  // lower-case names, with host and x-amz-date
  std::string payload_hash;
};

// "20150830T123600Z"
std::string SigningTime(absl::Time now);

// The value of the Authorization header.
std::string Authorization(const SignedParts& parts, const S3Credentials& credentials,
                          const std::string& region, const std::string& service);

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_SIGNING_SIGNATURE_H_
