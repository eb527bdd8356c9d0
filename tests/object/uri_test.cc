// Tests where URIs lead, and who asks for what there.
#include <fstream>
#include <mutex>
#include <string>
#include <unistd.h>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include <gtest/gtest.h>

#include "engine/object/s3/signing/digest.h"
#include "engine/object/s3/store/remote.h"
#include "tests/object/stores.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

using StatusCode = absl::StatusCode;

TEST(UriTest, BucketsAndNamesAreThoseOfTheUri) {
  const S3Options options = TestS3Options("http://127.0.0.1:1");
  EXPECT_EQ(OpenObjectUri("s3://b/a/c.b2frame", options)->path, "a/c.b2frame");
  EXPECT_EQ(OpenObjectUri("s3://b/a%20c/", options)->path, "a%20c");
  EXPECT_EQ(OpenObjectUri("s3://b", options)->path, "");
  EXPECT_EQ(OpenObjectUri("s3://b/a", options)->store->Describe(), "s3://b");
  for (const char* const uri : {"s3://", "s3:///a", "s3://a b/", "file:///a", "a", "http://host",
                                "https://host/", "https://host/a?b", "https://host/%zz"}) {
    EXPECT_TRUE(Fails(OpenObjectUri(uri, options).status(), StatusCode::kInvalidArgument, ""))
        << uri;
  }
  EXPECT_TRUE(IsObjectUri("s3://b"));
  EXPECT_TRUE(IsObjectUri("https://h/a"));
  EXPECT_FALSE(IsObjectUri("s3.b2frame"));
}

// Else it would take what somebody left for a writer whoever that was.
TEST(UriTest, FilesThatWereLeftAreCheckedAsLocalOnesAre) {
  const TempDir folder;
  std::ofstream(folder.Path("log")) << "a";
  std::ofstream(folder.Path("left")) << "b";
  ASSERT_EQ(::symlink("left", folder.Path("link").c_str()), 0);
  const auto files = MakeUriFileSystem(TestS3Options("http://127.0.0.1:1"));
  EXPECT_TRUE(IsOk(files->IdentityOfLeft(folder.Path("left"), folder.Path("log"))));
  EXPECT_TRUE(Fails(files->IdentityOfLeft(folder.Path("link"), folder.Path("log")),
                    StatusCode::kPermissionDenied, ""));
}

TEST(UriTest, BucketsAreInThePathOrTheHost) {
  S3Options options{.bucket = "b"};
  EXPECT_EQ(object::PlaceOf(options)->url.host, "b.s3.us-east-1.amazonaws.com");
  options.bucket = "b.c";
  EXPECT_EQ(object::PlaceOf(options)->url.path, "/b.c");
  options.endpoint = "https://host:9000";
  EXPECT_EQ(object::PlaceOf(options)->url.host, "host:9000");
  options.addressing = S3Addressing::kVirtualHost;
  EXPECT_EQ(object::PlaceOf(options)->url.host, "b.c.host:9000");
}

TEST(HttpStoreTest, FilesAreReadByRangesAndNotChanged) {
  FakeS3 bucket;
  HttpServer server([&](const ServedRequest& request) { return bucket.Serve(request); });
  bucket.Set("a b.b2frame", "0123456789");
  const auto location = OpenObjectUri(server.url() + "/files/a%20b.b2frame", {});
  ASSERT_TRUE(IsOk(location));
  EXPECT_EQ(location->path, "a b.b2frame");
  ObjectStore& store = *location->store;
  EXPECT_EQ(store.Head(location->path)->size, 10);
  const std::string etag = store.Head(location->path)->etag;
  EXPECT_EQ(TextOf(store.Get(location->path, {2, 3}, etag)->bytes), "234");
  EXPECT_TRUE(Fails(store.Get(location->path, {2, 3}, "another").status(),
                    StatusCode::kFailedPrecondition, ""));
  EXPECT_TRUE(Fails(store.PutIfAbsent("a", BytesOf("")).status(), StatusCode::kUnimplemented, "a"));
  EXPECT_TRUE(absl::IsUnimplemented(store.PutIfMatch("a", "e", BytesOf("")).status()));
  EXPECT_TRUE(absl::IsUnimplemented(store.List("", "", 1).status()));
  EXPECT_TRUE(absl::IsUnimplemented(store.Delete({})));
  EXPECT_TRUE(absl::IsUnimplemented(store.CheckConditions("a")));
}

TEST(HttpStoreTest, RedirectionsAreFollowed) {
  FakeS3 bucket;
  bucket.Set("a", "text");
  HttpServer server([&](const ServedRequest& request) {
    if (request.path != "/old/a") return bucket.Serve(request);
    return ServedAnswer{.status = 302, .headers = {{"Location", "/new/a"}}};
  });
  EXPECT_EQ(TextOf(OpenHttp(server.url() + "/old").value()->Get("a")->bytes), "text");
}

