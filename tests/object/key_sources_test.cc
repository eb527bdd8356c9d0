// Tests who lends keys: programs, metadata services, STS, single sign-on; and answers of theirs
// that are wrong, late or huge.
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include <gtest/gtest.h>

#include "engine/object/s3/keys/metadata.h"
#include "engine/object/s3/keys/process.h"
#include "engine/object/s3/keys/security_token.h"
#include "engine/object/s3/keys/sign_on.h"
#include "engine/object/s3/signing/digest.h"
#include "engine/object/s3/signing/signature.h"
#include "tests/object/failing_s3.h"
#include "tests/object/http_server.h"
#include "tests/object/lent_keys.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::object {
namespace {

using StatusCode = absl::StatusCode;
using test::AreTheKeys;
using test::HttpServer;
using test::kMetadataAnswer;
using test::kProcessAnswer;
using test::kRoleAnswer;
using test::Quick;
using test::ServedAnswer;
using test::ServedRequest;
using test::TempDir;

TEST(ProcessTest, CommandsAreCutIntoWords) {
  const auto words = [](const char* command) {
    return SplitCommand(command).value_or(std::vector<std::string>{"refused"});
  };
  using Words = std::vector<std::string>;
  EXPECT_EQ(words(" /bin/a  --user helen\t"), (Words{"/bin/a", "--user", "helen"}));
  EXPECT_EQ(words(R"("/my bin/a" "b c" '' d"e f"g)"), (Words{"/my bin/a", "b c", "", "de fg"}));
  EXPECT_EQ(words(R"(a 'b\c' "d\"e" f\ g)"), (Words{"a", R"(b\c)", "d\"e", "f g"}));
  EXPECT_EQ(words("a $HOME; b | c > d `e`"),
            (Words{"a", "$HOME;", "b", "|", "c", ">", "d", "`e`"}));
  for (const char* const wrong : {"", "  ", "\"a", "a 'b", "\"\" a"}) {
    EXPECT_TRUE(Fails(SplitCommand(wrong), StatusCode::kInvalidArgument, "credential_process"))
        << wrong;
  }
}

class ProgramTest : public testing::Test {
 protected:
  // Returns a command that runs this script.
  std::string Script(const std::string& text) {
    const std::string path = directory_.Path("a script");
    std::ofstream(path) << "#!/bin/sh\n" << text << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return absl::StrCat("\"", path, "\"");
  }
  static absl::StatusOr<S3LentKeys> Run(const std::string& command) {
    return ProcessSource(command)(Quick());
  }

  TempDir directory_;
};

TEST_F(ProgramTest, ItsOutputHasKeys) {
  EXPECT_TRUE(AreTheKeys(Run(Script("cat <<'EOF'\n" + kProcessAnswer + "\nEOF"))));
}

