// Tests URLs whose query allows to get one object, and is a secret.
#include <atomic>
#include <string>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/object/s3/http/url.h"
#include "tests/object/stores.h"
#include "tests/support/bytes.h"
#include "tests/support/files.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

using StatusCode = absl::StatusCode;

const std::string kQuery = "?X-Amz-Expires=60&X-Amz-Signature=TOP-SECRET";

// A server that answers only GET, and only with this query, as S3 does for such a URL.
class Presigned {
 public:
  Presigned()
      : server_([this](const ServedRequest& request) {
          const auto signature = request.query.find("X-Amz-Signature");
          if (request.method != "GET" || signature == request.query.end() ||
              signature->second != "TOP-SECRET" || request.query.at("X-Amz-Expires") != "60") {
            return S3Failure(403, "SignatureDoesNotMatch");
          }
          ++requests;
          return bucket.Serve(request);
        }) {}
  std::string Url(const std::string& name) const { return server_.url() + "/b/" + name + kQuery; }

  FakeS3 bucket;
  std::atomic<int> requests = 0;

 private:
  HttpServer server_;
};

TEST(PresignedTest, ObjectsAreReadWithGetsOnly) {
  Presigned presigned;
  presigned.bucket.Set("a", "0123456789");
  const auto location = OpenObjectUri(presigned.Url("a"), {});
  ASSERT_TRUE(IsOk(location));
  EXPECT_EQ(location->path, "a");
  const auto head = location->store->Head("a");
  ASSERT_TRUE(IsOk(head));
  EXPECT_EQ(head->size, 10);
  EXPECT_EQ(TextOf(location->store->Get("a", {2, 3}, head->etag)->bytes), "234");
  EXPECT_EQ(presigned.requests, 2);
}

TEST(PresignedTest, FramesAreRead) {
  const TempDir directory;
  const Buffer data = MakeNoise(3000, 1);
  ASSERT_TRUE(IsOk(WriteFrame(directory.Path("f"), PlainCopies(64), data)));
  Presigned presigned;
  presigned.bucket.Set("f.b2frame", TextOf(FileBytes(directory.Path("f"))));
  const auto files = MakeUriFileSystem(S3Options());
  const auto frame = Frame::Open(presigned.Url("f.b2frame"), {.file_system = files});
  ASSERT_TRUE(IsOk(frame));
  EXPECT_EQ(ContentOf(frame->snapshot()), data);
}

// Two URLs of one folder have a signature each.
TEST(PresignedTest, EachUrlHasItsOwnQuery) {
  Presigned presigned;
  presigned.bucket.Set("a", "text");
  const auto files = MakeUriFileSystem(S3Options());
  const std::string url = presigned.Url("a");
  EXPECT_FALSE(files->Identity(url.substr(0, url.find('?'))).ok());
  EXPECT_FALSE(files->Identity(url + "x").ok());
  EXPECT_TRUE(IsOk(files->Identity(url)));
}

TEST(PresignedTest, NoMessageHasTheQuery) {
  Presigned presigned;
  presigned.bucket.Set("a", "this is no frame");
  const auto files = MakeUriFileSystem(S3Options());
  const auto fails = [](const absl::Status& status) {
    EXPECT_FALSE(status.ok());
    EXPECT_EQ(status.message().find("TOP-SECRET"), std::string::npos) << status;
    EXPECT_EQ(status.message().find("X-Amz"), std::string::npos) << status;
  };
  for (const char* const name : {"a", "missing", "", "%zz", "a/"}) {
    const std::string url = presigned.Url(name);
    fails(Frame::Open(url, {.file_system = files}).status());
    fails(Frame::Create(url, {.file_system = files}).status());
    fails(files->Open(url, FileMode::kCreateNew).status());
    fails(files->List(url).status());
    fails(files->Remove(url));
    fails(files->Rename(url, "s3://b/c", true));
  }
  for (const char* const url :
       {"http:///a?TOP-SECRET", "http://u:TOP-SECRET@h/a", "http://h/a?TOP-SECRET b",
        "http://h/a?b#TOP-SECRET", "ftp://u:TOP-SECRET@h/", "u:TOP-SECRET@h",
        "http://u@TOP-SECRET@h/a"}) {
    fails(OpenObjectUri(url, {}).status());
    fails(OpenHttp(url).status());
    fails(object::ParseUrl(url).status());
  }
  TransportOptions transport;
  transport.retries = 0;
  fails(OpenHttp("http://127.0.0.1:1/b?TOP-SECRET", transport).value()->Get("a").status());
  EXPECT_EQ(OpenHttp("http://127.0.0.1:1/b?TOP-SECRET").value()->Describe(),
            "http://127.0.0.1:1/b");
}

}  // namespace
}  // namespace cairn::test
