#include "engine/object/s3/settings/environment.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"

#include "engine/base/status.h"
#include "engine/object/s3/settings/key_chain.h"

namespace cairn::object {

namespace {

// Takes a number of seconds, such as "2.5". An empty one leaves `timeout` as it is.
absl::Status TakeTimeout(const Lookup& lookup, const char* name,
                         std::chrono::milliseconds& timeout) {
  constexpr double kLongest = 86'400;
  const std::string text = lookup.Variable({name});
  if (text.empty()) return absl::OkStatus();
  double seconds = 0;
  if (!absl::SimpleAtod(text, &seconds) || !(seconds >= 0.001 && seconds <= kLongest)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: expected 0.001 to %.0f seconds, got %s", name, kLongest, text));
  }
  timeout = std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
  return absl::OkStatus();
}

absl::StatusOr<S3Addressing> ParseAddressing(const std::string& text) {
  if (text.empty() || text == "auto") return S3Addressing::kAuto;
  if (text == "path") return S3Addressing::kPath;
  if (text == "virtual") return S3Addressing::kVirtualHost;
  return absl::InvalidArgumentError("addressing_style: " + text +
                                    " is none of auto, path and virtual");
}

}  // namespace

absl::StatusOr<S3Options> OptionsFrom(Variables variables) {
  CAIRN_ASSIGN_OR_RETURN(const Lookup lookup, Lookup::Read(variables));
  S3Options options;
  options.endpoint = lookup.Get({"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"}, "s3.endpoint_url");
  if (options.endpoint.empty()) options.endpoint = lookup.Setting("endpoint_url");
  const std::string region = lookup.Get({"AWS_REGION", "AWS_DEFAULT_REGION"}, "region");
  if (!region.empty()) options.region = region;
  CAIRN_ASSIGN_OR_RETURN(options.addressing,
                         ParseAddressing(lookup.Setting("s3.addressing_style")));
  CAIRN_RETURN_IF_ERROR(ChooseKeys(lookup, options));
  options.transport.ca_file = lookup.Get({"AWS_CA_BUNDLE"}, "ca_bundle");
  const bool plain = options.endpoint.starts_with("http://");
  // HTTP_PROXY in capitals is not read, because a CGI program would get it from its client.
  options.transport.proxy =
      plain ? lookup.Variable({"http_proxy"}) : lookup.Variable({"https_proxy", "HTTPS_PROXY"});
  options.transport.no_proxy = lookup.Variable({"no_proxy", "NO_PROXY"});
  TransportOptions& transport = options.transport;
  CAIRN_RETURN_IF_ERROR(TakeTimeout(lookup, "CAIRN_CONNECT_TIMEOUT", transport.connect_timeout));
  CAIRN_RETURN_IF_ERROR(TakeTimeout(lookup, "CAIRN_CALL_TIMEOUT", transport.call_timeout));
  transport.request_timeout = std::max(transport.request_timeout, transport.call_timeout);
  return options;
}

}  // namespace cairn::object

namespace cairn {

absl::StatusOr<S3Options> S3OptionsFromEnvironment() {
  return object::OptionsFrom([](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  });
}

}  // namespace cairn
