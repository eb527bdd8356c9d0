// Tests where the environment says that keys come from, and in which order it is asked.
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "engine/object/s3/settings/environment.h"
#include "engine/object/s3/signing/digest.h"
#include "tests/object/http_server.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::object {
namespace {

using StatusCode = absl::StatusCode;
using test::HttpServer;
using test::ServedAnswer;
using test::ServedRequest;

// A home directory, variables, and a server that plays everybody who lends keys.
class KeyChainTest : public testing::Test {
 protected:
  KeyChainTest() : server_([this](const ServedRequest& request) { return Serve(request); }) {
    EXPECT_TRUE(IsOk(LoadDigests()));
    std::filesystem::create_directories(directory_.Path(".aws/sso/cache"));
    variables_["HOME"] = directory_.path();
    variables_["AWS_ENDPOINT_URL_STS"] = server_.url() + "/sts";
    variables_["AWS_ENDPOINT_URL_SSO"] = server_.url();
    variables_["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = server_.url();
  }

  void Write(const std::string& name, const std::string& text) {
    std::ofstream(directory_.Path(".aws/" + name)) << text;
  }
  // Returns a command that writes this key.
  std::string Program(const std::string& key) {
    const std::string path = directory_.Path("program " + key);
    std::ofstream(path) << "#!/bin/sh\necho '{\"Version\":1,\"AccessKeyId\":\"" << key
                        << "\",\"SecretAccessKey\":\"s\"}'\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return "\"" + path + "\"";
  }
  absl::StatusOr<S3Options> Options() {
    return OptionsFrom([this](const char* name) {
      const auto found = variables_.find(name);
      return found == variables_.end() ? std::string() : found->second;
    });
  }
  // Returns the access key that requests would be signed with at first.
  std::string FirstKey() {
    const absl::StatusOr<S3Options> options = Options();
    if (!options.ok()) return options.status().ToString();
    if (options->anonymous) return "anonymous";
    if (!options->credentials.access_key.empty()) return options->credentials.access_key;
    if (options->web_identity.has_value()) return "web " + options->web_identity->role_arn;
    if (!options->key_source) return "none";
    TransportOptions transport;
    transport.retries = 0;
    const absl::StatusOr<S3LentKeys> lent = options->key_source(transport);
    return lent.ok() ? lent->keys.access_key : lent.status().ToString();
  }
  // Returns the access keys that the requests to STS were signed with.
  std::vector<std::string> signers() {
    const std::lock_guard lock(mutex_);
    return signers_;
  }

  test::TempDir directory_;
  std::map<std::string, std::string> variables_;

 private:
  ServedAnswer Serve(const ServedRequest& request) {
    const std::lock_guard lock(mutex_);
    const auto keys = [](const char* key) {
      return ServedAnswer{.body = absl::StrCat(R"({"AccessKeyId":")", key,
                                               R"(","SecretAccessKey":"s","Token":"t",)"
                                               R"("Expiration":"2099-01-01T00:00:00Z"})")};
    };
    if (request.path == "/latest/api/token") return {.body = "token"};
    if (request.path == "/latest/meta-data/iam/security-credentials/") return {.body = "role"};
    if (request.path == "/latest/meta-data/iam/security-credentials/role") return keys("instance");
    if (request.path == "/container") return keys("container");
    if (request.path == "/federation/credentials") {
      return {.body = R"({"roleCredentials":{"accessKeyId":"sso","secretAccessKey":"s",)"
                      R"("sessionToken":"t","expiration":4070908800000}})"};
    }
    if (request.path != "/sts") return {.status = 404};
    std::string signer = "nobody";
    if (const auto found = request.headers.find("authorization"); found != request.headers.end()) {
      const size_t begin = found->second.find('=') + 1;
      signer = found->second.substr(begin, found->second.find('/') - begin);
    }
    signers_.push_back(signer);
    const size_t begin = request.body.find("RoleArn=") + 8;
    const std::string role = request.body.substr(begin, request.body.find('&', begin) - begin);
    const std::string action = signer == "nobody" ? "AssumeRoleWithWebIdentity" : "AssumeRole";
    return {.body = absl::StrCat("<R><", action, "Result><Credentials><AccessKeyId>", role,
                                 "</AccessKeyId><SecretAccessKey>s</SecretAccessKey>"
                                 "<Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></",
                                 action, "Result></R>")};
  }

