#include "engine/object/s3/keys/metadata.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include "engine/base/status.h"
#include "engine/object/s3/http/s3_error.h"
#include "engine/object/s3/http/url.h"
#include "engine/object/s3/keys/key_answers.h"
#include "engine/object/s3/keys/key_request.h"

namespace cairn::object {

namespace {

constexpr const char* kRoles = "/latest/meta-data/iam/security-credentials/";

// Returns a host without its port.
std::string_view NameOf(std::string_view host) {
  const size_t colon = host.find(':', host.starts_with('[') ? host.find(']') : 0);
  return host.substr(0, colon);
}

// Returns true for an address such as 127.0.0.1. A name such as 127.0.0.1.org is none.
bool IsLoopback(std::string_view name) {
  if (name == "localhost" || name == "[::1]") return true;
  const std::vector<std::string> parts = absl::StrSplit(std::string(name), '.');
  return parts.size() == 4 && parts[0] == "127" &&
         std::all_of(parts.begin(), parts.end(), [](const std::string& part) {
           int value = 0;
           return absl::SimpleAtoi(part, &value) && value >= 0 && value <= 255;
         });
}

bool IsOfContainers(std::string_view name) {
  return name == "169.254.170.2" || name == "169.254.170.23" || name == "[fd00:ec2::23]";
}

bool FitsInHeader(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return c >= ' ' && c < 0x7F; });
}

// Cuts a query off. It may be secret, and it is no part of what ParseUrl takes.
std::string WithoutQuery(const std::string& url) { return url.substr(0, url.find('?')); }

absl::StatusOr<S3LentKeys> ParseAnswer(const std::string& url, const std::string& json) {
  absl::StatusOr<S3LentKeys> lent = ParseMetadataKeys(json);
  if (lent.ok()) return lent;
  return AtPlace("keys: GET " + url, lent.status());
}

absl::Status NoRole(const absl::Status& status) {
  // Most machines are in no cloud, and nothing answers there.
  if (!absl::IsUnavailable(status) && !absl::IsNotFound(status)) return status;
  return absl::PermissionDeniedError(
      absl::StrCat("no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or be "
                   "anonymous; and this machine has no role (",
                   status.message(), ")"));
}

}  // namespace

absl::Status CheckContainerUrl(const std::string& url) {
  CAIRN_ASSIGN_OR_RETURN(const Url parsed, ParseUrl(WithoutQuery(url)));
  const std::string_view name = NameOf(parsed.host);
  if (!FitsInHeader(url) || url.find(' ') != std::string::npos) {
    return absl::InvalidArgumentError("AWS_CONTAINER_CREDENTIALS_FULL_URI is not a URL");
  }
  if (parsed.scheme == "https" || IsLoopback(name) || IsOfContainers(name)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "AWS_CONTAINER_CREDENTIALS_FULL_URI: ", parsed.host,
      ": http is only for this machine, 169.254.170.2, 169.254.170.23 and [fd00:ec2::23]"));
}

S3KeySource ContainerSource(ContainerService service) {
  return [service =
              std::move(service)](const TransportOptions& transport) -> absl::StatusOr<S3LentKeys> {
    CAIRN_RETURN_IF_ERROR(CheckContainerUrl(service.url));
    std::string token = service.token;
    if (!service.token_file.empty()) {
      CAIRN_ASSIGN_OR_RETURN(
          token, ReadKeyFile(service.token_file, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"));
    }
    if (!FitsInHeader(token)) {
      return absl::InvalidArgumentError("the authorization token of the container has line breaks");
    }
    KeyRequest request{.url = service.url, .headers = {"Accept: application/json"}};
    if (!token.empty()) request.headers.push_back("Authorization: " + token);
    const bool nearby = service.url.starts_with("http:");
    CAIRN_ASSIGN_OR_RETURN(const std::string json,
                           AskForKeys(nearby ? Nearby(transport) : transport, request));
    return ParseAnswer(WithoutQuery(service.url), json);
  };
}

S3KeySource InstanceSource(std::string endpoint) {
  return [endpoint =
              std::move(endpoint)](const TransportOptions& given) -> absl::StatusOr<S3LentKeys> {
    const TransportOptions transport = Nearby(given);
    const absl::StatusOr<std::string> token =
        AskForKeys(transport, {.method = "PUT",
                               .url = endpoint + "/latest/api/token",
                               .headers = {"X-aws-ec2-metadata-token-ttl-seconds: 21600"}});
    if (!token.ok()) return NoRole(token.status());
    if (!FitsInHeader(*token)) return absl::DataLossError(endpoint + ": the token is no text");
    const std::vector<std::string> headers = {"X-aws-ec2-metadata-token: " + *token};
    const absl::StatusOr<std::string> roles =
        AskForKeys(transport, {.url = endpoint + kRoles, .headers = headers});
    if (!roles.ok()) return NoRole(roles.status());
    const std::string role(absl::StripAsciiWhitespace(roles->substr(0, roles->find('\n'))));
    if (role.empty()) return NoRole(absl::NotFoundError(endpoint + ": no role"));
    const std::string url = absl::StrCat(endpoint, kRoles, PercentEncode(role, false));
    CAIRN_ASSIGN_OR_RETURN(const std::string json,
                           AskForKeys(transport, {.url = url, .headers = headers}));
    return ParseAnswer(url, json);
  };
}

}  // namespace cairn::object
