// Tests that a bucket in another region than the settings say is found there, and is told once.
#include <atomic>
#include <latch>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/object/s3/store/remote.h"
#include "tests/object/stores.h"
#include "tests/support/status.h"

namespace cairn::test {
namespace {

using StatusCode = absl::StatusCode;

// A bucket in eu-west-1, which answers requests that are signed for another region like this.
class Abroad {
 public:
  explicit Abroad(ServedAnswer elsewhere)
      : server_([this, elsewhere = std::move(elsewhere)](const ServedRequest& request) {
          ++requests;
          const bool here =
              request.headers.at("authorization").find("/eu-west-1/s3/") != std::string::npos;
          return here ? bucket.Serve(request) : elsewhere;
        }) {
    bucket.Set("a", "text");
    S3Options options = TestS3Options(server_.url());
    options.transport.notice = [this](const std::string& text) {
      const std::lock_guard lock(mutex_);
      notices_.push_back(text);
    };
    store = OpenS3(std::move(options)).value();
  }
  std::vector<std::string> notices() {
    const std::lock_guard lock(mutex_);
    return notices_;
  }

  FakeS3 bucket;
  std::atomic<int> requests = 0;

 private:
  std::mutex mutex_;
  std::vector<std::string> notices_;
  HttpServer server_;

 public:
  std::shared_ptr<ObjectStore> store;
};

ServedAnswer Redirection(int status, const std::string& region) {
  ServedAnswer answer = S3Failure(status, "PermanentRedirect");
  answer.headers["x-amz-bucket-region"] = region;
  return answer;
}

TEST(RegionTest, RequestsFollowTheBucketAndItIsToldOnce) {
  for (const int status : {301, 307, 400}) {
    Abroad abroad(Redirection(status, "eu-west-1"));
    EXPECT_TRUE(IsOk(abroad.store->Head("a"))) << status;
    EXPECT_TRUE(IsOk(abroad.store->Get("a"))) << status;
    EXPECT_TRUE(IsOk(abroad.store->PutIfAbsent("b", BytesOf("b")))) << status;
    EXPECT_EQ(abroad.requests, 4);
    ASSERT_EQ(abroad.notices().size(), 1);
    EXPECT_EQ(abroad.notices()[0],
              "s3://test is in the region eu-west-1, not us-east-1: AWS_REGION would save a "
              "request");
  }
}

TEST(RegionTest, SignatureForAnotherRegionIsMended) {
  Abroad abroad({.status = 400,
                 .body = "<Error><Code>AuthorizationHeaderMalformed</Code>"
                         "<Region>eu-west-1</Region></Error>"});
  EXPECT_TRUE(IsOk(abroad.store->Get("a")));
  EXPECT_EQ(abroad.notices().size(), 1);
}

TEST(RegionTest, ManyRequestsTellItOnce) {
  Abroad abroad(Redirection(301, "eu-west-1"));
  constexpr int kMany = 32;
  std::latch answers(kMany);
  for (int i = 0; i < kMany; ++i) {
    abroad.store->StartGet("a", {}, std::nullopt, [&](absl::StatusOr<ObjectPart> part) {
      EXPECT_TRUE(IsOk(part));
      answers.count_down();
    });
  }
  answers.wait();
  EXPECT_EQ(abroad.notices().size(), 1);
}

// A region becomes a part of the host's name.
TEST(RegionTest, WhatIsNoRegionIsNotFollowed) {
  for (const char* const region :
       {"evil.example/", "eu west", "EU-WEST-1", "a@b", "us-east-1", ""}) {
    Abroad abroad(Redirection(301, region));
    EXPECT_TRUE(Fails(abroad.store->Get("a").status(), StatusCode::kInvalidArgument, "301"));
    EXPECT_EQ(abroad.requests, 1) << region;
    EXPECT_TRUE(abroad.notices().empty());
  }
}

TEST(RegionTest, RedirectionInACircleEnds) {
  std::atomic<int> requests = 0;
  HttpServer server([&](const ServedRequest&) {
    return Redirection(301, ++requests % 2 == 0 ? "eu-west-1" : "eu-west-2");
  });
  EXPECT_FALSE(OpenS3(TestS3Options(server.url())).value()->Get("a").ok());
  EXPECT_EQ(requests, 2);
}

TEST(RegionTest, HostsOfAwsHaveTheRegion) {
  const auto host = [](const S3Options& options, const std::string& region) {
    return object::InRegion(*object::PlaceOf(options), region).url.host;
  };
  S3Options options{.bucket = "b"};
  EXPECT_EQ(host(options, "eu-west-1"), "b.s3.eu-west-1.amazonaws.com");
  EXPECT_EQ(host(options, "cn-north-1"), "b.s3.cn-north-1.amazonaws.com.cn");
  options.bucket = "b.c";
  EXPECT_EQ(host(options, "eu-west-1"), "s3.eu-west-1.amazonaws.com");
  options.endpoint = "https://s3.us-east-1.amazonaws.com";
  EXPECT_EQ(host(options, "eu-west-1"), "s3.us-east-1.amazonaws.com");
}

}  // namespace
}  // namespace cairn::test
