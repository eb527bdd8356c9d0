// Tests which answers lend keys.
#include "engine/object/s3/keys/key_answers.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include <gtest/gtest.h>

#include "tests/object/lent_keys.h"
#include "tests/support/status.h"

namespace cairn::object {
namespace {

using StatusCode = absl::StatusCode;
using test::AreTheKeys;
using test::kMetadataAnswer;
using test::kProcessAnswer;
using test::kRoleAnswer;

TEST(KeyAnswersTest, CompleteAnswersHaveKeys) {
  EXPECT_TRUE(AreTheKeys(ParseMetadataKeys(kMetadataAnswer)));
  EXPECT_TRUE(AreTheKeys(ParseProcessKeys(kProcessAnswer)));
  EXPECT_TRUE(AreTheKeys(ParseRoleKeys(kRoleAnswer)));
}

// However an answer is cut, it is refused, and no message quotes it.
TEST(KeyAnswersTest, CutAnswersAreRefused) {
  for (const auto& [answer, parse] :
       {std::pair(kMetadataAnswer, &ParseMetadataKeys),
        std::pair(kProcessAnswer, &ParseProcessKeys), std::pair(kRoleAnswer, &ParseRoleKeys)}) {
    for (size_t size = 0; size < answer.size(); ++size) {
      const absl::Status status = parse(answer.substr(0, size)).status();
      EXPECT_TRUE(Fails(status, StatusCode::kDataLoss, "")) << size;
      EXPECT_EQ(status.message().find("SECRET"), std::string::npos);
    }
  }
}

TEST(KeyAnswersTest, AnswersWithoutTimesOrKeysAreRefused) {
  for (const char* const answer :
       {"null", "[]", "7", "\"text\"", "{}", R"({"AccessKeyId":"k","SecretAccessKey":"s"})",
        R"({"AccessKeyId":"k","SecretAccessKey":"s","Expiration":7})",
        R"({"AccessKeyId":"k","SecretAccessKey":"s","Expiration":"soon"})",
        R"({"AccessKeyId":"k","SecretAccessKey":"s","Expiration":"9999-01-01T00:00:00Z"})",
        R"({"AccessKeyId":["k"],"SecretAccessKey":"s","Expiration":"2099-01-01T00:00:00Z"})",
        R"({"AccessKeyId":"","SecretAccessKey":"s","Expiration":"2099-01-01T00:00:00Z"})",
        R"({"AccessKeyId":"k","Expiration":"2099-01-01T00:00:00Z"})"}) {
    EXPECT_TRUE(IsDamage(ParseMetadataKeys(answer), "")) << answer;
    EXPECT_TRUE(IsDamage(ParseProcessKeys(answer), "")) << answer;
    EXPECT_TRUE(IsDamage(ParseRoleKeys(answer), "")) << answer;
    EXPECT_TRUE(IsDamage(ParseSignIn(answer), "")) << answer;
  }
  EXPECT_TRUE(IsDamage(ParseMetadataKeys(std::string(200'000, '[')), ""));
  for (const char* const expiry : {"-1", "1e300", "\"4071006245000\"", "99999999999999999"}) {
    EXPECT_TRUE(
        IsDamage(ParseRoleKeys(absl::StrCat(
                     R"({"roleCredentials":{"accessKeyId":"k","secretAccessKey":"s","expiration":)",
                     expiry, "}}")),
                 ""))
        << expiry;
  }
}

TEST(KeyAnswersTest, MetadataSaysWhyThereAreNoKeys) {
  EXPECT_TRUE(Fails(ParseMetadataKeys(R"({"Code":"AssumeRoleUnauthorizedAccess","Message":"x"})"),
                    StatusCode::kPermissionDenied, "AssumeRoleUnauthorizedAccess"));
}

TEST(KeyAnswersTest, KeysOfProgramsMayServeForEver) {
  const auto lent = ParseProcessKeys(R"({"Version":1,"AccessKeyId":"k","SecretAccessKey":"s"})");
  ASSERT_TRUE(IsOk(lent));
  EXPECT_EQ(lent->expiry, std::chrono::system_clock::time_point::max());
  EXPECT_TRUE(IsDamage(ParseProcessKeys(R"({"Version":2,"AccessKeyId":"k","SecretAccessKey":"s"})"),
                       "Version"));
}

TEST(KeyAnswersTest, SignInsHaveTimesOfAllVersions) {
  for (const char* const time :
       {"2099-01-02T03:04:05Z", "2099-01-02T03:04:05UTC", "2099-01-02T04:04:05+01:00"}) {
    const auto sign_in =
        ParseSignIn(absl::StrCat(R"({"accessToken":"t","expiresAt":")", time, "\"}"));
    ASSERT_TRUE(IsOk(sign_in)) << time;
    EXPECT_EQ(absl::ToUnixSeconds(sign_in->expiry), 4071006245);
  }
}

}  // namespace
}  // namespace cairn::object
