// Describes answers that are not a success.
#ifndef CAIRN_ENGINE_OBJECT_S3_HTTP_S3_ERROR_H_
#define CAIRN_ENGINE_OBJECT_S3_HTTP_S3_ERROR_H_

#include <string>

#include "absl/status/status.h"

#include "engine/object/s3/http/http_message.h"

namespace cairn::object {

// The body of an error. All are empty if the body is not an error.
struct S3Error {
  std::string code;
  std::string message;
  std::string region;  // the region that a signature should have had
};
S3Error ParseS3Error(const HttpAnswer& answer);

// Returns "503 SlowDown: please reduce your request rate", or why there is no answer.
std::string ReasonOf(const HttpAnswer& answer);

// Returns the status for an answer that refuses a request: "<title>: 403 AccessDenied".
absl::Status RefusalOf(const std::string& title, const HttpAnswer& answer);

// Puts "<place>: " before the message of an error.
absl::Status AtPlace(const std::string& place, const absl::Status& status);

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_HTTP_S3_ERROR_H_
