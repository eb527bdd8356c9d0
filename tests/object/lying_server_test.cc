// Servers that claim more than they have, send more than was asked for, or never end.
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "cairn/s3.h"
#include "tests/object/stores.h"
#include "tests/support/bytes.h"
#include "tests/support/files.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

using StatusCode = absl::StatusCode;

// A web server that always answers the same, and what becomes of a request that is tried twice.
class LyingServer {
 public:
  explicit LyingServer(const ServedAnswer& answer)
      : server_([this, answer](const ServedRequest&) {
          ++requests_;
          return answer;
        }) {
    TransportOptions options;
    options.retries = 1;
    options.first_pause = options.longest_pause = std::chrono::milliseconds(1);
    options.request_timeout = std::chrono::seconds(5);
    store_ = OpenHttp(server_.url(), options).value();
  }

  absl::Status Get() { return store_->Get("a", {0, 100}).status(); }
  absl::Status OpenFrame() {
    const std::shared_ptr<FileSystem> files = MakeObjectFileSystem(store_);
    return Frame::Open("a", {.file_system = files}).status();
  }
  int requests() const { return requests_; }

 private:
  std::atomic<int> requests_ = 0;
  HttpServer server_;
  std::shared_ptr<ObjectStore> store_;
};

// Another header, the end of the headers, and a part of a chunked body. All copies but the first
// repeat that part.
const std::string kChunk = "\r\n10\r\n0123456789abcdef";

TEST(LyingServerTest, BodyWithoutEndIsCutWhereTheRangeEnds) {
  LyingServer server(
      {.status = 206,
       .headers = {{"Content-Range", "bytes 0-99/100"}, {"Transfer-Encoding", "chunked"}},
       .forever = kChunk});
  EXPECT_TRUE(Fails(server.Get(), StatusCode::kUnavailable, "expected those from 0 to 100"));
  EXPECT_EQ(server.requests(), 2);
}

TEST(LyingServerTest, ReasonOfAFailureWithoutEndIsNotReadToIt) {
  LyingServer server(
      {.status = 500, .headers = {{"Transfer-Encoding", "chunked"}}, .forever = kChunk});
  EXPECT_TRUE(Fails(server.Get(), StatusCode::kUnavailable, "the last: 500"));
  EXPECT_EQ(server.requests(), 2);
}

TEST(LyingServerTest, HeadersWithoutEndAreCut) {
  LyingServer server({.status = 200, .forever = "X-A: " + std::string(1000, 'a') + "\r\n"});
  EXPECT_TRUE(Fails(server.Get(), StatusCode::kUnavailable, "headers of more than 262144 bytes"));
}

TEST(LyingServerTest, FrameOfAServerThatGivesNoAnswerIsAskedForOnce) {
  LyingServer server({.status = 503});
  EXPECT_TRUE(Fails(server.OpenFrame(), StatusCode::kUnavailable, "503"));
  EXPECT_EQ(server.requests(), 2);
}

// A bucket with a sparse frame, of which some answers are others.
class LyingBucketTest : public testing::Test {
 protected:
  using Lie = std::function<void(const ServedRequest&, ServedAnswer&)>;

  absl::StatusOr<Frame> Open(const Lie& lie) {
    CreateOptions options = PlainCopies(64);
    options.layout = Layout::kSparse;
    options.overwrite = true;
    EXPECT_TRUE(IsOk(WriteFrame(dir_.Path("s"), options, data_)));
    for (const std::string& name : NamesIn(dir_.Path("s"))) {
      bucket_.Set("s/" + name, TextOf(FileBytes(dir_.Path("s/" + name))));
    }
    server_ = std::make_unique<HttpServer>([this, lie](const ServedRequest& request) {
      ServedAnswer answer = bucket_.Serve(request);
      lie(request, answer);
      return answer;
    });
    S3Options s3 = TestS3Options(server_->url());
    s3.transport.retries = 5;
    files_ = MakeObjectFileSystem(OpenS3(s3).value());
    return Frame::Open("s", {.file_system = files_});
  }

  const TempDir dir_;
  const Buffer data_ = MakeNoise(300, 1);
  FakeS3 bucket_;
  std::unique_ptr<HttpServer> server_;
  std::shared_ptr<FileSystem> files_;
};

TEST_F(LyingBucketTest, ListingThatFailsIsNotNeededToRead) {
  const std::vector<ServedAnswer> wrong = {S3Failure(403, "AccessDenied"),
                                           S3Failure(500, "InternalError"),
                                           {.body = "<a><a><a>"},
                                           {.body = "<!DOCTYPE l []><ListBucketResult/>"}};
  for (const ServedAnswer& answer : wrong) {
    int listings = 0;
    const auto frame = Open([&](const ServedRequest& request, ServedAnswer& served) {
      if (!request.query.contains("list-type")) return;
      served = answer;
      ++listings;
    });
    ASSERT_TRUE(IsOk(frame)) << answer.body;
    EXPECT_EQ(ContentOf(frame->snapshot()), data_);
    EXPECT_GE(listings, 1);
    // A failure that another try cannot mend is not tried as often as a temporary one.
    EXPECT_LE(listings, answer.status == 200 ? 4 : 6) << answer.body;
  }
}

TEST_F(LyingBucketTest, SizeOfAnIndexIsAClaim) {
  const auto frame = Open([](const ServedRequest& request, ServedAnswer& served) {
    if (!request.path.ends_with("chunks.b2frame")) return;
    const size_t slash = served.headers["Content-Range"].find('/');
    if (slash == std::string::npos) return;
    served.headers["Content-Range"].replace(slash + 1, std::string::npos, "4611686018427387904");
  });
  EXPECT_FALSE(frame.ok());
}

}  // namespace
}  // namespace cairn::test
