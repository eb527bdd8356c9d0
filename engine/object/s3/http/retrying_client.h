// Tries requests again until their outcome is known, or their time is over.
#ifndef CAIRN_ENGINE_OBJECT_S3_HTTP_RETRYING_CLIENT_H_
#define CAIRN_ENGINE_OBJECT_S3_HTTP_RETRYING_CLIENT_H_

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>

#include "engine/base/mutex.h"
#include "engine/object/s3/http/http_client.h"

namespace cairn::object {

// The history of a call. `lost` means that the server may have done what a try asked, without an
// answer.
struct CallHistory {
  int tries = 0;
  bool lost = false;
  std::optional<Clock::time_point> deadline = {};  // set at the first try
};

// A request and the calls that handle its outcome.
struct HttpCall {
  std::string title;  // "s3://bucket: put name"
  // Runs for each try, because signatures have a date.
  std::function<absl::StatusOr<HttpRequest>()> make;
  // Returns why a good answer does not count, so that the request is tried again. If empty, every
  // good answer counts.
  std::function<absl::Status(const HttpAnswer&)> check = {};
  // Gets an answer that stands, which is good or a refusal. Otherwise gets kUnavailable if nothing
  // was done, kDeadlineExceeded if that is not known, or kCancelled.
  std::function<void(const CallHistory&, absl::StatusOr<HttpAnswer>)> done;
  // Each try is counted there.
  std::atomic<int64_t>* count = nullptr;
  CallHistory history = {};
};

// Tells whether an answer stands.
enum class Verdict {
  kStands,
  kNotDone,  // the same request may succeed later
  kLost,     // the request may have been done, or may yet be done
};
Verdict Judge(const HttpAnswer& answer);

// Sends calls. Thread-safe.
class RetryingClient : public std::enable_shared_from_this<RetryingClient> {
 public:
  // `store` is its name for people.
  static absl::StatusOr<std::shared_ptr<RetryingClient>> Open(const TransportOptions& options,
                                                              bool redirects, std::string store);

  void Start(HttpCall call);
  std::chrono::milliseconds call_timeout() const { return options_.call_timeout; }
  bool is_here() const { return client_->is_here(); }
  void Cancel() { client_->Cancel(); }
  void Stop() { client_->Stop(); }
  int64_t retries() const { return retries_; }

 private:
  // The state that callers of the store wait for.
  struct Wait {
    Mutex mutex;
    int64_t calls ABSL_GUARDED_BY(mutex) = 0;  // calls that have not ended
    // When the last answer came, or the first of these calls began.
    Clock::time_point since ABSL_GUARDED_BY(mutex);
    // The reason why the last try failed. Empty if an answer came after it.
    std::string failure ABSL_GUARDED_BY(mutex);
  };

  RetryingClient(const TransportOptions& options, std::shared_ptr<HttpClient> client,
                 std::shared_ptr<Wait> wait)
      : options_(options),
        client_(std::move(client)),
        wait_(std::move(wait)),
        random_(std::random_device()()) {}

  void Try(std::shared_ptr<HttpCall> call, Clock::time_point when);
  absl::StatusOr<HttpRequest> MakeTry(HttpCall& call);
  void Finish(const std::shared_ptr<HttpCall>& call, absl::StatusOr<HttpAnswer> answer);
  void TryLater(const std::shared_ptr<HttpCall>& call, const HttpAnswer& answer,
                const std::string& reason);
  Clock::duration Pause(int tries);
  void End(const HttpCall& call, absl::StatusOr<HttpAnswer> answer);

  const TransportOptions options_;
  const std::shared_ptr<HttpClient> client_;
  const std::shared_ptr<Wait> wait_;
  std::atomic<int64_t> retries_ = 0;
  Mutex mutex_;
  std::minstd_rand random_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_HTTP_RETRYING_CLIENT_H_
