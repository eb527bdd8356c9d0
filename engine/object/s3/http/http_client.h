// Sends HTTP requests, many at once, in one thread.
#ifndef CAIRN_ENGINE_OBJECT_S3_HTTP_HTTP_CLIENT_H_
#define CAIRN_ENGINE_OBJECT_S3_HTTP_HTTP_CLIENT_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <pthread.h>
#include <sys/types.h>
#include <unistd.h>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/s3.h"
#include "engine/base/mutex.h"
#include "engine/object/s3/http/curl_library.h"
#include "engine/object/s3/http/http_message.h"

namespace cairn::object {

struct HttpTransfer;

// Keeps connections, and at most `parallel` requests in flight. The others wait in the order of
// their time. Thread-safe. In a forked child, which has no such thread, requests end with
// kCancelled at once.
class HttpClient : public std::enable_shared_from_this<HttpClient> {
 public:
  // Makes a request. A status instead of one ends the request and is passed to `done`.
  using Make = std::function<absl::StatusOr<HttpRequest>()>;

  // Called ten times a second while there are requests, in the client's thread. If it returns
  // false, they end.
  using KeepWaiting = std::function<bool()>;

  // Opens a client. With `redirects`, answers may lead elsewhere. `keep_waiting` may be empty.
  static absl::StatusOr<std::shared_ptr<HttpClient>> Open(TransportOptions options, bool redirects,
                                                          KeepWaiting keep_waiting);
  ~HttpClient();

  // Calls `make` when the time has come and there is capacity, and sends what it returns, once.
  // Both callbacks run in the client's thread.
  void Send(Clock::time_point when, Make make, HttpDone done);
  // Returns false in a forked child.
  bool is_here() const { return ::getpid() == process_; }
  // Ends all requests, and later ones, with kCancelled.
  void Cancel();
  // Cancels, and returns when no callback runs any more, unless a callback calls it.
  void Stop();

 private:
  struct Job {
    Make make;
    HttpDone done;
  };
  struct CleanEasy {
    void operator()(CURL* easy) const { Curl().easy_cleanup(easy); }
  };
  using Easy = std::unique_ptr<CURL, CleanEasy>;

  HttpClient(TransportOptions options, bool redirects, KeepWaiting keep_waiting);
  void RunAndLeave();
  void Run();
  std::vector<Job> TakeDue();
  void StartDue();
  void Begin(Job job);
  Easy TakeEasy();
  void SetUp(HttpTransfer& transfer) const;
  void FinishReady();
  void End(CURL* easy, absl::StatusOr<HttpAnswer> answer);
  bool ShallEnd();
  void EndAll(const absl::Status& status);
  int WaitMillis();

  const pid_t process_ = ::getpid();
  const TransportOptions options_;
  const bool redirects_;
  const KeepWaiting keep_waiting_;
  CURLM* const multi_;
  std::shared_ptr<HttpClient> self_;  // the thread takes it over
  std::optional<pthread_t> thread_;

  Mutex mutex_;
  std::multimap<Clock::time_point, Job> waiting_ ABSL_GUARDED_BY(mutex_);
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;

  // Only the thread uses these.
  std::unordered_map<CURL*, std::unique_ptr<HttpTransfer>> active_;
  std::vector<Easy> idle_;
  Clock::time_point asked_;  // when it was last asked whether to keep waiting
};

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_HTTP_HTTP_CLIENT_H_
