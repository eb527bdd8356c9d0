#include "engine/object/s3/http/http_client.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

#include "engine/base/status.h"
#include "engine/base/thread.h"
#include "engine/object/s3/http/http_transfer.h"

namespace cairn::object {

namespace {

constexpr long kMostRedirects = 5;
// Servers close connections that are idle for 20 seconds and more.
constexpr long kLongestIdle = 18;
constexpr int kLongestWaitMillis = 60'000;
constexpr std::chrono::milliseconds kAskAgain{100};  // asks each time whether to keep waiting

absl::Status IsForked() {
  return absl::CancelledError(
      "the store belongs to the process that this one was forked from: open it again");
}

absl::Status Cancelled() { return absl::CancelledError("the store was cancelled"); }
absl::Status Interrupted() { return absl::CancelledError("interrupted"); }

}  // namespace

absl::StatusOr<std::shared_ptr<HttpClient>> HttpClient::Open(TransportOptions options,
                                                             bool redirects,
                                                             KeepWaiting keep_waiting) {
  if (options.parallel < 1 || options.retries < 0) {
    return absl::InvalidArgumentError(absl::StrCat("transport: ", options.parallel,
                                                   " requests at once and ", options.retries,
                                                   " retries are too few"));
  }
  CAIRN_RETURN_IF_ERROR(LoadCurl());
  std::shared_ptr<HttpClient> client(
      new HttpClient(std::move(options), redirects, std::move(keep_waiting)));
  if (client->multi_ == nullptr) return absl::ResourceExhaustedError("libcurl: no memory");
  // TLS may raise SIGPIPE, which is blocked there as all signals are.
  client->self_ = client;
  client->thread_ = StartThread<&HttpClient::RunAndLeave>(client.get());
  if (client->thread_.has_value()) return client;
  client->self_ = nullptr;
  return absl::ResourceExhaustedError("no thread for requests: the system gave none");
}

HttpClient::HttpClient(TransportOptions options, bool redirects, KeepWaiting keep_waiting)
    : options_(std::move(options)),
      redirects_(redirects),
      keep_waiting_(std::move(keep_waiting)),
      multi_(Curl().multi_init()) {
  Curl().multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(options_.parallel));
}

HttpClient::~HttpClient() {
  idle_.clear();
  Curl().multi_cleanup(multi_);
}

void HttpClient::Send(Clock::time_point when, Make make, HttpDone done) {
  if (!is_here()) {
    done(IsForked());
    return;
  }
  {
    const MutexLock lock(mutex_);
    if (!stopping_) {
      waiting_.emplace(when, Job{.make = std::move(make), .done = std::move(done)});
      Curl().multi_wakeup(multi_);
      return;
    }
  }
  done(Cancelled());
}

void HttpClient::Cancel() {
  if (!is_here()) return;
  const MutexLock lock(mutex_);
  cancelled_ = true;
  Curl().multi_wakeup(multi_);
}

void HttpClient::Stop() {
  if (!is_here()) return;
  {
    const MutexLock lock(mutex_);
    cancelled_ = stopping_ = true;
    Curl().multi_wakeup(multi_);
  }
  // This is the thread itself if a callback drops the last reference.
  if (::pthread_equal(*thread_, ::pthread_self()) != 0) {
    ::pthread_detach(*thread_);
  } else {
    ::pthread_join(*thread_, nullptr);
  }
}

void HttpClient::RunAndLeave() {
  const std::shared_ptr<HttpClient> self = std::move(self_);
  Run();
}

void HttpClient::Run() {
  for (;;) {
    bool cancelled = false;
    bool stopping = false;
    {
      const MutexLock lock(mutex_);
      cancelled = cancelled_;
      stopping = stopping_;
    }
    if (cancelled) EndAll(Cancelled());
    if (stopping) return;
    if (ShallEnd()) EndAll(Interrupted());
    StartDue();
    int running = 0;
    Curl().multi_perform(multi_, &running);
    FinishReady();
    Curl().multi_poll(multi_, nullptr, 0, WaitMillis(), nullptr);
  }
}

bool HttpClient::ShallEnd() {
  if (!keep_waiting_ || Clock::now() < asked_ + kAskAgain) return false;
  if (active_.empty()) {
    const MutexLock lock(mutex_);
    if (waiting_.empty()) return false;
  }
  asked_ = Clock::now();
  return !keep_waiting_();
}

