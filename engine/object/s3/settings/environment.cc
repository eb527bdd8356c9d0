#include "engine/object/s3/settings/environment.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <initializer_list>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "engine/base/status.h"
#include "engine/object/s3/settings/profile.h"

namespace cairn::object {

namespace {

// The variables, and after them the settings of the profile in the files.
class Environment {
 public:
  static absl::StatusOr<Environment> Read(Variables variables) {
    Environment read(variables);
    const std::string home = read.Variable({"HOME"});
    const auto path = [&](const char* name, const char* usual) {
      const std::string given = read.Variable({name});
      return given.empty() ? absl::StrCat(home, usual) : given;
    };
    CAIRN_ASSIGN_OR_RETURN(Sections keys,
                           ReadSections(path("AWS_SHARED_CREDENTIALS_FILE", "/.aws/credentials")));
    CAIRN_ASSIGN_OR_RETURN(Sections config, ReadSections(path("AWS_CONFIG_FILE", "/.aws/config")));
    CAIRN_RETURN_IF_ERROR(read.TakeProfile(std::move(keys), std::move(config)));
    return read;
  }

  // Returns the first of these variables that is set, or else the setting.
  std::string Get(std::initializer_list<const char*> names, const char* setting) const {
    std::string value = Variable(names);
    return value.empty() ? Setting(setting) : value;
  }
  std::string Variable(std::initializer_list<const char*> names) const {
    for (const char* const name : names) {
      if (std::string value = variables_(name); !value.empty()) return value;
    }
    return {};
  }
  std::string Setting(const std::string& name) const {
    const auto found = settings_.find(name);
    return found == settings_.end() ? std::string() : found->second;
  }
  const std::string& profile() const { return profile_; }

 private:
  explicit Environment(Variables variables) : variables_(variables) {}

  // Settings in the file of credentials come before those of the other file.
  absl::Status TakeProfile(Sections keys, Sections config) {
    const std::string given = Variable({"AWS_PROFILE"});
    profile_ = given.empty() ? "default" : given;
    const std::string title = profile_ == "default" ? profile_ : "profile " + profile_;
    if (!given.empty() && !keys.contains(profile_) && !config.contains(title)) {
      return absl::NotFoundError("AWS_PROFILE: no file has the profile " + given);
    }
    settings_ = std::move(keys[profile_]);
    settings_.merge(config[title]);
    // Endpoints may be in a section that profiles share.
    const auto services = settings_.find("services");
    if (services != settings_.end()) settings_.merge(config["services " + services->second]);
    return absl::OkStatus();
  }

  Variables variables_;
  std::string profile_;
  Settings settings_;
};

absl::Status TakeCredentials(const Environment& environment, S3Options& options) {
  options.credentials = {.access_key = environment.Variable({"AWS_ACCESS_KEY_ID"}),
                         .secret_key = environment.Variable({"AWS_SECRET_ACCESS_KEY"}),
                         .session_token = environment.Variable({"AWS_SESSION_TOKEN"})};
  if (!options.credentials.access_key.empty()) return absl::OkStatus();
  S3WebIdentity identity{
      .token_file = environment.Get({"AWS_WEB_IDENTITY_TOKEN_FILE"}, "web_identity_token_file"),
      .role_arn = environment.Get({"AWS_ROLE_ARN"}, "role_arn"),
      .session_name = environment.Get({"AWS_ROLE_SESSION_NAME"}, "role_session_name"),
      .endpoint = environment.Get({"AWS_ENDPOINT_URL_STS"}, "sts.endpoint_url")};
  if (!identity.token_file.empty() && !identity.role_arn.empty()) {
    if (identity.session_name.empty()) identity.session_name = "cairn";
    options.web_identity = std::move(identity);
    return absl::OkStatus();
  }
  options.credentials = {.access_key = environment.Setting("aws_access_key_id"),
                         .secret_key = environment.Setting("aws_secret_access_key"),
                         .session_token = environment.Setting("aws_session_token")};
  if (!options.credentials.access_key.empty()) return absl::OkStatus();
  for (const char* const setting : {"credential_process", "sso_session", "sso_start_url",
                                    "source_profile", "credential_source"}) {
    if (!environment.Setting(setting).empty()) {
      return absl::UnimplementedError(
          absl::StrCat("profile ", environment.profile(), ": ", setting, " is not supported"));
    }
  }
  return absl::OkStatus();
}

// Takes a number of seconds, such as "2.5". An empty one leaves `timeout` as it is.
absl::Status TakeTimeout(const Environment& environment, const char* name,
                         std::chrono::milliseconds& timeout) {
  constexpr double kLongest = 86'400;
  const std::string text = environment.Variable({name});
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
  CAIRN_ASSIGN_OR_RETURN(const Environment environment, Environment::Read(variables));
  S3Options options;
  options.endpoint =
      environment.Get({"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"}, "s3.endpoint_url");
  if (options.endpoint.empty()) options.endpoint = environment.Setting("endpoint_url");
  const std::string region = environment.Get({"AWS_REGION", "AWS_DEFAULT_REGION"}, "region");
  if (!region.empty()) options.region = region;
  CAIRN_ASSIGN_OR_RETURN(options.addressing,
                         ParseAddressing(environment.Setting("s3.addressing_style")));
  CAIRN_RETURN_IF_ERROR(TakeCredentials(environment, options));
  options.transport.ca_file = environment.Get({"AWS_CA_BUNDLE"}, "ca_bundle");
  const bool plain = options.endpoint.starts_with("http://");
  // HTTP_PROXY in capitals is not read, because a CGI program would get it from its client.
  options.transport.proxy = plain ? environment.Variable({"http_proxy"})
                                  : environment.Variable({"https_proxy", "HTTPS_PROXY"});
  options.transport.no_proxy = environment.Variable({"no_proxy", "NO_PROXY"});
  TransportOptions& transport = options.transport;
  CAIRN_RETURN_IF_ERROR(
      TakeTimeout(environment, "CAIRN_CONNECT_TIMEOUT", transport.connect_timeout));
  CAIRN_RETURN_IF_ERROR(TakeTimeout(environment, "CAIRN_CALL_TIMEOUT", transport.call_timeout));
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