// A server without etags, as that of Python.
TEST(HttpStoreTest, TakesTheTimeForAnEtag) {
  HttpServer server([](const ServedRequest&) {
    return ServedAnswer{.headers = {{"Last-Modified", "Wed, 21 Oct 2015 07:28:00 GMT"}},
                        .body = "text"};
  });
  const auto store = OpenHttp(server.url()).value();
  const std::string etag = store->Head("a")->etag;
  EXPECT_EQ(etag, "modified-1445412480");
  EXPECT_TRUE(IsOk(store->Get("a", {}, etag)));
  EXPECT_TRUE(absl::IsFailedPrecondition(store->Get("a", {}, "modified-1").status()));
}

TEST(CredentialsTest, AnonymousRequestsAreNotSigned) {
  FakeS3 bucket;
  bucket.Set("a", "text");
  std::atomic<bool> is_signed = false;
  HttpServer server([&](const ServedRequest& request) {
    if (request.headers.contains("authorization")) is_signed = true;
    return bucket.Serve(request);
  });
  S3Options options = TestS3Options(server.url());
  options.anonymous = true;
  EXPECT_TRUE(IsOk(OpenS3(options).value()->Get("a")));
  EXPECT_FALSE(is_signed);
}

// Answers STS, and remembers which keys requests were signed with.
class Sts {
 public:
  ServedAnswer Serve(const ServedRequest& request) {
    const std::lock_guard lock(mutex_);
    if (request.path == "/" && request.method == "POST") return Lend(request);
    const auto found = request.headers.find("authorization");
    if (found != request.headers.end()) {
      keys_.push_back(found->second.substr(found->second.find('=') + 1, 4) + " " +
                      request.headers.at("x-amz-security-token"));
    }
    return bucket.Serve(request);
  }

  // Returns the form of each request to STS.
  std::vector<std::string> forms() const {
    const std::lock_guard lock(mutex_);
    return forms_;
  }
  // Returns the key and the token of each other request.
  std::vector<std::string> keys() const {
    const std::lock_guard lock(mutex_);
    return keys_;
  }

  FakeS3 bucket;
  absl::Duration life = absl::Hours(1);

 private:
  ServedAnswer Lend(const ServedRequest& request) {
    forms_.push_back(request.body);
    const std::string expiry =
        absl::FormatTime(absl::RFC3339_sec, absl::Now() + life, absl::UTCTimeZone());
    return {.body = absl::StrCat(
                "<AssumeRoleWithWebIdentityResponse xmlns=\"sts\">"
                "<AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>key",
                forms_.size(), "</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t",
                forms_.size(), "</SessionToken><Expiration>", expiry,
                "</Expiration></Credentials></AssumeRoleWithWebIdentityResult>"
                "</AssumeRoleWithWebIdentityResponse>")};
  }

  mutable std::mutex mutex_;
  std::vector<std::string> forms_;
  std::vector<std::string> keys_;
};

S3Options WithWebIdentity(const HttpServer& server, const std::string& token_file) {
  S3Options options = TestS3Options(server.url());
  options.credentials = {};
  options.web_identity =
      S3WebIdentity{.token_file = token_file, .role_arn = "arn:r", .endpoint = server.url() + "/"};
  return options;
}

TEST(CredentialsTest, WebIdentitiesAreLentKeys) {
  Sts sts;
  HttpServer server([&](const ServedRequest& request) { return sts.Serve(request); });
  const TempDir directory;
  std::ofstream(directory.path() + "/token") << "secret token\n";
  sts.bucket.Set("a", "text");
  const auto store = OpenS3(WithWebIdentity(server, directory.path() + "/token")).value();
  EXPECT_TRUE(IsOk(store->Get("a")));
  EXPECT_TRUE(IsOk(store->Get("a")));
  ASSERT_EQ(sts.forms().size(), 1);
  EXPECT_EQ(
      sts.forms()[0],
      "Action=AssumeRoleWithWebIdentity&RoleArn=arn%3Ar&RoleSessionName=cairn&Version=2011-06-"
      "15&WebIdentityToken=secret%20token");
  EXPECT_EQ(sts.keys(), std::vector<std::string>(2, "key1 t1"));
}

TEST(CredentialsTest, LentKeysAreRenewedBeforeTheyExpire) {
  Sts sts;
  sts.life = absl::Minutes(2);
  HttpServer server([&](const ServedRequest& request) { return sts.Serve(request); });
  const TempDir directory;
  std::ofstream(directory.path() + "/token") << "token";
  sts.bucket.Set("a", "text");
  const auto store = OpenS3(WithWebIdentity(server, directory.path() + "/token")).value();
  EXPECT_TRUE(IsOk(store->Get("a")));
  EXPECT_TRUE(IsOk(store->Get("a")));
  EXPECT_GE(sts.forms().size(), 2);
}

TEST(CredentialsTest, WithoutATokenNothingIsAsked) {
  Sts sts;
  HttpServer server([&](const ServedRequest& request) { return sts.Serve(request); });
  const auto store = OpenS3(WithWebIdentity(server, "/no/such/token")).value();
  EXPECT_TRUE(Fails(store->Get("a").status(), StatusCode::kPermissionDenied, "/no/such/token"));
}

}  // namespace
}  // namespace cairn::test