TEST_F(ProgramTest, ItsArgumentsAreThoseOfTheCommand) {
  const std::string command =
      Script(R"(printf '{"Version":1,"AccessKeyId":"%s","SecretAccessKey":"%s"}' "$1" "$#")");
  const auto lent = Run(command + R"( "one two;$HOME" 'three')");
  ASSERT_TRUE(IsOk(lent));
  EXPECT_EQ(lent->keys.access_key, "one two;$HOME");
  EXPECT_EQ(lent->keys.secret_key, "2");
}

// The thread that gets keys has all signals blocked. A program that inherited that could not be
// ended.
TEST_F(ProgramTest, ItGetsSignals) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  EXPECT_TRUE(Fails(Run(Script("kill -TERM $$; sleep 30")), StatusCode::kPermissionDenied,
                    "ended by signal 15"));
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST_F(ProgramTest, ItsFailureIsOne) {
  EXPECT_TRUE(Fails(Run(Script("echo '" + kProcessAnswer + "'; exit 3")),
                    StatusCode::kPermissionDenied, "exit status 3"));
  EXPECT_TRUE(Fails(Run("/no/such/program"), StatusCode::kPermissionDenied, "/no/such/program"));
  EXPECT_TRUE(IsDamage(Run(Script("true")), "a script"));
}

TEST_F(ProgramTest, NoMessageHasItsArgumentsOrOutput) {
  for (const char* const text : {"echo '{\"Version\":1,\"SecretAccessKey\":\"TOP-SECRET\"}'",
                                 "echo TOP-SECRET", "echo TOP-SECRET; exit 1"}) {
    const absl::Status status = Run(Script(text) + " --password TOP-SECRET").status();
    EXPECT_FALSE(status.ok());
    EXPECT_EQ(status.message().find("TOP-SECRET"), std::string::npos) << status;
  }
}

TEST_F(ProgramTest, ItsTimeAndOutputAreBounded) {
  TransportOptions transport = Quick();
  transport.call_timeout = std::chrono::milliseconds(300);
  const auto begin = std::chrono::steady_clock::now();
  for (const char* const text :
       {"exec sleep 30", "exec >&-; exec sleep 30", "sleep 2 2>/dev/null & exec sleep 30"}) {
    EXPECT_TRUE(Fails(ProcessSource(Script(text))(transport), StatusCode::kUnavailable, "300 ms"))
        << text;
  }
  EXPECT_TRUE(IsDamage(Run(Script("exec yes")), "65536"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST_F(ProgramTest, UserEndsIt) {
  TransportOptions transport = Quick();
  transport.keep_waiting = [](const TransportWait&) { return false; };
  EXPECT_TRUE(absl::IsCancelled(ProcessSource(Script("exec sleep 30"))(transport).status()));
}

TEST(ContainerTest, TokenIsReadForEachRequest) {
  std::mutex mutex;
  std::vector<std::string> tokens;
  HttpServer server([&](const ServedRequest& request) {
    const std::lock_guard lock(mutex);
    tokens.push_back(request.headers.at("authorization"));
    return ServedAnswer{.body = kMetadataAnswer};
  });
  const TempDir directory;
  std::ofstream(directory.Path("token")) << "first\n";
  const S3KeySource source = ContainerSource(
      {.url = server.url() + "/keys?id=7", .token = "no", .token_file = directory.Path("token")});
  EXPECT_TRUE(AreTheKeys(source(Quick())));
  std::ofstream(directory.Path("token")) << "second";
  EXPECT_TRUE(AreTheKeys(source(Quick())));
  EXPECT_EQ(tokens, (std::vector<std::string>{"first", "second"}));
  std::ofstream(directory.Path("token")) << "a\r\nX: b";
  EXPECT_TRUE(Fails(source(Quick()), StatusCode::kInvalidArgument, "token"));
  std::ofstream(directory.Path("token")) << std::string(100'000, 'a');
  EXPECT_TRUE(Fails(source(Quick()), StatusCode::kPermissionDenied, "65536"));
}

TEST(ContainerTest, PlainHttpIsOnlyForServicesBesideIt) {
  for (const char* const url :
       {"https://anywhere.example/a?b", "http://127.0.0.1:8080/a", "http://127.1.2.3/",
        "http://localhost/", "http://[::1]:80/a", "http://169.254.170.2/a",
        "http://169.254.170.23/v1", "http://[fd00:ec2::23]/v1"}) {
    EXPECT_TRUE(IsOk(CheckContainerUrl(url))) << url;
  }
  for (const char* const url :
       {"http://anywhere.example/", "http://127.0.0.1.example/", "http://127.0.0.1@example/",
        "http://169.254.169.254/", "http://169.254.170.2.example/", "http://[fd00:ec2::24]/",
        "http://[::1].example/", "http://localhost.example/", "ftp://127.0.0.1/", "http://127.0.0/",
        "http://127.0.0.999/", "http://127.0.0.1/a\r\nX: y", "http://example/?http://127.0.0.1"}) {
    EXPECT_TRUE(Fails(CheckContainerUrl(url), StatusCode::kInvalidArgument, "")) << url;
  }
}

TEST(ContainerTest, RedirectionsAreNotFollowed) {
  std::atomic<int> requests = 0;
  HttpServer server([&](const ServedRequest&) {
    ++requests;
    return ServedAnswer{.status = 302, .headers = {{"Location", "/other"}}};
  });
  EXPECT_FALSE(ContainerSource({.url = server.url() + "/a", .token = "t"})(Quick()).ok());
  EXPECT_EQ(requests, 1);
}

TEST(ContainerTest, NoMessageHasTheTokenTheQueryOrTheAnswer) {
  for (const ServedAnswer& answer :
       {ServedAnswer{.status = 403, .body = "TOP-SECRET"}, ServedAnswer{.body = "TOP-SECRET"},
        ServedAnswer{.body = R"({"SecretAccessKey":"TOP-SECRET"})"},
        ServedAnswer{.status = 500, .body = "TOP-SECRET"}}) {
    HttpServer server([&](const ServedRequest&) { return answer; });
    const absl::Status status =
        ContainerSource({.url = server.url() + "/a?TOP-SECRET", .token = "TOP-SECRET"})(Quick())
            .status();
    EXPECT_FALSE(status.ok());
    EXPECT_EQ(status.message().find("TOP-SECRET"), std::string::npos) << status;
  }
}

TEST(ContainerTest, HugeAnswersAreCut) {
  HttpServer server([](const ServedRequest&) {
    return ServedAnswer{.headers = {{"Transfer-Encoding", "chunked"}},
                        .forever = "\r\n10\r\n0123456789abcdef"};
  });
  EXPECT_TRUE(IsDamage(ContainerSource({.url = server.url() + "/a"})(Quick()), "262144"));
}

TEST(ContainerTest, ServiceThatHangsIsGivenUp) {
  test::Gate never;
  HttpServer server([&](const ServedRequest&) {
    never.Wait();
    return ServedAnswer{};
  });
  TransportOptions transport = Quick();
  transport.call_timeout = std::chrono::milliseconds(300);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(Fails(ContainerSource({.url = server.url() + "/a"})(transport),
                    StatusCode::kUnavailable, ""));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  never.Open();
}

// An instance metadata service of version 2 only.
class Instance {
 public:
  Instance() : server_([this](const ServedRequest& request) { return Serve(request); }) {}

  absl::StatusOr<S3LentKeys> Ask() { return InstanceSource(server_.url())(Quick()); }

  std::string roles = "my-role\nother-role\n";
  int role_status = 200;
  std::string answer = kMetadataAnswer;

 private:
  ServedAnswer Serve(const ServedRequest& request) {
    if (request.path == "/latest/api/token") {
      const auto ttl = request.headers.find("x-aws-ec2-metadata-token-ttl-seconds");
      if (request.method != "PUT" || ttl == request.headers.end()) return {.status = 400};
      return {.body = "token-" + ttl->second};
    }
    const auto token = request.headers.find("x-aws-ec2-metadata-token");
    if (token == request.headers.end() || token->second != "token-21600") return {.status = 401};
    if (request.path == "/latest/meta-data/iam/security-credentials/") {
      return {.status = role_status, .body = roles};
    }
    if (request.path == "/latest/meta-data/iam/security-credentials/my-role") {
      return {.body = answer};
    }
    return {.status = 404};
  }

  HttpServer server_;
};

TEST(InstanceTest, RoleOfTheMachineHasKeys) {
  Instance instance;
  EXPECT_TRUE(AreTheKeys(instance.Ask()));
}

TEST(InstanceTest, MachineWithoutARoleHasNoKeys) {
  Instance instance;
  instance.role_status = 404;
  EXPECT_TRUE(Fails(instance.Ask(), StatusCode::kPermissionDenied, "no credentials"));
  instance.role_status = 200;
  instance.roles = "";
  EXPECT_TRUE(Fails(instance.Ask(), StatusCode::kPermissionDenied, "no credentials"));
  instance.roles = "../../x?y";
  EXPECT_TRUE(Fails(instance.Ask(), StatusCode::kNotFound, "%2F"));
}

TEST(InstanceTest, WrongAnswersAreRefused) {
  Instance instance;
  instance.answer = kMetadataAnswer.substr(0, 60);
  EXPECT_TRUE(IsDamage(instance.Ask(), "my-role"));
  instance.answer = R"({"Code":"Failed"})";
  EXPECT_TRUE(Fails(instance.Ask(), StatusCode::kPermissionDenied, "Failed"));
}

TEST(InstanceTest, MachineInNoCloudHasNoKeys) {
  EXPECT_TRUE(Fails(InstanceSource("http://127.0.0.1:1")(Quick()), StatusCode::kPermissionDenied,
                    "no credentials: set AWS_ACCESS_KEY_ID"));
}

class SignOnTest : public testing::Test {
 protected:
  SignOnTest()
      : server_([this](const ServedRequest& request) {
          const std::lock_guard lock(mutex_);
          asked_ = request;
          return answer_;
        }) {
    EXPECT_TRUE(IsOk(LoadDigests()));
  }

  absl::StatusOr<S3LentKeys> Ask() {
    return SignOnSource({.profile = "ours",
                         .directory = directory_.path(),
                         .session = "my-sso",
                         .region = "eu-west-1",
                         .account = "123",
                         .role = "reader of all",
                         .endpoint = server_.url()})(Quick());
  }
  void WriteSignIn(const std::string& text) {
    std::ofstream(directory_.Path(Sha1Hex(AsBytes("my-sso")) + ".json")) << text;
  }

  TempDir directory_;
  std::mutex mutex_;
  ServedRequest asked_;
  ServedAnswer answer_ = {.body = kRoleAnswer};
  HttpServer server_;
};

TEST_F(SignOnTest, PortalHasKeysForWhoHasSignedIn) {
  EXPECT_EQ(Sha1Hex(AsBytes("abc")), "a9993e364706816aba3e25717850c26c9cd0d89d");
  WriteSignIn(R"({"accessToken":"bearer","expiresAt":"2099-01-01T00:00:00Z"})");
  EXPECT_TRUE(AreTheKeys(Ask()));
  EXPECT_EQ(asked_.path, "/federation/credentials");
  EXPECT_EQ(asked_.query.at("account_id"), "123");
  EXPECT_EQ(asked_.query.at("role_name"), "reader of all");
  EXPECT_EQ(asked_.headers.at("x-amz-sso_bearer_token"), "bearer");
}

TEST_F(SignOnTest, WhoHasNotSignedInIsToldHow) {
  EXPECT_TRUE(Fails(Ask(), StatusCode::kPermissionDenied, "aws sso login --profile ours"));
  for (const char* const wrong :
       {"", "{", R"({"accessToken":"TOP-SECRET"})",
        R"({"accessToken":"TOP-SECRET","expiresAt":"2000-01-01T00:00:00Z"})",
        R"({"accessToken":"TOP-SECRET\r\nx: y","expiresAt":"2099-01-01T00:00:00Z"})"}) {
    WriteSignIn(wrong);
    const absl::Status status = Ask().status();
    EXPECT_TRUE(Fails(status, StatusCode::kPermissionDenied, "aws sso login --profile ours"));
    EXPECT_EQ(status.message().find("TOP-SECRET"), std::string::npos) << status;
  }
  WriteSignIn(R"({"accessToken":"t","expiresAt":"2099-01-01T00:00:00Z"})");
  answer_ = {.status = 401, .body = "{}"};
  EXPECT_TRUE(Fails(Ask(), StatusCode::kPermissionDenied, "aws sso login --profile ours"));
  answer_ = {.body = kRoleAnswer.substr(0, 50)};
  EXPECT_TRUE(IsDamage(Ask(), "keys"));
}

const std::string kStsAnswer =
    "<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>key</AccessKeyId>"
    "<SecretAccessKey>TOP-SECRET</SecretAccessKey><SessionToken>token</SessionToken>"
    "<Expiration>2099-01-02T03:04:05Z</Expiration></Credentials></AssumeRoleResult>"
    "</AssumeRoleResponse>";

S3KeySource OtherKeys() {
  return [](const TransportOptions&) {
    return absl::StatusOr<S3LentKeys>(S3LentKeys{
        .keys = {.access_key = "other", .secret_key = "o", .session_token = "other-token"}});
  };
}

TEST(RoleTest, FormIsSignedWithTheOtherKeys) {
  ASSERT_TRUE(IsOk(LoadDigests()));
  std::mutex mutex;
  ServedRequest asked;
  HttpServer server([&](const ServedRequest& request) {
    const std::lock_guard lock(mutex);
    asked = request;
    return ServedAnswer{.body = kStsAnswer};
  });
  const S3KeySource source = RoleSource({.role_arn = "arn:r",
                                         .session_name = "s",
                                         .external_id = "x",
                                         .seconds = "900",
                                         .endpoint = server.url() + "/sts/",
                                         .region = "eu-west-1"},
                                        OtherKeys());
  EXPECT_TRUE(AreTheKeys(source(Quick())));
  EXPECT_EQ(asked.body,
            "Action=AssumeRole&DurationSeconds=900&ExternalId=x&RoleArn=arn%3Ar&RoleSessionName=s&"
            "Version=2011-06-15");
  EXPECT_EQ(asked.headers.at("x-amz-security-token"), "other-token");
  SignedParts parts{.method = "POST",
                    .path = asked.path,
                    .query = "",
                    .headers = {},
                    .payload_hash = Hex(Sha256(AsBytes(asked.body)))};
  for (const char* const name : {"content-type", "host", "x-amz-date", "x-amz-security-token"}) {
    parts.headers[name] = asked.headers.at(name);
  }
  EXPECT_EQ(asked.headers.at("authorization"),
            Authorization(parts, {.access_key = "other", .secret_key = "o"}, "eu-west-1", "sts"));
}

TEST(RoleTest, RefusalsAndWrongAnswersNameTheRole) {
  ASSERT_TRUE(IsOk(LoadDigests()));
  std::mutex mutex;
  ServedAnswer answer = {.status = 403,
                         .body =
                             "<ErrorResponse><Error><Code>AccessDenied</Code></Error>"
                             "</ErrorResponse>"};
  HttpServer server([&](const ServedRequest&) {
    const std::lock_guard lock(mutex);
    return answer;
  });
  const S3KeySource source = RoleSource(
      {.role_arn = "arn:r", .session_name = "s", .endpoint = server.url(), .region = "r"},
      OtherKeys());
  EXPECT_TRUE(Fails(source(Quick()), StatusCode::kPermissionDenied, "AccessDenied"));
  EXPECT_TRUE(Fails(source(Quick()), StatusCode::kPermissionDenied, "arn:r"));
  for (size_t size = 0; size < kStsAnswer.size(); size += 7) {
    answer = {.body = kStsAnswer.substr(0, size)};
    const absl::Status status = source(Quick()).status();
    EXPECT_TRUE(IsDamage(status, "arn:r"));
    EXPECT_EQ(status.message().find("TOP-SECRET"), std::string::npos) << status;
  }
}

TEST(RoleTest, NothingIsAskedWithoutTheOtherKeys) {
  EXPECT_TRUE(Fails(RoleSource({.role_arn = "arn:r", .session_name = "s", .region = "r"},
                               [](const TransportOptions&) -> absl::StatusOr<S3LentKeys> {
                                 return absl::PermissionDeniedError("no other keys");
                               })(Quick()),
                    StatusCode::kPermissionDenied, "no other keys"));
}

}  // namespace
}  // namespace cairn::object
