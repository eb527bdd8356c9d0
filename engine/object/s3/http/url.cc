#include "engine/object/s3/http/url.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"

namespace cairn::object {

namespace {

bool StaysInUrl(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
         std::string_view("-._~").find(c) != std::string_view::npos;
}

bool IsPlain(char c) {
  return c > ' ' && c < 0x7F && c != '@' && c != '?' && c != '#' && c != '\\';
}

absl::Status BadUrl(std::string_view text, std::string_view reason) {
  return absl::InvalidArgumentError(absl::StrFormat("URL %s: %s", ShownUrl(text), reason));
}

}  // namespace

std::string ShownUrl(std::string_view text) {
  const std::string_view shown = text.substr(0, text.find_first_of("?#"));
  const size_t scheme = shown.find("://");
  const size_t begin = scheme == std::string_view::npos ? 0 : scheme + 3;
  const size_t user = shown.rfind('@', shown.find('/', begin));
  if (user == std::string_view::npos || user < begin) return std::string(shown);
  return absl::StrCat(std::string(shown.substr(0, begin)), "…", std::string(shown.substr(user)));
}

absl::StatusOr<Url> ParseUrl(std::string_view text) {
  const size_t end = text.find("://");
  if (end == std::string_view::npos) return BadUrl(text, "no http:// or https://");
  Url url{
      .scheme = absl::AsciiStrToLower(std::string(text.substr(0, end))), .host = {}, .path = {}};
  if (url.scheme != "http" && url.scheme != "https") {
    return BadUrl(text, "neither http nor https");
  }
  const std::string_view rest = text.substr(end + 3);
  if (!std::all_of(rest.begin(), rest.end(), IsPlain)) {
    return BadUrl(text, "user names, queries and special characters are not supported");
  }
  const size_t slash = std::min(rest.find('/'), rest.size());
  const std::string host(rest.substr(0, slash));
  url.host = std::string(absl::StripSuffix(host, url.scheme == "http" ? ":80" : ":443"));
  if (url.host.empty() || url.host.starts_with(':')) return BadUrl(text, "no host");
  url.path = rest.substr(slash);
  while (url.path.ends_with('/')) url.path.pop_back();
  return url;
}

absl::Status CheckQuery(std::string_view query) {
  if (std::all_of(query.begin(), query.end(),
                  [](char c) { return c > ' ' && c < 0x7F && c != '#' && c != '\\'; })) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("URL: special characters in its query");
}

std::string PercentEncode(std::string_view text, bool keep_slashes) {
  std::string encoded;
  encoded.reserve(text.size());
  for (const char c : text) {
    if (StaysInUrl(c) || (c == '/' && keep_slashes)) {
      encoded += c;
    } else {
      absl::StrAppendFormat(&encoded, "%%%02X", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

absl::StatusOr<std::string> PercentDecode(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    const std::string_view digits = text.substr(i + 1, 2);
    if (digits.size() < 2 || !std::all_of(digits.begin(), digits.end(), [](unsigned char c) {
          return absl::ascii_isxdigit(c);
        })) {
      return BadUrl(text, "% without two digits");
    }
    decoded += absl::HexStringToBytes(std::string(digits));
    i += 2;
  }
  return decoded;
}

std::string EncodeQuery(const Query& query) {
  std::vector<std::string> parts;
  parts.reserve(query.size());
  for (const auto& [name, value] : query) {
    parts.push_back(absl::StrCat(PercentEncode(name, false), "=", PercentEncode(value, false)));
  }
  std::sort(parts.begin(), parts.end());
  std::string encoded;
  for (const std::string& part : parts) absl::StrAppend(&encoded, encoded.empty() ? "" : "&", part);
  return encoded;
}

}  // namespace cairn::object
