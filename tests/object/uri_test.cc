// Tests where URIs lead, and what is asked there.
#include <fstream>
#include <string>
#include <unistd.h>

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
  for (const char* const uri :
       {"s3://", "s3:///a", "s3://a b/", "file:///a", "a", "http://host", "https://host/",
        "https://host/?b", "https://host/a#b", "https://host/%zz"}) {
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

}  // namespace
}  // namespace cairn::test
