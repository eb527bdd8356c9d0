// HTTP requests, many at once, by one thread.
#ifndef CAIRN_ENGINE_OBJECT_S3_HTTP_CLIENT_H_
#define CAIRN_ENGINE_OBJECT_S3_HTTP_CLIENT_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include <curl/curl.h>

#include "cairn/s3.h"

namespace cairn::object {

using Clock = std::chrono::steady_clock;

struct HttpRequest {
  std::string method;
  std::string url;
  std::vector<std::string> headers;  // "name: value"
  Bytes body = {};
  bool changes = false;            // must not reach the server twice unnoticed
  int64_t most_bytes = INT64_MAX;  // of a good answer's body
  Clock::time_point deadline = Clock::time_point::max();
};

// What came back of one request.
struct HttpAnswer {
  int status = 0;         // 0: no whole answer
  std::string error;      // then the reason
  bool sent = false;      // the server may have the request
  bool too_long = false;  // the body has more than most_bytes, and is not here
  std::string etag;       // with its quotes
  std::string content_length;
  std::string content_range;
  int64_t modified = 0;  // seconds since 1970; 0: not known
  int64_t date = 0;
  std::chrono::seconds retry_after{0};
  std::vector<std::byte> body;

  bool IsGood() const { return status / 100 == 2; }
};

struct HttpTransfer;

// Keeps connections, and at most `parallel` requests in flight; the others wait in the order of
// their time. Thread-safe.
class HttpClient : public std::enable_shared_from_this<HttpClient> {
 public:
  // A status instead of a request ends it, and is `done`'s.
  using Make = std::function<absl::StatusOr<HttpRequest>()>;
  // Runs in the client's thread.
  using Done = std::function<void(absl::StatusOr<HttpAnswer>)>;

  // `redirects`: whether answers may lead elsewhere.
  static absl::StatusOr<std::shared_ptr<HttpClient>> Open(TransportOptions options, bool redirects);
  ~HttpClient();

  // Calls `make` when the time has come and there is capacity, in the client's thread, and sends
  // what it returns, once.
  void Send(Clock::time_point when, Make make, Done done);
  // Ends all requests, and those that follow, with kCancelled.
  void Cancel();
  // The same; returns when no callback runs any more, unless it is called by one.
  void Stop();

 private:
  struct Job {
    Make make;
    Done done;
  };
  struct CleanEasy {
    void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
  };
  using Easy = std::unique_ptr<CURL, CleanEasy>;

  HttpClient(TransportOptions options, bool redirects);
  void Run();
  std::vector<Job> TakeDue();
  void StartDue();
  void Begin(Job job);
  Easy TakeEasy();
  void SetUp(HttpTransfer& transfer) const;
  void FinishReady();
  void End(CURL* easy, absl::StatusOr<HttpAnswer> answer);
  void EndAll();
  int WaitMillis();

  const TransportOptions options_;
  const bool redirects_;
  CURLM* const multi_;
  std::thread thread_;

  std::mutex mutex_;  // of the next three
  std::multimap<Clock::time_point, Job> waiting_;
  bool cancelled_ = false;
  bool stopping_ = false;

  // The thread's own.
  std::unordered_map<CURL*, std::unique_ptr<HttpTransfer>> active_;
  std::vector<Easy> idle_;
};

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_HTTP_CLIENT_H_
