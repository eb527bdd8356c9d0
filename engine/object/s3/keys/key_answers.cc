#include "engine/object/s3/keys/key_answers.h"

#include <algorithm>
#include <span>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include <nlohmann/json.hpp>

#include "engine/base/status.h"
#include "engine/object/s3/http/xml.h"

namespace cairn::object {

namespace {

using Json = nlohmann::json;

absl::Status NoKeys() { return absl::DataLossError("the answer has no keys that expire"); }

// Returns a value that is no object if the text is no JSON.
Json ParseObject(std::string_view text) {
  return Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
}

// Returns an empty text if there is no such member, or it is no text.
std::string TextOf(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool ParseExpiry(std::string text, absl::Time& expiry) {
  // Old versions of the AWS CLI end it with UTC.
  if (text.ends_with("UTC")) text.replace(text.size() - 3, 3, "Z");
  return absl::ParseTime(absl::RFC3339_full, text, &expiry, nullptr) &&
         expiry > absl::UnixEpoch() && expiry < absl::FromUnixSeconds(int64_t{1} << 33);
}

absl::StatusOr<S3LentKeys> Lent(std::string access_key, std::string secret_key, std::string token,
                                absl::Time expiry) {
  if (access_key.empty() || secret_key.empty()) return NoKeys();
  return S3LentKeys{.keys = {.access_key = std::move(access_key),
                             .secret_key = std::move(secret_key),
                             .session_token = std::move(token)},
                    .expiry = absl::ToChronoTime(expiry)};
}

// Returns a reason that an answer names, such as "AssumeRoleUnauthorizedAccess".
std::string ReasonIn(const Json& object) {
  std::string code = TextOf(object, "Code");
  if (code.empty()) code = TextOf(object, "code");
  const bool plain =
      code.size() <= 64 &&
      std::all_of(code.begin(), code.end(), [](unsigned char c) { return absl::ascii_isalnum(c); });
  return plain && code != "Success" ? code : std::string();
}

bool IsPlainText(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return c > ' ' && c < 0x7F; });
}

}  // namespace

absl::StatusOr<S3LentKeys> ParseMetadataKeys(std::string_view json) {
  const Json object = ParseObject(json);
  if (const std::string reason = ReasonIn(object); !reason.empty()) {
    return absl::PermissionDeniedError(reason);
  }
  absl::Time expiry;
  if (!ParseExpiry(TextOf(object, "Expiration"), expiry)) return NoKeys();
  return Lent(TextOf(object, "AccessKeyId"), TextOf(object, "SecretAccessKey"),
              TextOf(object, "Token"), expiry);
}

absl::StatusOr<S3LentKeys> ParseProcessKeys(std::string_view json) {
  const Json object = ParseObject(json);
  const auto version = object.find("Version");
  if (version == object.end() || *version != 1) {
    return absl::DataLossError("expected a JSON object with \"Version\": 1");
  }
  absl::Time expiry;
  const bool expires = object.contains("Expiration") && !object["Expiration"].is_null();
  if (expires && !ParseExpiry(TextOf(object, "Expiration"), expiry)) return NoKeys();
  CAIRN_ASSIGN_OR_RETURN(S3LentKeys lent,
                         Lent(TextOf(object, "AccessKeyId"), TextOf(object, "SecretAccessKey"),
                              TextOf(object, "SessionToken"), expiry));
  if (!expires) lent.expiry = std::chrono::system_clock::time_point::max();
  return lent;
}

absl::StatusOr<S3LentKeys> ParseRoleKeys(std::string_view json) {
  const Json object = ParseObject(json);
  const auto keys = object.find("roleCredentials");
  if (keys == object.end()) return NoKeys();
  const auto millis = keys->find("expiration");
  constexpr int64_t kMost = int64_t{1} << 43;
  if (millis == keys->end() || !millis->is_number_integer() || *millis < 0 || *millis > kMost) {
    return NoKeys();
  }
  return Lent(TextOf(*keys, "accessKeyId"), TextOf(*keys, "secretAccessKey"),
              TextOf(*keys, "sessionToken"), absl::FromUnixMillis(millis->get<int64_t>()));
}

absl::StatusOr<S3LentKeys> ParseStsKeys(std::string_view xml, const std::string& action) {
  CAIRN_ASSIGN_OR_RETURN(const XmlElement root, ParseXml(std::as_bytes(std::span(xml))));
  const XmlElement* const result = root.Find(action + "Result");
  const XmlElement* const keys = result == nullptr ? nullptr : result->Find("Credentials");
  absl::Time expiry;
  if (keys == nullptr || !ParseExpiry(keys->TextOf("Expiration"), expiry)) return NoKeys();
  return Lent(keys->TextOf("AccessKeyId"), keys->TextOf("SecretAccessKey"),
              keys->TextOf("SessionToken"), expiry);
}

absl::StatusOr<SignIn> ParseSignIn(std::string_view json) {
  const Json object = ParseObject(json);
  SignIn sign_in{.token = TextOf(object, "accessToken"), .expiry = {}};
  if (sign_in.token.empty() || !ParseExpiry(TextOf(object, "expiresAt"), sign_in.expiry)) {
    return absl::DataLossError("expected a JSON object with accessToken and expiresAt");
  }
  return sign_in;
}

absl::Status CheckKeyTexts(const S3Credentials& keys) {
  if (!keys.access_key.empty() && !keys.secret_key.empty() && IsPlainText(keys.access_key) &&
      IsPlainText(keys.session_token)) {
    return absl::OkStatus();
  }
  return absl::DataLossError("keys: empty, or with characters that no key has");
}

}  // namespace cairn::object
