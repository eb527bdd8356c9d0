#include "engine/object/s3/settings/key_chain.h"

#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include "engine/base/status.h"
#include "engine/object/s3/keys/metadata.h"
#include "engine/object/s3/keys/process.h"
#include "engine/object/s3/keys/security_token.h"
#include "engine/object/s3/keys/sign_on.h"

namespace cairn::object {

namespace {

S3Credentials KeysOf(const Settings& settings) {
  return {.access_key = SettingOf(settings, "aws_access_key_id"),
          .secret_key = SettingOf(settings, "aws_secret_access_key"),
          .session_token = SettingOf(settings, "aws_session_token")};
}

S3Credentials KeysOfVariables(const Lookup& lookup) {
  return {.access_key = lookup.Variable({"AWS_ACCESS_KEY_ID"}),
          .secret_key = lookup.Variable({"AWS_SECRET_ACCESS_KEY"}),
          .session_token = lookup.Variable({"AWS_SESSION_TOKEN"})};
}

// The source always has the same keys.
S3KeySource FixedSource(S3Credentials keys) {
  return [keys = std::move(keys)](const TransportOptions&) -> absl::StatusOr<S3LentKeys> {
    if (keys.access_key.empty()) return absl::PermissionDeniedError("no AWS_ACCESS_KEY_ID");
    return S3LentKeys{.keys = keys};
  };
}

// The source reads the files again, which other programs may have changed.
S3KeySource FileSource(ProfileFiles files, std::string profile) {
  return [files = std::move(files),
          profile = std::move(profile)](const TransportOptions&) -> absl::StatusOr<S3LentKeys> {
    CAIRN_ASSIGN_OR_RETURN(const Profiles profiles, Profiles::Read(files));
    S3LentKeys lent{.keys = KeysOf(profiles.Of(profile))};
    if (lent.keys.access_key.empty()) {
      return absl::PermissionDeniedError(
          absl::StrCat("profile ", profile, ": no longer has aws_access_key_id"));
    }
    return lent;
  };
}

// Makes the source of keys that a profile names. A null source means that it names none.
class ProfileChain {
 public:
  ProfileChain(const Lookup& lookup, std::string region)
      : lookup_(lookup), region_(std::move(region)) {}

  absl::StatusOr<S3KeySource> SourceOf(const std::string& profile);

 private:
  absl::StatusOr<S3KeySource> RoleOf(const std::string& profile, const Settings& settings);
  absl::StatusOr<S3KeySource> OtherOf(const std::string& profile, const Settings& settings);
  absl::StatusOr<S3KeySource> NamedSource(const std::string& profile, const std::string& name);
  absl::StatusOr<S3KeySource> SignOnOf(const std::string& profile, const Settings& settings) const;
  std::string Endpoint(const char* variable, const char* setting, const Settings& settings) const;

