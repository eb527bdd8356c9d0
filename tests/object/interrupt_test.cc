// Waits for a store that are ended before it answers.
#include <atomic>
#include <chrono>
#include <climits>
#include <latch>
#include <mutex>
#include <optional>

#include <gtest/gtest.h>

#include "tests/object/failing_s3.h"
#include "tests/object/stores.h"
#include "tests/support/status.h"

namespace cairn::test {
namespace {

using Code = absl::StatusCode;

TEST(InterruptTest, CancelEndsWhatIsInFlightAndWhatWaits) {
  Gate in_flight;
  Gate cancelled;
  Failing failing(
      [&](int number, const ServedRequest&) -> std::optional<ServedAnswer> {
        if (number == 2) in_flight.Open();
        cancelled.Wait();
        return std::nullopt;
      },
      [](S3Options& options) {
        options.transport.parallel = 2;
        options.transport.request_timeout = std::chrono::hours(1);
        options.transport.stall_timeout = std::chrono::hours(1);
      });
  std::latch answers(6);
  for (int i = 0; i < 6; ++i) {
    failing.store->StartGet("a", {}, std::nullopt, [&](absl::StatusOr<ObjectPart> part) {
      EXPECT_TRUE(absl::IsCancelled(part.status())) << part.status();
      answers.count_down();
    });
  }
  in_flight.Wait();
  failing.store->Cancel();
  answers.wait();
  EXPECT_EQ(failing.requests, 2);
  cancelled.Open();
}

// Counts how often it is asked, and says no from some time on.
struct Patience {
  std::atomic<bool> ends = false;
  std::mutex mutex;
  TransportWait told;

  void Install(S3Options& options) {
    options.transport.keep_waiting = [this](const TransportWait& wait) {
      const std::lock_guard lock(mutex);
      told = wait;
      return !ends;
    };
  }
};

TEST(InterruptTest, WaitEndsWhenItsCallerSaysSo) {
  Patience patience;
  Gate never;
  Gate in_flight;
  Failing failing(
      [&](int, const ServedRequest&) -> std::optional<ServedAnswer> {
        in_flight.Open();
        never.Wait();
        return std::nullopt;
      },
      [&](S3Options& options) {
        patience.Install(options);
        options.transport.parallel = 1;
      });
  std::latch answers(3);
  for (int i = 0; i < 3; ++i) {  // two of them wait for the first
    failing.store->StartGet("a", {}, std::nullopt, [&](absl::StatusOr<ObjectPart> part) {
      EXPECT_TRUE(Fails(part.status(), Code::kCancelled, "s3://test: get a: interrupted"));
      answers.count_down();
    });
  }
  in_flight.Wait();
  patience.ends = true;
  answers.wait();
  EXPECT_EQ(failing.requests, 1);
  never.Open();
}

TEST(InterruptTest, RequestsAfterAnInterruptedWaitAreMade) {
  Patience patience;
  patience.ends = true;
  // Without an end, so that the first wait does not end otherwise.
  Failing failing(
      [&](int, const ServedRequest&) {
        return patience.ends ? std::optional(S3Failure(503, "SlowDown")) : std::nullopt;
      },
      [&](S3Options& options) {
        patience.Install(options);
        options.transport.retries = INT_MAX;
        options.transport.call_timeout = std::chrono::hours(1);
      });
  failing.bucket.Set("a", "text");
  EXPECT_TRUE(absl::IsCancelled(failing.store->Head("a").status()));
  patience.ends = false;
  EXPECT_TRUE(IsOk(failing.store->Head("a")));
}

TEST(InterruptTest, WhoWaitsIsToldWhatFor) {
  Patience patience;
  std::atomic<bool> told = false;
  Failing failing(
      [&](int, const ServedRequest&) -> std::optional<ServedAnswer> {
        const std::lock_guard lock(patience.mutex);
        told = patience.told.failure == "503 SlowDown: as the test wants" &&
               patience.told.time.count() > 0 && patience.told.store == "s3://test";
        return told ? std::nullopt : std::optional(S3Failure(503, "SlowDown"));
      },
      [&](S3Options& options) {
        patience.Install(options);
        options.transport.retries = INT_MAX;
        options.transport.first_pause = options.transport.longest_pause =
            std::chrono::milliseconds(50);
      });
  failing.bucket.Set("a", "text");
  EXPECT_TRUE(IsOk(failing.store->Get("a")));
  EXPECT_TRUE(told);
}

}  // namespace
}  // namespace cairn::test
