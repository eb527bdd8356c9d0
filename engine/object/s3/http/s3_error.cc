#include "engine/object/s3/http/s3_error.h"

#include "absl/strings/str_cat.h"

#include "engine/object/s3/http/xml.h"

namespace cairn::object {

namespace {

// Returns the code of a refusal. A redirection means another region or endpoint, which the caller
// must name.
absl::StatusCode CodeOf(int status) {
  switch (status) {
    case 401:
    case 403:
      return absl::StatusCode::kPermissionDenied;
    case 404:
      return absl::StatusCode::kNotFound;
    case 412:
      return absl::StatusCode::kFailedPrecondition;
    case 405:
    case 501:
      return absl::StatusCode::kUnimplemented;
    default:
      return absl::StatusCode::kInvalidArgument;
  }
}

}  // namespace

S3Error ParseS3Error(const HttpAnswer& answer) {
  if (answer.body.empty()) return {};
  const absl::StatusOr<XmlElement> root = ParseXml(answer.body);
  if (!root.ok()) return {};
  // STS has the error in an element of its own.
  const XmlElement* const nested = root->Find("Error");
  const XmlElement& error = nested != nullptr ? *nested : *root;
  return {.code = error.TextOf("Code"),
          .message = error.TextOf("Message"),
          .region = error.TextOf("Region")};
}

std::string ReasonOf(const HttpAnswer& answer) {
  if (answer.status == 0) return answer.error;
  const S3Error error = ParseS3Error(answer);
  return absl::StrCat(answer.status, error.code.empty() ? "" : " ", error.code,
                      error.message.empty() ? "" : ": ", error.message);
}

absl::Status RefusalOf(const std::string& title, const HttpAnswer& answer) {
  const std::string message = absl::StrCat(title, ": ", ReasonOf(answer));
  if (ParseS3Error(answer).code == "ExpiredToken") {
    return absl::PermissionDeniedError(message + " (open it again with new credentials)");
  }
  return {CodeOf(answer.status), message};
}

absl::Status AtPlace(const std::string& place, const absl::Status& status) {
  return {status.code(), absl::StrCat(place, ": ", status.message())};
}

}  // namespace cairn::object
