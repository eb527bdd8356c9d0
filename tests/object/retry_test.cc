// Tests requests that fail, by a server that fails as the test wants.
#include <atomic>
#include <chrono>
#include <future>
#include <latch>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "tests/object/failing_s3.h"
#include "tests/object/stores.h"
#include "tests/support/no_threads.h"
#include "tests/support/status.h"

namespace cairn::test {
namespace {

using StatusCode = absl::StatusCode;

ServedAnswer Cut() { return {.cut_after = -1}; }

TEST(S3ThreadTest, StoreIsRefusedWhereThereIsNoThreadForItsRequests) {
  const NoThreads none;
  EXPECT_TRUE(absl::IsResourceExhausted(OpenS3(TestS3Options("http://127.0.0.1:1")).status()));
}

TEST(RetryTest, WhatFailsForNowIsTriedAgain) {
  for (const ServedAnswer& answer :
       {S3Failure(500, "InternalError"), S3Failure(503, "SlowDown"), ServedAnswer{.status = 429},
        ServedAnswer{.status = 502, .body = "<html>no gateway"}, S3Failure(400, "RequestTimeout"),
        Cut()}) {
    Failing failing(Until(3, answer));
    failing.bucket.Set("a", "text");
    const absl::StatusOr<ObjectPart> part = failing.store->Get("a");
    ASSERT_TRUE(IsOk(part)) << answer.status;
    EXPECT_EQ(TextOf(part->bytes), "text");
    EXPECT_EQ(failing.store->stats().retries, 3);
    EXPECT_EQ(failing.store->stats().gets, 4);
  }
}

TEST(RetryTest, RefusalsAreNotTriedAgainAndNameTheCode) {
  const std::pair<ServedAnswer, StatusCode> answers[] = {
      {S3Failure(403, "AccessDenied"), StatusCode::kPermissionDenied},
      {S3Failure(404, "NoSuchBucket"), StatusCode::kNotFound},
      {S3Failure(501, "NotImplemented"), StatusCode::kUnimplemented},
      {S3Failure(301, "PermanentRedirect"), StatusCode::kInvalidArgument},
      {S3Failure(400, "AuthorizationHeaderMalformed"), StatusCode::kInvalidArgument}};
  for (const auto& [answer, code] : answers) {
    Failing failing(Until(1000, answer));
    const absl::Status status = failing.store->PutIfAbsent("a", BytesOf("text")).status();
    EXPECT_TRUE(Fails(status, code, "s3://test: put a: " + std::to_string(answer.status)));
    EXPECT_EQ(failing.requests, 1);
    EXPECT_TRUE(Fails(status, code, answer.body.substr(35, 5)));
  }
}

TEST(RetryTest, BodiesThatAreCutAreReadAgain) {
  Failing failing([](int number, const ServedRequest&) -> std::optional<ServedAnswer> {
    if (number > 2) return std::nullopt;
    return ServedAnswer{.status = 206,
                        .headers = {{"Content-Range", "bytes 0-7/8"}, {"ETag", "\"e\""}},
                        .body = "01234567",
                        .cut_after = number == 1 ? 3 : 0};
  });
  failing.bucket.Set("a", "01234567");
  EXPECT_EQ(TextOf(failing.store->Get("a", {0, 8})->bytes), "01234567");
  EXPECT_EQ(failing.requests, 3);
}

TEST(RetryTest, PartsOfTheWrongSizeOrPlaceAreReadAgain) {
  const std::pair<const char*, const char*> wrong[] = {
      {"bytes 0-3/8", "012"}, {"bytes 0-3/8", "01234"}, {"bytes 1-4/8", "1234"},
      {"bytes 0-2/8", "012"}, {"bytes 0-3", "0123"},    {"", "0123"}};
  for (const auto& [range, body] : wrong) {
    Failing failing(Until(1, {.status = 206, .headers = {{"Content-Range", range}}, .body = body}));
    failing.bucket.Set("a", "01234567");
    EXPECT_EQ(TextOf(failing.store->Get("a", {0, 4})->bytes), "0123") << range << " " << body;
    EXPECT_EQ(failing.requests, 2);
  }
}

TEST(RetryTest, RefusesAServerThatIgnoresRanges) {
  Failing failing(Until(1000, {.status = 200, .body = "01234567"}));
  EXPECT_TRUE(Fails(failing.store->Get("a", {2, 3}).status(), StatusCode::kUnimplemented, "range"));
  EXPECT_TRUE(Fails(failing.store->Get("a", {0, 3}).status(), StatusCode::kUnimplemented, "range"));
  EXPECT_TRUE(IsOk(failing.store->Get("a", {0, 8})));
  EXPECT_TRUE(IsOk(failing.store->Get("a", {-9, 9})));
}

TEST(RetryTest, ServersThatNeverComeBackAreUnavailable) {
  Failing failing(Until(1000, S3Failure(503, "SlowDown")),
                  [](S3Options& options) { options.transport.retries = 3; });
  const char* const reason = "given up after 4 tries, the last: 503 SlowDown";
  EXPECT_TRUE(Fails(failing.store->Get("a").status(), StatusCode::kUnavailable, reason));
  EXPECT_TRUE(Fails(failing.store->PutIfAbsent("a", BytesOf("text")).status(),
                    StatusCode::kUnavailable, reason));
  EXPECT_EQ(failing.requests, 8);
  EXPECT_TRUE(failing.bucket.objects().empty());
}

TEST(RetryTest, ServersThatAskForMoreTimeThanThereIsAreGivenUpAtOnce) {
  ServedAnswer busy = S3Failure(503, "SlowDown");
  busy.headers["Retry-After"] = "121";
  Failing failing(Until(1000, busy), [](S3Options& options) {
    options.transport.call_timeout = std::chrono::seconds(120);
  });
  const char* const reason = "given up after 1 tries, the last: 503 SlowDown";
  EXPECT_TRUE(Fails(failing.store->Get("a").status(), StatusCode::kUnavailable, reason));
  EXPECT_TRUE(Fails(failing.store->PutIfAbsent("a", BytesOf("text")).status(),
                    StatusCode::kUnavailable, reason));
  EXPECT_EQ(failing.requests, 2);
}

TEST(RetryTest, WhatCannotBeReachedIsUnavailable) {
  S3Options options = TestS3Options("http://127.0.0.1:1");
  options.transport.retries = 2;
  const auto store = OpenS3(options).value();
  EXPECT_TRUE(Fails(store->PutIfAbsent("a", BytesOf("text")).status(), StatusCode::kUnavailable,
                    "3 tries"));
}

TEST(RetryTest, PutsWhoseAnswerIsLostAreDone) {
  for (const bool was_done : {false, true}) {
    std::unique_ptr<Failing> failing;
    failing = std::make_unique<Failing>(
        [&, was_done](int number, const ServedRequest& request) -> std::optional<ServedAnswer> {
          if (number > 1) return std::nullopt;
          if (was_done) failing->bucket.Serve(request);
          return Cut();
        });
    const absl::StatusOr<ObjectInfo> put = failing->store->PutIfAbsent("a", BytesOf("text"));
    ASSERT_TRUE(IsOk(put));
    EXPECT_EQ(put->size, 4);
    EXPECT_EQ(put->etag, failing->store->Head("a")->etag);
    EXPECT_EQ(failing->bucket.objects().at("a"), "text");
  }
}

TEST(RetryTest, PutsThatLoseTheRaceAfterALostAnswerAreRefused) {
  std::unique_ptr<Failing> failing;
  failing = std::make_unique<Failing>(
      [&](int number, const ServedRequest&) -> std::optional<ServedAnswer> {
        if (number > 1) return std::nullopt;
        failing->bucket.Set("a", "another");
        return S3Failure(500, "InternalError");
      });
  EXPECT_TRUE(Fails(failing->store->PutIfAbsent("a", BytesOf("text")).status(),
                    StatusCode::kFailedPrecondition, "there already"));
  EXPECT_EQ(failing->bucket.objects().at("a"), "another");
}

TEST(RetryTest, RefusalsThatAreKnownReadNothing) {
  Failing failing(Until(0, {}));
  failing.bucket.Set("a", "text");
  EXPECT_TRUE(
      absl::IsFailedPrecondition(failing.store->PutIfAbsent("a", BytesOf("text")).status()));
  EXPECT_EQ(failing.requests, 1);
}

// Ours may have been there before that of another writer.
TEST(RetryTest, ReplacementsThatWereReplacedAreNotKnown) {
  std::unique_ptr<Failing> failing;
  failing = std::make_unique<Failing>(
      [&](int number, const ServedRequest& request) -> std::optional<ServedAnswer> {
        if (number != 2) return std::nullopt;
        failing->bucket.Serve(request);
        failing->bucket.Set("a", "that of another");
        return Cut();
      });
  failing->bucket.Set("a", "first");
  const std::string etag = failing->store->Head("a")->etag;
  EXPECT_TRUE(Fails(failing->store->PutIfMatch("a", etag, BytesOf("second")).status(),
                    StatusCode::kDeadlineExceeded, "since an answer was lost"));
}

TEST(RetryTest, ReplacementsWhoseAnswerIsLostAreDone) {
  std::unique_ptr<Failing> failing;
  failing = std::make_unique<Failing>(
      [&](int number, const ServedRequest& request) -> std::optional<ServedAnswer> {
        if (number != 2) return std::nullopt;
        failing->bucket.Serve(request);
        return S3Failure(500, "InternalError");
      });
  failing->bucket.Set("a", "first");
  const std::string etag = failing->store->Head("a")->etag;
  EXPECT_TRUE(IsOk(failing->store->PutIfMatch("a", etag, BytesOf("second"))));
}

TEST(RetryTest, PutsThatStayUnansweredAreNotKnown) {
  Failing failing(Until(1000, Cut()), [](S3Options& options) { options.transport.retries = 3; });
  EXPECT_TRUE(Fails(failing.store->PutIfAbsent("a", BytesOf("text")).status(),
                    StatusCode::kDeadlineExceeded, "put a"));
  const std::string name = "a";
  EXPECT_TRUE(Fails(failing.store->Delete({&name, 1}), StatusCode::kDeadlineExceeded, "delete a"));
}

TEST(RetryTest, LeavesAServerThatSaysNothing) {
  Gate put;
  Failing failing(
      [&](int number, const ServedRequest&) -> std::optional<ServedAnswer> {
        if (number == 1) put.Wait();
        return std::nullopt;
      },
      [](S3Options& options) {
        options.transport.request_timeout = std::chrono::milliseconds(200);
        options.transport.stall_timeout = std::chrono::hours(1);
      });
  EXPECT_TRUE(IsOk(failing.store->PutIfAbsent("a", BytesOf("text"))));
  EXPECT_GT(failing.requests, 1);
  put.Open();
}

// Connections that are kept may be closed when the next request is on its way: curl would send it
// again by itself, and the 412 then would pass for that of another writer.
TEST(RetryTest, PutsOnKeptConnectionsAreNotSentTwiceUnnoticed) {
  std::unique_ptr<Failing> failing;
  failing = std::make_unique<Failing>(
      [&](int number, const ServedRequest& request) -> std::optional<ServedAnswer> {
        if (number != 2) return std::nullopt;
        failing->bucket.Serve(request);
        return Cut();
      });
  ASSERT_TRUE(absl::IsNotFound(failing->store->Head("warm").status()));
  EXPECT_TRUE(IsOk(failing->store->PutIfAbsent("a", BytesOf("text"))));
  EXPECT_TRUE(IsOk(failing->store->PutIfAbsent("empty", BytesOf(""))));
}

TEST(RetryTest, EmptyPutsOnKeptConnectionsAreNotSentTwiceUnnoticed) {
  std::unique_ptr<Failing> failing;
  failing = std::make_unique<Failing>(
      [&](int number, const ServedRequest& request) -> std::optional<ServedAnswer> {
        if (number != 2) return std::nullopt;
        failing->bucket.Serve(request);
        return Cut();
      });
  ASSERT_TRUE(absl::IsNotFound(failing->store->Head("warm").status()));
  EXPECT_TRUE(IsOk(failing->store->PutIfAbsent("a", BytesOf(""))));
}

TEST(RetryTest, ConflictsAreTriedAgain) {
  Failing failing(Until(2, S3Failure(409, "ConditionalRequestConflict")));
  EXPECT_TRUE(IsOk(failing.store->PutIfAbsent("a", BytesOf("text"))));
  EXPECT_EQ(failing.requests, 3);
}

TEST(RetryTest, WaitsAsLongAsTheServerSays) {
  ServedAnswer busy{.status = 503, .headers = {{"Retry-After", "1"}}};
  Failing failing(Until(1, busy));
  failing.bucket.Set("a", "text");
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(IsOk(failing.store->Get("a")));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(990));
}

TEST(RetryTest, ListingsThatAreNoneAreAskedForAgain) {
  Failing failing(Until(2, {.status = 200, .body = "<ListBucketResult><Contents>"}));
  failing.bucket.Set("a", "text");
  EXPECT_EQ(failing.store->List("", "", 10)->objects.size(), 1);
  EXPECT_EQ(failing.requests, 3);
}

TEST(RetryTest, ObjectsThatAreNotDeletedAreNamed) {
  const std::string failure =
      "<DeleteResult><Error><Key>b</Key><Code>AccessDenied</Code><Message>no</Message></Error>"
      "</DeleteResult>";
  Failing failing(Until(1000, {.status = 200, .body = failure}));
  const std::string names[] = {"a", "b"};
  EXPECT_TRUE(
      Fails(failing.store->Delete(names), StatusCode::kPermissionDenied, "b: AccessDenied"));
}

TEST(RetryTest, NoMoreRequestsThanAllowedAreInFlight) {
  Gate four;
  std::atomic<int> now = 0;
  std::atomic<int> too_many = 0;
  Failing failing(
      [&](int, const ServedRequest&) -> std::optional<ServedAnswer> {
        const int running = ++now;
        if (running == 4) four.Open();
        too_many += running > 4;
        four.Wait();
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        --now;
        return std::nullopt;
      },
      [](S3Options& options) { options.transport.parallel = 4; });
  failing.bucket.Set("a", "text");
  std::latch answers(40);
  for (int i = 0; i < 40; ++i) {
    failing.store->StartGet("a", {}, std::nullopt, [&](absl::StatusOr<ObjectPart> part) {
      EXPECT_TRUE(IsOk(part));
      answers.count_down();
    });
  }
  answers.wait();
  EXPECT_TRUE(four.is_open());
  EXPECT_EQ(too_many, 0);
}

TEST(RetryTest, ExpiredKeysThatNobodyRenewsAreRefusedAtOnce) {
  Failing failing(Until(1000, S3Failure(400, "ExpiredToken")));
  EXPECT_TRUE(
      Fails(failing.store->Get("a").status(), StatusCode::kPermissionDenied, "ExpiredToken"));
  EXPECT_EQ(failing.requests, 1);
}

TEST(RetryTest, CallbacksMayDropTheLastReference) {
  Failing failing(Until(0, {}));
  failing.bucket.Set("a", "text");
  // The callback may still be at it when the test ends.
  const auto gone = std::make_shared<std::promise<void>>();
  ObjectStore& store = *failing.store;
  store.StartGet("a", {}, std::nullopt, [&failing, gone](const absl::StatusOr<ObjectPart>& part) {
    EXPECT_TRUE(IsOk(part));
    failing.store.reset();
    gone->set_value();
  });
  gone->get_future().wait();
}

TEST(ConditionCheckTest, StoresThatIgnoreConditionsAreRefused) {
  const std::pair<FakeS3Options, const char*> stores[] = {
      {{.ignores_absent = true}, "If-None-Match"}, {{.ignores_match = true}, "If-Match"}};
  for (const auto& [options, header] : stores) {
    const ServedS3 served(options);
    EXPECT_TRUE(
        Fails(served.store->CheckConditions("scratch"), StatusCode::kFailedPrecondition, header));
    EXPECT_TRUE(served.bucket.objects().empty());
    const size_t requests = served.bucket.log().size();
    EXPECT_FALSE(served.store->CheckConditions("scratch").ok());
    EXPECT_EQ(served.bucket.log().size(), requests);
  }
}

TEST(ConditionCheckTest, TakesFiveRequests) {
  const ServedS3 served({.wants_bare_etags = true});
  ASSERT_TRUE(IsOk(served.store->CheckConditions("scratch")));
  EXPECT_EQ(served.bucket.log().size(), 5);
  ASSERT_TRUE(IsOk(served.store->CheckConditions("scratch")));
  EXPECT_EQ(served.bucket.log().size(), 5);
}

TEST(ConditionCheckTest, StoresWithoutConditionsAreRefused) {
  Failing failing([](int, const ServedRequest& request) -> std::optional<ServedAnswer> {
    if (!request.headers.contains("if-match")) return std::nullopt;
    return S3Failure(501, "NotImplemented");
  });
  EXPECT_TRUE(Fails(failing.store->CheckConditions("scratch"), StatusCode::kFailedPrecondition,
                    "501 NotImplemented"));
}

}  // namespace
}  // namespace cairn::test