int HttpClient::WaitMillis() {
  const MutexLock lock(mutex_);
  if (cancelled_ && !waiting_.empty()) return 0;
  const bool asks = keep_waiting_ && !(active_.empty() && waiting_.empty());
  const int longest = asks ? static_cast<int>(kAskAgain.count()) : kLongestWaitMillis;
  if (waiting_.empty() || std::ssize(active_) >= options_.parallel) return longest;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(waiting_.begin()->first - Clock::now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, longest));
}

std::vector<HttpClient::Job> HttpClient::TakeDue() {
  const MutexLock lock(mutex_);
  std::vector<Job> due;
  if (cancelled_) return due;  // EndAll is next
  const Clock::time_point now = Clock::now();
  while (!waiting_.empty() && waiting_.begin()->first <= now &&
         std::ssize(active_) + std::ssize(due) < options_.parallel) {
    due.push_back(std::move(waiting_.extract(waiting_.begin()).mapped()));
  }
  return due;
}

void HttpClient::StartDue() {
  for (Job& job : TakeDue()) Begin(std::move(job));
}

void HttpClient::Begin(Job job) {
  absl::StatusOr<HttpRequest> request = job.make();
  if (!request.ok()) {
    job.done(std::move(request).status());
    return;
  }
  Easy easy = TakeEasy();
  auto transfer = std::make_unique<HttpTransfer>();
  transfer->easy = easy.get();
  transfer->request = *std::move(request);
  transfer->done = std::move(job.done);
  if (easy == nullptr) {
    transfer->done(absl::ResourceExhaustedError("libcurl: no memory for a request"));
    return;
  }
  SetUp(*transfer);
  Curl().multi_add_handle(multi_, easy.get());
  active_.emplace(easy.release(), std::move(transfer));
}

HttpClient::Easy HttpClient::TakeEasy() {
  if (idle_.empty()) return Easy(Curl().easy_init());
  Easy easy = std::move(idle_.back());
  idle_.pop_back();
  Curl().easy_reset(easy.get());
  return easy;
}

void HttpClient::SetUp(HttpTransfer& transfer) const {
  CURL* const easy = transfer.easy;
  Curl().easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  Curl().easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  Curl().easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
  Curl().easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  const bool secure = transfer.request.url.starts_with("https:");
  Curl().easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, secure ? "https" : "http,https");
  Curl().easy_setopt(easy, CURLOPT_FOLLOWLOCATION, redirects_ ? 1L : 0L);
  Curl().easy_setopt(easy, CURLOPT_MAXREDIRS, kMostRedirects);
  Curl().easy_setopt(easy, CURLOPT_MAXAGE_CONN, kLongestIdle);
  // Without these options curl would take proxies from the environment.
  Curl().easy_setopt(easy, CURLOPT_PROXY, options_.proxy.c_str());
  Curl().easy_setopt(easy, CURLOPT_NOPROXY, options_.no_proxy.c_str());
  if (!options_.ca_file.empty()) {
    Curl().easy_setopt(easy, CURLOPT_CAINFO, options_.ca_file.c_str());
  }
  Curl().easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                     static_cast<long>(options_.connect_timeout.count()));
  Curl().easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
  Curl().easy_setopt(easy, CURLOPT_LOW_SPEED_TIME,
                     static_cast<long>(options_.stall_timeout.count()));
  Prepare(transfer);
}

void HttpClient::FinishReady() {
  int left = 0;
  while (CURLMsg* const message = Curl().multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    CURL* const easy = message->easy_handle;
    const CURLcode result = message->data.result;
    End(easy, TakeAnswer(*active_.at(easy), result));
  }
}

void HttpClient::End(CURL* easy, absl::StatusOr<HttpAnswer> answer) {
  Curl().multi_remove_handle(multi_, easy);
  const std::unique_ptr<HttpTransfer> transfer = std::move(active_.extract(easy).mapped());
  idle_.emplace_back(easy);
  transfer->done(std::move(answer));
}

void HttpClient::EndAll(const absl::Status& status) {
  // The waiting jobs are taken first, because a caller that is told of an end may begin a new one.
  std::multimap<Clock::time_point, Job> waiting;
  {
    const MutexLock lock(mutex_);
    waiting.swap(waiting_);
  }
  while (!active_.empty()) End(active_.begin()->first, status);
  for (auto& [when, job] : waiting) job.done(status);
}

}  // namespace cairn::object