  const Lookup& lookup_;
  const std::string region_;
  std::set<std::string> seen_;
};

absl::Status BadProfile(const std::string& profile, const std::string& reason) {
  return absl::InvalidArgumentError(absl::StrCat("profile ", profile, ": ", reason));
}

absl::StatusOr<S3KeySource> ContainerOf(const Lookup& lookup) {
  const std::string path = lookup.Variable({"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"});
  ContainerService service{
      .url = lookup.Variable({"AWS_CONTAINER_CREDENTIALS_FULL_URI"}),
      .token = lookup.Variable({"AWS_CONTAINER_AUTHORIZATION_TOKEN"}),
      .token_file = lookup.Variable({"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"})};
  if (!path.empty()) {
    if (!path.starts_with('/')) {
      return absl::InvalidArgumentError(
          "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: expected a path that begins with a slash");
    }
    service.url = "http://169.254.170.2" + path;
  }
  if (service.url.empty()) return nullptr;
  CAIRN_RETURN_IF_ERROR(CheckContainerUrl(service.url));
  return ContainerSource(std::move(service));
}

absl::StatusOr<S3KeySource> InstanceOf(const Lookup& lookup) {
  CAIRN_ASSIGN_OR_RETURN(const bool disabled,
                         lookup.Flag("AWS_EC2_METADATA_DISABLED", "ec2_metadata_disabled"));
  if (disabled) return nullptr;
  std::string endpoint =
      lookup.Get({"AWS_EC2_METADATA_SERVICE_ENDPOINT"}, "ec2_metadata_service_endpoint");
  const std::string mode = absl::AsciiStrToLower(
      lookup.Get({"AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE"}, "ec2_metadata_service_endpoint_mode"));
  if (!mode.empty() && mode != "ipv4" && mode != "ipv6") {
    return absl::InvalidArgumentError(
        absl::StrCat("ec2_metadata_service_endpoint_mode: ", mode, " is neither IPv4 nor IPv6"));
  }
  if (endpoint.empty()) {
    endpoint = mode == "ipv6" ? "http://[fd00:ec2::254]" : "http://169.254.169.254";
  }
  while (endpoint.ends_with('/')) endpoint.pop_back();
  return InstanceSource(std::move(endpoint));
}

std::string ProfileChain::Endpoint(const char* variable, const char* setting,
                                   const Settings& settings) const {
  const std::string given = lookup_.Variable({variable});
  return given.empty() ? SettingOf(settings, setting) : given;
}

absl::StatusOr<S3KeySource> ProfileChain::SourceOf(const std::string& profile) {
  if (!seen_.insert(profile).second) {
    return BadProfile(profile, "source_profile leads back to it");
  }
  const Settings settings = lookup_.profiles().Of(profile);
  if (SettingOf(settings, "role_arn").empty()) return OtherOf(profile, settings);
  return RoleOf(profile, settings);
}

absl::StatusOr<S3KeySource> ProfileChain::RoleOf(const std::string& profile,
                                                 const Settings& settings) {
  std::string region = SettingOf(settings, "region");
  if (region.empty()) region = region_;
  std::string session = SettingOf(settings, "role_session_name");
  if (session.empty()) session = "cairn";
  AssumedRole role{.role_arn = SettingOf(settings, "role_arn"),
                   .session_name = session,
                   .external_id = SettingOf(settings, "external_id"),
                   .seconds = SettingOf(settings, "duration_seconds"),
                   .endpoint = Endpoint("AWS_ENDPOINT_URL_STS", "sts.endpoint_url", settings),
                   .region = region};
  const std::string token_file = SettingOf(settings, "web_identity_token_file");
  if (!token_file.empty()) {
    return WebIdentitySource({.token_file = token_file,
                              .role_arn = role.role_arn,
                              .session_name = session,
                              .endpoint = role.endpoint},
                             region);
  }
  if (!SettingOf(settings, "mfa_serial").empty()) {
    return absl::UnimplementedError(
        absl::StrCat("profile ", profile, ": mfa_serial is not supported"));
  }
  int64_t seconds = 0;
  if (!role.seconds.empty() && (!absl::SimpleAtoi(role.seconds, &seconds) || seconds < 900)) {
    return BadProfile(profile, "duration_seconds: expected 900 seconds or more");
  }
  const std::string other = SettingOf(settings, "source_profile");
  const std::string named = SettingOf(settings, "credential_source");
  if (other.empty() == named.empty()) {
    return BadProfile(profile, "role_arn needs source_profile or credential_source");
  }
  S3KeySource source;
  if (!named.empty()) {
    CAIRN_ASSIGN_OR_RETURN(source, NamedSource(profile, named));
  } else if (other == profile) {
    // The role is assumed with the keys beside it.
    CAIRN_ASSIGN_OR_RETURN(source, OtherOf(profile, settings));
  } else if (!lookup_.profiles().Has(other)) {
    return BadProfile(profile, "no file has its source_profile " + other);
  } else {
    CAIRN_ASSIGN_OR_RETURN(source, SourceOf(other));
  }
  if (!source) return BadProfile(other.empty() ? profile : other, "has no keys for role_arn");
  return RoleSource(std::move(role), std::move(source));
}

absl::StatusOr<S3KeySource> ProfileChain::NamedSource(const std::string& profile,
                                                      const std::string& name) {
  if (name == "Environment") return FixedSource(KeysOfVariables(lookup_));
  if (name == "Ec2InstanceMetadata") return InstanceOf(lookup_);
  if (name == "EcsContainer") return ContainerOf(lookup_);
  return BadProfile(profile, absl::StrCat("credential_source: ", name,
                                          " is none of Environment, Ec2InstanceMetadata and "
                                          "EcsContainer"));
}

absl::StatusOr<S3KeySource> ProfileChain::OtherOf(const std::string& profile,
                                                  const Settings& settings) {
  const std::string session = SettingOf(settings, "sso_session");
  if (!session.empty() || !SettingOf(settings, "sso_start_url").empty()) {
    return SignOnOf(profile, settings);
  }
  if (!SettingOf(settings, "aws_access_key_id").empty()) {
    return FileSource(lookup_.files(), profile);
  }
  if (std::string command = SettingOf(settings, "credential_process"); !command.empty()) {
    CAIRN_RETURN_IF_ERROR(SplitCommand(command).status());
    return ProcessSource(std::move(command));
  }
  if (!SettingOf(settings, "login_session").empty()) {
    return absl::UnimplementedError(
        absl::StrCat("profile ", profile, ": login_session is not supported"));
  }
  return nullptr;
}

absl::StatusOr<S3KeySource> ProfileChain::SignOnOf(const std::string& profile,
                                                   const Settings& settings) const {
  SignOn sign_on{.profile = profile,
                 .directory = lookup_.Variable({"HOME"}) + "/.aws/sso/cache",
                 .session = SettingOf(settings, "sso_session"),
                 .region = SettingOf(settings, "sso_region"),
                 .account = SettingOf(settings, "sso_account_id"),
                 .role = SettingOf(settings, "sso_role_name"),
                 .endpoint = Endpoint("AWS_ENDPOINT_URL_SSO", "sso.endpoint_url", settings)};
  if (sign_on.session.empty()) {
    sign_on.session = SettingOf(settings, "sso_start_url");
  } else {
    sign_on.region = SettingOf(lookup_.profiles().SignOnSession(sign_on.session), "sso_region");
    if (sign_on.region.empty()) {
      return BadProfile(profile, "no [sso-session " + sign_on.session + "] with sso_region");
    }
  }
  if (sign_on.region.empty() || sign_on.account.empty() || sign_on.role.empty()) {
    return BadProfile(profile, "expected sso_region, sso_account_id and sso_role_name");
  }
  return SignOnSource(std::move(sign_on));
}

// Takes the web identity that variables or the profile name. Returns false if they name none.
bool TakeWebIdentity(const Lookup& lookup, S3Options& options) {
  S3WebIdentity identity{
      .token_file = lookup.Get({"AWS_WEB_IDENTITY_TOKEN_FILE"}, "web_identity_token_file"),
      .role_arn = lookup.Get({"AWS_ROLE_ARN"}, "role_arn"),
      .session_name = lookup.Get({"AWS_ROLE_SESSION_NAME"}, "role_session_name"),
      .endpoint = lookup.Get({"AWS_ENDPOINT_URL_STS"}, "sts.endpoint_url")};
  if (identity.token_file.empty() || identity.role_arn.empty()) return false;
  if (identity.session_name.empty()) identity.session_name = "cairn";
  options.web_identity = std::move(identity);
  return true;
}

}  // namespace

absl::Status ChooseKeys(const Lookup& lookup, S3Options& options) {
  CAIRN_ASSIGN_OR_RETURN(options.anonymous, lookup.Flag("AWS_NO_SIGN_REQUEST", ""));
  if (options.anonymous) return absl::OkStatus();
  options.credentials = KeysOfVariables(lookup);
  if (!options.credentials.access_key.empty() || TakeWebIdentity(lookup, options)) {
    return absl::OkStatus();
  }
  options.credentials = {};
  CAIRN_ASSIGN_OR_RETURN(options.key_source,
                         ProfileChain(lookup, options.region).SourceOf(lookup.profile()));
  if (options.key_source) {
    // Keys in the file serve until the store refuses them.
    if (lookup.Setting("role_arn").empty() && lookup.Setting("sso_start_url").empty() &&
        lookup.Setting("sso_session").empty()) {
      options.credentials = KeysOf(lookup.profiles().Of(lookup.profile()));
    }
    return absl::OkStatus();
  }
  CAIRN_ASSIGN_OR_RETURN(options.key_source, ContainerOf(lookup));
  if (options.key_source) return absl::OkStatus();
  CAIRN_ASSIGN_OR_RETURN(options.key_source, InstanceOf(lookup));
  return absl::OkStatus();
}

}  // namespace cairn::object