  std::mutex mutex_;
  std::vector<std::string> signers_;
  HttpServer server_;

 protected:
  std::string url() const { return server_.url(); }
};

TEST_F(KeyChainTest, EachSourceComesBeforeTheNext) {
  Write("config", "[default]\ncredential_process = " + Program("process") + "\n");
  Write("credentials", "[default]\naws_access_key_id = file\naws_secret_access_key = s\n");
  variables_["AWS_NO_SIGN_REQUEST"] = "YES";
  variables_["AWS_ACCESS_KEY_ID"] = "variable";
  variables_["AWS_SECRET_ACCESS_KEY"] = "s";
  variables_["AWS_WEB_IDENTITY_TOKEN_FILE"] = "/token";
  variables_["AWS_ROLE_ARN"] = "role";
  variables_["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = url() + "/container";
  EXPECT_EQ(FirstKey(), "anonymous");
  variables_["AWS_NO_SIGN_REQUEST"] = "false";
  EXPECT_EQ(FirstKey(), "variable");
  variables_.erase("AWS_ACCESS_KEY_ID");
  EXPECT_EQ(FirstKey(), "web role");
  variables_.erase("AWS_WEB_IDENTITY_TOKEN_FILE");
  EXPECT_EQ(FirstKey(), "file");
  Write("credentials", "");
  EXPECT_EQ(FirstKey(), "process");
  Write("config", "");
  EXPECT_EQ(FirstKey(), "container");
  variables_.erase("AWS_CONTAINER_CREDENTIALS_FULL_URI");
  EXPECT_EQ(FirstKey(), "instance");
  variables_["AWS_EC2_METADATA_DISABLED"] = "true";
  EXPECT_EQ(FirstKey(), "none");
}

TEST_F(KeyChainTest, RolesAreAssumedWithOtherProfiles) {
  Write("credentials", "[base]\naws_access_key_id = file\naws_secret_access_key = s\n");
  Write("config",
        "[profile top]\nrole_arn = outer\nsource_profile = middle\n"
        "[profile middle]\nrole_arn = inner\nsource_profile = base\n");
  variables_["AWS_PROFILE"] = "top";
  EXPECT_EQ(FirstKey(), "outer");
  EXPECT_EQ(signers(), (std::vector<std::string>{"file", "inner"}));
}

TEST_F(KeyChainTest, RolesAreAssumedWithWhatTheProfileNames) {
  const auto key_with = [this](const std::string& setting) {
    Write("config", "[default]\nrole_arn = r\n" + setting +
                        "\n[profile process]\ncredential_process = " + Program("process") +
                        "\n[profile web]\nrole_arn = w\nweb_identity_token_file = " +
                        directory_.Path(".aws/config") + "\n");
    return FirstKey();
  };
  EXPECT_EQ(key_with("credential_source = Ec2InstanceMetadata"), "r");
  variables_["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = url() + "/container";
  EXPECT_EQ(key_with("credential_source = EcsContainer"), "r");
  EXPECT_EQ(key_with("source_profile = process"), "r");
  EXPECT_EQ(key_with("source_profile = web"), "r");
  EXPECT_EQ(key_with("source_profile = default\naws_access_key_id = own\n"
                     "aws_secret_access_key = s"),
            "r");
  EXPECT_EQ(signers(),
            (std::vector<std::string>{"instance", "container", "process", "nobody", "w", "own"}));
}

TEST_F(KeyChainTest, WrongProfilesAreRefused) {
  const std::map<std::string, std::string> reasons = {
      {"role_arn = r", "role_arn needs"},
      {"role_arn = r\nsource_profile = a\ncredential_source = Environment", "role_arn needs"},
      {"role_arn = r\nsource_profile = nowhere", "nowhere"},
      {"role_arn = r\nsource_profile = loop", "leads back"},
      {"role_arn = r\nsource_profile = empty", "has no keys"},
      {"role_arn = r\nsource_profile = default", "has no keys"},
      {"role_arn = r\ncredential_source = Elsewhere", "Elsewhere"},
      {"role_arn = r\ncredential_source = EcsContainer", "has no keys"},
      {"role_arn = r\nsource_profile = empty\nduration_seconds = 3x", "duration_seconds"},
      {"sso_session = nowhere\nsso_account_id = 1\nsso_role_name = r", "nowhere"},
      {"sso_start_url = u\nsso_region = r", "sso_account_id"},
      {"credential_process = \"open", "credential_process"},
      {"ec2_metadata_service_endpoint_mode = ipv5", "ipv5"}};
  for (const auto& [settings, reason] : reasons) {
    Write("config", "[default]\n" + settings +
                        "\n[profile loop]\nrole_arn = s\nsource_profile = default\n"
                        "[profile empty]\nregion = r\n");
    EXPECT_TRUE(Fails(Options(), StatusCode::kInvalidArgument, reason)) << settings;
  }
  Write("config", "[default]\nrole_arn = r\nsource_profile = default\nmfa_serial = m\n");
  EXPECT_TRUE(Fails(Options(), StatusCode::kUnimplemented, "mfa_serial"));
  Write("config", "[default]\nlogin_session = s\n");
  EXPECT_TRUE(Fails(Options(), StatusCode::kUnimplemented, "login_session"));
  Write("config", "");
  variables_["AWS_NO_SIGN_REQUEST"] = "perhaps";
  EXPECT_TRUE(Fails(Options(), StatusCode::kInvalidArgument, "AWS_NO_SIGN_REQUEST"));
  variables_.erase("AWS_NO_SIGN_REQUEST");
  variables_["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://elsewhere.example/";
  EXPECT_TRUE(Fails(Options(), StatusCode::kInvalidArgument, "elsewhere.example"));
  variables_["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] = "@elsewhere.example/";
  EXPECT_TRUE(Fails(Options(), StatusCode::kInvalidArgument, "RELATIVE_URI"));
}

TEST_F(KeyChainTest, SignInsAreThoseOfTheSessionOrThePortal) {
  const auto sign_in = [this](const std::string& session) {
    Write("sso/cache/" + Sha1Hex(AsBytes(session)) + ".json",
          R"({"accessToken":"t","expiresAt":"2099-01-01T00:00:00Z"})");
  };
  Write("config",
        "[default]\nsso_session = ours\nsso_account_id = 1\nsso_role_name = r\n"
        "[sso-session ours]\nsso_region = eu-west-1\nsso_start_url = https://u\n");
  EXPECT_NE(FirstKey(), "sso");
  sign_in("ours");
  EXPECT_EQ(FirstKey(), "sso");
  Write("config",
        "[default]\nsso_start_url = https://u\nsso_region = eu-west-1\nsso_account_id = 1\n"
        "sso_role_name = r\n");
  EXPECT_NE(FirstKey(), "sso");
  sign_in("https://u");
  EXPECT_EQ(FirstKey(), "sso");
}

// Another program may have written newer keys there.
TEST_F(KeyChainTest, FilesAreReadAgain) {
  Write("credentials", "[default]\naws_access_key_id = first\naws_secret_access_key = s\n");
  const absl::StatusOr<S3Options> options = Options();
  ASSERT_TRUE(IsOk(options));
  EXPECT_EQ(options->credentials.access_key, "first");
  Write("credentials", "[default]\naws_access_key_id = second\naws_secret_access_key = s\n");
  EXPECT_EQ(options->key_source({})->keys.access_key, "second");
  Write("credentials", "");
  EXPECT_TRUE(Fails(options->key_source({}), StatusCode::kPermissionDenied, "profile default"));
}

}  // namespace
}  // namespace cairn::object
