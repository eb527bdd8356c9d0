// A bucket that fails as the test wants, and gates that its answers may wait at.
#ifndef CAIRN_TESTS_OBJECT_FAILING_S3_H_
#define CAIRN_TESTS_OBJECT_FAILING_S3_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "tests/object/stores.h"

namespace cairn::test {

// A bucket whose answers the test may replace: `fail` gets the number of each request, from 1 on,
// and the bucket, which it may have do the request before the answer is lost.
class Failing {
 public:
  using Fail = std::function<std::optional<ServedAnswer>(int number, const ServedRequest&)>;

  explicit Failing(
      Fail fail, const std::function<void(S3Options&)>& change = [](S3Options&) {})
      : server_([this, fail](const ServedRequest& request) {
          const std::optional<ServedAnswer> answer = fail(++requests, request);
          return answer.has_value() ? *answer : bucket.Serve(request);
        }) {
    S3Options options = TestS3Options(server_.url());
    change(options);
    store = OpenS3(options).value();
  }

  FakeS3 bucket;
  std::atomic<int> requests = 0;

 private:
  HttpServer server_;

 public:
  std::shared_ptr<ObjectStore> store;
};

// Who waits for it continues when it is open, or after a minute, so that a test which fails ends.
class Gate {
 public:
  void Open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    opened_.notify_all();
  }
  void Wait() {
    std::unique_lock lock(mutex_);
    opened_.wait_for(lock, std::chrono::minutes(1), [&] { return open_; });
  }
  bool is_open() {
    const std::lock_guard lock(mutex_);
    return open_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;
};

// Fails like this up to and with a number.
inline Failing::Fail Until(int last, const ServedAnswer& answer) {
  return [=](int number, const ServedRequest&) {
    return number <= last ? std::optional(answer) : std::nullopt;
  };
}

}  // namespace cairn::test

#endif  // CAIRN_TESTS_OBJECT_FAILING_S3_H_
