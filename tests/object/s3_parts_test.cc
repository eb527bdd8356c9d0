// Tests the parts of requests: signatures, URLs, XML, settings.
#include <fstream>
#include <map>
#include <string>

#include "absl/time/time.h"
#include <gtest/gtest.h>

#include "engine/object/s3/http/url.h"
#include "engine/object/s3/http/xml.h"
#include "engine/object/s3/settings/environment.h"
#include "engine/object/s3/settings/profile.h"
#include "engine/object/s3/signing/digest.h"
#include "engine/object/s3/signing/signature.h"
#include "engine/object/s3/store/bucket.h"
#include "engine/object/s3/store/reading.h"
#include "tests/object/stores.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::object {
namespace {

using StatusCode = absl::StatusCode;
using test::BytesOf;

const std::string kNoBody = Hex(Sha256({}));

std::string Signature(const SignedParts& parts, const S3Credentials& keys,
                      const std::string& service) {
  const std::string text = Authorization(parts, keys, "us-east-1", service);
  return text.substr(text.find("Signature=") + 10);
}

// The suite that AWS publishes.
TEST(SignatureTest, IsThatOfThePublishedSuite) {
  const S3Credentials keys{.access_key = "AKIDEXAMPLE",
                           .secret_key = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"};
  SignedParts parts{
      .method = "GET",
      .path = "/",
      .query = "",
      .headers = {{"host", "example.amazonaws.com"}, {"x-amz-date", "20150830T123600Z"}},
      .payload_hash = kNoBody};
  EXPECT_EQ(Signature(parts, keys, "service"),
            "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
  parts.query = EncodeQuery({{"Param2", "value2"}, {"Param1", "value1"}});
  EXPECT_EQ(Signature(parts, keys, "service"),
            "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500");
}

// The examples in the documentation of S3.
TEST(SignatureTest, IsThatOfTheExamplesOfS3) {
  const S3Credentials keys{.access_key = "AKIAIOSFODNN7EXAMPLE",
                           .secret_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"};
  SignedParts parts{.method = "GET",
                    .path = "/",
                    .query = EncodeQuery({{"prefix", "J"}, {"max-keys", "2"}}),
                    .headers = {{"host", "examplebucket.s3.amazonaws.com"},
                                {"x-amz-content-sha256", kNoBody},
                                {"x-amz-date", "20130524T000000Z"}},
                    .payload_hash = kNoBody};
  EXPECT_EQ(Signature(parts, keys, "s3"),
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
  parts.query = EncodeQuery({{"lifecycle", ""}});
  EXPECT_EQ(Signature(parts, keys, "s3"),
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
  parts.query = "";
  parts.path = "/test.txt";
  parts.headers["range"] = "bytes=0-9";
  EXPECT_EQ(Signature(parts, keys, "s3"),
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

TEST(SignatureTest, PutsAreSignedWithTheirBody) {
  const S3Credentials keys{.access_key = "AKIAIOSFODNN7EXAMPLE",
                           .secret_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"};
  const std::string hash = Hex(Sha256(BytesOf("Welcome to Amazon S3.")));
  const SignedParts parts{.method = "PUT",
                          .path = "/" + PercentEncode("test$file.text", true),
                          .query = "",
                          .headers = {{"date", "Fri, 24 May 2013 00:00:00 GMT"},
                                      {"host", "examplebucket.s3.amazonaws.com"},
                                      {"x-amz-content-sha256", hash},
                                      {"x-amz-date", "20130524T000000Z"},
                                      {"x-amz-storage-class", "REDUCED_REDUNDANCY"}},
                          .payload_hash = hash};
  EXPECT_EQ(Signature(parts, keys, "s3"),
            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
}

TEST(SignatureTest, TimesAreThoseOfGreenwich) {
  EXPECT_EQ(SigningTime(absl::FromUnixSeconds(1440938160)), "20150830T123600Z");
}

TEST(UrlTest, PartsAreThoseOfTheUrl) {
  const absl::StatusOr<Url> url = ParseUrl("HTTPS://host:443/a/b%20c/");
  ASSERT_TRUE(IsOk(url));
  EXPECT_EQ(url->scheme, "https");
  EXPECT_EQ(url->host, "host");
  EXPECT_EQ(url->path, "/a/b%20c");
  EXPECT_EQ(ParseUrl("http://host:8080")->host, "host:8080");
  EXPECT_EQ(ParseUrl("http://[::1]:80/")->host, "[::1]");
}

TEST(UrlTest, WhatIsNoUrlIsRefused) {
  for (const char* const text :
       {"", "host", "ftp://host/", "http://", "http:///a", "http://:80/", "http://user@host/",
        "http://host/?q", "http://host/#f", "http://host/a b", "http://host/\r\nX: y"}) {
    EXPECT_TRUE(Fails(ParseUrl(text).status(), StatusCode::kInvalidArgument, "URL")) << text;
  }
}

TEST(UrlTest, EncodedBytesComeBack) {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  EXPECT_EQ(*PercentDecode(PercentEncode(all, false)), all);
  EXPECT_EQ(PercentEncode("a/b c", true), "a/b%20c");
  EXPECT_EQ(PercentEncode("a/b", false), "a%2Fb");
  for (const char* const text : {"%", "%4", "%zz"}) EXPECT_FALSE(PercentDecode(text).ok());
}

TEST(XmlTest, ElementsKeepTextAndChildren) {
  const auto root =
      ParseXml(BytesOf("<?xml version=\"1.0\"?><a xmlns=\"u\"><x:b>1&amp;2</x:b><c/></a>"));
  ASSERT_TRUE(IsOk(root));
  EXPECT_EQ(root->name, "a");
  EXPECT_EQ(root->TextOf("b"), "1&2");
  EXPECT_EQ(root->children.size(), 2);
  EXPECT_EQ(root->Find("d"), nullptr);
}

TEST(XmlTest, WhatIsNoAnswerOfS3IsRefused) {
  std::string deep, wide = "<a>";
  for (int i = 0; i < 100; ++i) deep += "<a>";
  for (int i = 0; i < 100; ++i) deep += "</a>";
  for (int i = 0; i < 70'000; ++i) wide += "<b/>";
  wide += "</a>";
  const std::string entities =
      "<!DOCTYPE a [<!ENTITY b \"bbbbbbbbbb\"><!ENTITY c \"&b;&b;&b;\">]><a>&c;</a>";
  for (const std::string& text : {std::string(), std::string("text"), std::string("<a>"),
                                  std::string("<a></b>"), deep, wide, entities}) {
    EXPECT_TRUE(IsDamage(ParseXml(BytesOf(text)).status(), "XML")) << text.substr(0, 99);
  }
}

TEST(XmlTest, EscapedTextComesBack) {
  const std::string text = "a<b>&\"c'";
  EXPECT_EQ(ParseXml(BytesOf("<a>" + EscapeXml(text) + "</a>"))->text, text);
}

TEST(ListingTest, NamesOutOfOrderAreRefused) {
  const auto object = [](const std::string& name, const std::string& size) {
    return "<Contents><Key>" + name + "</Key><Size>" + size +
           "</Size><LastModified>2015-10-21T07:28:00.000Z</LastModified></Contents>";
  };
  const auto listing = [](const std::string& text) {
    return ParseListing(BytesOf("<ListBucketResult>" + text + "</ListBucketResult>")).status();
  };
  EXPECT_TRUE(IsOk(listing(object("a", "1") + object("b", "2"))));
  EXPECT_TRUE(Fails(listing(object("b", "1") + object("a", "2")), StatusCode::kUnimplemented, "b"));
  EXPECT_TRUE(IsDamage(listing(object("a", "-1")), "-1"));
  EXPECT_TRUE(IsDamage(listing(object("", "1")), ""));
  EXPECT_TRUE(IsDamage(ParseListing(BytesOf("<Other/>")).status(), "Other"));
}

TEST(RangeTest, HeadersSayTheRange) {
  const auto header = [](int64_t offset, int64_t size) { return **RangeHeader({offset, size}); };
  EXPECT_EQ(header(0, INT64_MAX), "");
  EXPECT_EQ(header(5, INT64_MAX), "bytes=5-");
  EXPECT_EQ(header(5, 10), "bytes=5-14");
  EXPECT_EQ(header(INT64_MAX, 10), "bytes=9223372036854775807-");
  EXPECT_EQ(header(-7, 7), "bytes=-7");
  EXPECT_EQ(*RangeHeader({5, 0}), std::nullopt);
  EXPECT_FALSE(RangeHeader({-7, 6}).ok());
  EXPECT_FALSE(RangeHeader({0, -1}).ok());
}

TEST(ProfileTest, SettingsHaveSections) {
  const auto sections = ParseSections(
      "# of a test\n[default]\nregion = there\n; no\n[profile  other]\r\ns3 =\n  addressing_style "
      "= "
      "path\nregion=here\n");
  ASSERT_TRUE(IsOk(sections));
  EXPECT_EQ(sections->at("default").at("region"), "there");
  EXPECT_EQ(sections->at("profile other").at("s3.addressing_style"), "path");
  EXPECT_EQ(sections->at("profile other").at("region"), "here");
  EXPECT_TRUE(Fails(ParseSections("[a]\nregion").status(), StatusCode::kInvalidArgument, "line 2"));
  EXPECT_TRUE(Fails(ParseSections("a = b").status(), StatusCode::kInvalidArgument, "line 1"));
  EXPECT_TRUE(Fails(ParseSections("[a").status(), StatusCode::kInvalidArgument, "line 1"));
}

class EnvironmentTest : public testing::Test {
 protected:
  EnvironmentTest() { variables_["HOME"] = directory_.path(); }

  void Write(const std::string& name, const std::string& text) {
    std::ofstream(directory_.path() + "/" + name) << text;
    variables_[name == "config" ? "AWS_CONFIG_FILE" : "AWS_SHARED_CREDENTIALS_FILE"] =
        directory_.path() + "/" + name;
  }
  absl::StatusOr<S3Options> Options() {
    return OptionsFrom([this](const char* name) {
      const auto found = variables_.find(name);
      return found == variables_.end() ? std::string() : found->second;
    });
  }

  test::TempDir directory_;
  std::map<std::string, std::string> variables_;
};

TEST_F(EnvironmentTest, NeedsNothingToBeSet) {
  variables_["AWS_EC2_METADATA_DISABLED"] = "true";
  const absl::StatusOr<S3Options> options = Options();
  ASSERT_TRUE(IsOk(options));
  EXPECT_EQ(options->region, "us-east-1");
  S3Options with_bucket = *options;
  with_bucket.bucket = "b";
  EXPECT_TRUE(Fails(OpenS3(with_bucket).status(), StatusCode::kPermissionDenied, "no credentials"));
  with_bucket.anonymous = true;
  EXPECT_TRUE(IsOk(OpenS3(with_bucket)));
}

TEST_F(EnvironmentTest, TimeoutsAreTenSecondsAndAMinuteUnlessVariablesSayOtherwise) {
  EXPECT_EQ(Options()->transport.connect_timeout, std::chrono::seconds(10));
  EXPECT_EQ(Options()->transport.call_timeout, std::chrono::seconds(60));
  variables_["CAIRN_CONNECT_TIMEOUT"] = "2.5";
  variables_["CAIRN_CALL_TIMEOUT"] = "300";
  EXPECT_EQ(Options()->transport.connect_timeout, std::chrono::milliseconds(2500));
  EXPECT_EQ(Options()->transport.call_timeout, std::chrono::seconds(300));
  EXPECT_EQ(Options()->transport.request_timeout, std::chrono::seconds(300));
  for (const char* const wrong : {"0", "-1", "1e9", "nan", "soon", "5s"}) {
    variables_["CAIRN_CALL_TIMEOUT"] = wrong;
    EXPECT_TRUE(Fails(Options(), StatusCode::kInvalidArgument, "CAIRN_CALL_TIMEOUT")) << wrong;
  }
}

TEST_F(EnvironmentTest, VariablesComeBeforeFiles) {
  Write("credentials", "[default]\naws_access_key_id = of file\naws_secret_access_key = s\n");
  Write("config", "[default]\nregion = of-file\nendpoint_url = http://of.file\nca_bundle = /ca\n");
  absl::StatusOr<S3Options> options = Options();
  ASSERT_TRUE(IsOk(options));
  EXPECT_EQ(options->credentials.access_key, "of file");
  EXPECT_EQ(options->region, "of-file");
  EXPECT_EQ(options->endpoint, "http://of.file");
  EXPECT_EQ(options->transport.ca_file, "/ca");
  variables_["AWS_ACCESS_KEY_ID"] = "key";
  variables_["AWS_SECRET_ACCESS_KEY"] = "secret";
  variables_["AWS_SESSION_TOKEN"] = "token";
  variables_["AWS_DEFAULT_REGION"] = "second";
  variables_["AWS_ENDPOINT_URL"] = "http://second";
  options = Options();
  EXPECT_EQ(options->credentials.access_key, "key");
  EXPECT_EQ(options->credentials.session_token, "token");
  EXPECT_EQ(options->region, "second");
  EXPECT_EQ(options->endpoint, "http://second");
  variables_["AWS_REGION"] = "first";
  variables_["AWS_ENDPOINT_URL_S3"] = "http://first";
  options = Options();
  EXPECT_EQ(options->region, "first");
  EXPECT_EQ(options->endpoint, "http://first");
}

TEST_F(EnvironmentTest, ProfilesAreChosen) {
  Write("credentials", "[ours]\naws_access_key_id = k\naws_secret_access_key = s\n");
  Write("config",
        "[profile ours]\nservices = local\ns3 =\n  addressing_style = virtual\n"
        "[services local]\ns3 =\n  endpoint_url = http://local\n");
  variables_["AWS_PROFILE"] = "ours";
  const absl::StatusOr<S3Options> options = Options();
  ASSERT_TRUE(IsOk(options));
  EXPECT_EQ(options->credentials.access_key, "k");
  EXPECT_EQ(options->endpoint, "http://local");
  EXPECT_EQ(options->addressing, S3Addressing::kVirtualHost);
  variables_["AWS_PROFILE"] = "theirs";
  EXPECT_TRUE(Fails(Options().status(), StatusCode::kNotFound, "theirs"));
}

TEST_F(EnvironmentTest, TakesWebIdentities) {
  variables_["AWS_WEB_IDENTITY_TOKEN_FILE"] = "/token";
  variables_["AWS_ROLE_ARN"] = "arn";
  const absl::StatusOr<S3Options> options = Options();
  ASSERT_TRUE(IsOk(options));
  EXPECT_EQ(options->web_identity->token_file, "/token");
  EXPECT_EQ(options->web_identity->session_name, "cairn");
}

}  // namespace
}  // namespace cairn::object
