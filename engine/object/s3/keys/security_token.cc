#include "engine/object/s3/keys/security_token.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

#include "engine/base/status.h"
#include "engine/object/s3/http/s3_error.h"
#include "engine/object/s3/http/url.h"
#include "engine/object/s3/keys/key_answers.h"
#include "engine/object/s3/keys/key_request.h"
#include "engine/object/s3/signing/digest.h"
#include "engine/object/s3/signing/signature.h"

namespace cairn::object {

namespace {

constexpr const char* kForm = "application/x-www-form-urlencoded";

std::string StsUrl(const std::string& endpoint, const std::string& region) {
  return endpoint.empty() ? AwsUrl("sts", region) + "/" : endpoint;
}

absl::StatusOr<S3LentKeys> AskSts(const TransportOptions& transport, const KeyRequest& request,
                                  const std::string& role_arn, const std::string& action) {
  const absl::StatusOr<std::string> answer = AskForKeys(transport, request);
  absl::StatusOr<S3LentKeys> lent =
      answer.ok() ? ParseStsKeys(*answer, action) : absl::StatusOr<S3LentKeys>(answer.status());
  if (lent.ok()) return lent;
  return AtPlace(role_arn, lent.status());
}

// Makes a request to STS that is signed with these keys.
absl::StatusOr<KeyRequest> SignedForm(const AssumedRole& role, std::string form,
                                      const S3Credentials& keys) {
  CAIRN_ASSIGN_OR_RETURN(Url url, ParseUrl(StsUrl(role.endpoint, role.region)));
  if (url.path.empty()) url.path = "/";
  std::map<std::string, std::string> headers = {
      {"content-type", kForm}, {"host", url.host}, {"x-amz-date", SigningTime(absl::Now())}};
  if (!keys.session_token.empty()) headers["x-amz-security-token"] = keys.session_token;
  headers["authorization"] = Authorization({.method = "POST",
                                            .path = url.path,
                                            .query = "",
                                            .headers = headers,
                                            .payload_hash = Hex(Sha256(AsBytes(form)))},
                                           keys, role.region, "sts");
  KeyRequest request{.method = "POST",
                     .url = absl::StrCat(url.scheme, "://", url.host, url.path),
                     .body = std::move(form)};
  for (const auto& [name, value] : headers) {
    request.headers.push_back(absl::StrCat(name, ": ", value));
  }
  return request;
}

}  // namespace

S3KeySource WebIdentitySource(S3WebIdentity identity, std::string region) {
  return [identity = std::move(identity), region = std::move(region)](
             const TransportOptions& transport) -> absl::StatusOr<S3LentKeys> {
    CAIRN_ASSIGN_OR_RETURN(const std::string token,
                           ReadKeyFile(identity.token_file, "web identity"));
    const std::string action = "AssumeRoleWithWebIdentity";
    return AskSts(transport,
                  {.method = "POST",
                   .url = StsUrl(identity.endpoint, region),
                   .headers = {absl::StrCat("Content-Type: ", kForm)},
                   .body = EncodeQuery({{"Action", action},
                                        {"Version", "2011-06-15"},
                                        {"RoleArn", identity.role_arn},
                                        {"RoleSessionName", identity.session_name},
                                        {"WebIdentityToken", token}})},
                  identity.role_arn, action);
  };
}

S3KeySource RoleSource(AssumedRole role, S3KeySource other) {
  return [role = std::move(role), other = std::move(other)](
             const TransportOptions& transport) -> absl::StatusOr<S3LentKeys> {
    CAIRN_ASSIGN_OR_RETURN(const S3LentKeys lent, other(transport));
    CAIRN_RETURN_IF_ERROR(CheckKeyTexts(lent.keys));
    const std::string action = "AssumeRole";
    Query query = {{"Action", action},
                   {"Version", "2011-06-15"},
                   {"RoleArn", role.role_arn},
                   {"RoleSessionName", role.session_name}};
    if (!role.external_id.empty()) query.emplace_back("ExternalId", role.external_id);
    if (!role.seconds.empty()) query.emplace_back("DurationSeconds", role.seconds);
    CAIRN_ASSIGN_OR_RETURN(const KeyRequest request,
                           SignedForm(role, EncodeQuery(query), lent.keys));
    return AskSts(transport, request, role.role_arn, action);
  };
}

}  // namespace cairn::object
