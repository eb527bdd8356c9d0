#include "engine/object/s3/signing/signature.h"

#include <string_view>

#include "absl/strings/str_cat.h"

#include "engine/object/s3/signing/digest.h"

namespace cairn::object {

namespace {

std::string Mac(std::string_view key, std::string_view text) {
  const Sha256Digest digest = HmacSha256(key, text);
  return {digest.begin(), digest.end()};
}

// The names of the headers, and their "name:value" lines.
struct HeaderTexts {
  std::string names;
  std::string lines;
};

HeaderTexts TextsOf(const std::map<std::string, std::string>& headers) {
  HeaderTexts texts;
  for (const auto& [name, value] : headers) {
    absl::StrAppend(&texts.names, texts.names.empty() ? "" : ";", name);
    absl::StrAppend(&texts.lines, name, ":", value, "\n");
  }
  return texts;
}

}  // namespace

std::string SigningTime(absl::Time now) {
  return absl::FormatTime("%Y%m%dT%H%M%SZ", now, absl::UTCTimeZone());
}

std::string Authorization(const SignedParts& parts, const S3Credentials& credentials,
                          const std::string& region, const std::string& service) {
  const HeaderTexts headers = TextsOf(parts.headers);
  const std::string request =
      absl::StrCat(parts.method, "\n", parts.path.empty() ? "/" : parts.path, "\n", parts.query,
                   "\n", headers.lines, "\n", headers.names, "\n", parts.payload_hash);
  const std::string& time = parts.headers.at("x-amz-date");
  const std::string day = time.substr(0, 8);
  const std::string scope = absl::StrCat(day, "/", region, "/", service, "/aws4_request");
  const std::string text =
      absl::StrCat("AWS4-HMAC-SHA256\n", time, "\n", scope, "\n", Hex(Sha256(AsBytes(request))));
  const std::string day_key = Mac("AWS4" + credentials.secret_key, day);
  const std::string key = Mac(Mac(Mac(day_key, region), service), "aws4_request");
  return absl::StrCat("AWS4-HMAC-SHA256 Credential=", credentials.access_key, "/", scope,
                      ", SignedHeaders=", headers.names,
                      ", Signature=", Hex(HmacSha256(key, text)));
}

}  // namespace cairn::object
