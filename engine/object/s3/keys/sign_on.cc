#include "engine/object/s3/keys/sign_on.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

#include "engine/base/status.h"
#include "engine/object/s3/http/s3_error.h"
#include "engine/object/s3/http/url.h"
#include "engine/object/s3/keys/key_answers.h"
#include "engine/object/s3/keys/key_request.h"
#include "engine/object/s3/signing/digest.h"

namespace cairn::object {

namespace {

absl::Status NotSignedIn(const SignOn& sign_on, const std::string& reason) {
  return absl::PermissionDeniedError(absl::StrCat("profile ", sign_on.profile, ": ", reason,
                                                  ": run aws sso login --profile ",
                                                  sign_on.profile));
}

absl::StatusOr<std::string> ReadToken(const SignOn& sign_on) {
  const std::string path =
      absl::StrCat(sign_on.directory, "/", Sha1Hex(AsBytes(sign_on.session)), ".json");
  const absl::StatusOr<std::string> file = ReadKeyFile(path, "single sign-on");
  if (!file.ok()) return NotSignedIn(sign_on, std::string(file.status().message()));
  const absl::StatusOr<SignIn> sign_in = ParseSignIn(*file);
  if (!sign_in.ok())
    return NotSignedIn(sign_on, path + ": " + std::string(sign_in.status().message()));
  if (sign_in->expiry <= absl::Now()) return NotSignedIn(sign_on, "the sign-in has expired");
  const std::string& token = sign_in->token;
  if (std::all_of(token.begin(), token.end(),
                  [](unsigned char c) { return c > ' ' && c < 0x7F; })) {
    return token;
  }
  return NotSignedIn(sign_on, path + ": not a token");
}

}  // namespace

S3KeySource SignOnSource(SignOn sign_on) {
  return [sign_on =
              std::move(sign_on)](const TransportOptions& transport) -> absl::StatusOr<S3LentKeys> {
    CAIRN_ASSIGN_OR_RETURN(const std::string token, ReadToken(sign_on));
    const std::string portal =
        sign_on.endpoint.empty() ? AwsUrl("portal.sso", sign_on.region) : sign_on.endpoint;
    const std::string url =
        absl::StrCat(portal, "/federation/credentials?",
                     EncodeQuery({{"account_id", sign_on.account}, {"role_name", sign_on.role}}));
    const absl::StatusOr<std::string> json =
        AskForKeys(transport, {.url = url, .headers = {"x-amz-sso_bearer_token: " + token}});
    if (absl::IsPermissionDenied(json.status()))
      return NotSignedIn(sign_on, std::string(json.status().message()));
    CAIRN_RETURN_IF_ERROR(json.status());
    absl::StatusOr<S3LentKeys> lent = ParseRoleKeys(*json);
    if (lent.ok()) return lent;
    return AtPlace("keys: GET " + portal, lent.status());
  };
}

}  // namespace cairn::object
