#include "engine/object/s3/http/retrying_client.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"

#include "engine/base/check.h"
#include "engine/base/status.h"
#include "engine/object/s3/http/s3_error.h"

namespace cairn::object {

Verdict Judge(const HttpAnswer& answer) {
  if (answer.status == 0) return answer.sent ? Verdict::kLost : Verdict::kNotDone;
  switch (answer.status) {
    case 408:
      return Verdict::kLost;
    case 429:
      return Verdict::kNotDone;
    case 501:
      return Verdict::kStands;
    default:
      break;
  }
  if (answer.status < 400) return Verdict::kStands;
  const std::string code = ParseS3Error(answer).code;
  if (code == "SlowDown" || code == "RequestTimeout" || code == "OperationAborted" ||
      code == "ConditionalRequestConflict") {
    return Verdict::kNotDone;
  }
  // 503 is here too, because proxies answer it for servers that they have lost.
  return answer.status >= 500 ? Verdict::kLost : Verdict::kStands;
}

absl::StatusOr<std::shared_ptr<RetryingClient>> RetryingClient::Open(
    const TransportOptions& options, bool redirects, std::string store) {
  const auto wait = std::make_shared<Wait>();
  HttpClient::KeepWaiting keep_waiting;
  if (options.keep_waiting) {
    keep_waiting = [wait, store = std::move(store), ask = options.keep_waiting] {
      TransportWait told{.store = store};
      {
        const MutexLock lock(wait->mutex);
        told.failure = wait->failure;
        told.time =
            std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - wait->since);
      }
      return ask(told);
    };
  }
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<HttpClient> client,
                         HttpClient::Open(options, redirects, std::move(keep_waiting)));
  return std::shared_ptr<RetryingClient>(
      new RetryingClient(options, std::move(client), std::move(wait)));
}

void RetryingClient::Start(HttpCall call) {
  {
    const MutexLock lock(wait_->mutex);
    if (wait_->calls++ == 0) wait_->since = Clock::now();
  }
  Try(std::make_shared<HttpCall>(std::move(call)), Clock::now());
}

void RetryingClient::Try(std::shared_ptr<HttpCall> call, Clock::time_point when) {
  client_->Send(
      when, [self = shared_from_this(), call] { return self->MakeTry(*call); },
      [self = shared_from_this(), call](absl::StatusOr<HttpAnswer> answer) {
        self->Finish(call, std::move(answer));
      });
}

absl::StatusOr<HttpRequest> RetryingClient::MakeTry(HttpCall& call) {
  CallHistory& history = call.history;
  const Clock::time_point now = Clock::now();
  if (!history.deadline.has_value()) history.deadline = now + options_.call_timeout;
  CAIRN_ASSIGN_OR_RETURN(HttpRequest request, call.make());
  request.deadline = std::min(*history.deadline, now + options_.request_timeout);
  ++history.tries;
  if (call.count != nullptr) ++*call.count;
  return request;
}

void RetryingClient::Finish(const std::shared_ptr<HttpCall>& call,
                            absl::StatusOr<HttpAnswer> answer) {
  CallHistory& history = call->history;
  if (!answer.ok()) {
    End(*call, AtPlace(call->title, answer.status()));
    return;
  }
  const Verdict verdict = Judge(*answer);
  if (verdict == Verdict::kStands) {
    absl::Status status;
    if (answer->IsGood() && call->check) status = call->check(*answer);
    if (status.ok()) {
      End(*call, std::move(answer));
    } else {
      history.lost = true;
      TryLater(call, *answer, std::string(status.message()));
    }
    return;
  }
  history.lost |= verdict == Verdict::kLost;
  TryLater(call, *answer, ReasonOf(*answer));
}

void RetryingClient::TryLater(const std::shared_ptr<HttpCall>& call, const HttpAnswer& answer,
                              const std::string& reason) {
  const CallHistory& history = call->history;
  const Clock::time_point when =
      Clock::now() + std::max<Clock::duration>(Pause(history.tries), answer.retry_after);
  if (history.tries <= options_.retries && when < *history.deadline) {
    ++retries_;
    {
      const MutexLock lock(wait_->mutex);
      wait_->failure = reason;
    }
    Try(call, when);
    return;
  }
  End(*call, absl::UnavailableError(absl::StrFormat("%s: given up after %d tries, the last: %s",
                                                    call->title, history.tries, reason)));
}

void RetryingClient::End(const HttpCall& call, absl::StatusOr<HttpAnswer> answer) {
  {
    const MutexLock lock(wait_->mutex);
    CAIRN_DCHECK(wait_->calls > 0);
    --wait_->calls;
    if (answer.ok()) {
      wait_->since = Clock::now();
      wait_->failure.clear();
    }
  }
  call.done(call.history, std::move(answer));
}

// The whole pause is random, so that clients which failed together do not come back together.
Clock::duration RetryingClient::Pause(int tries) {
  const int doublings = std::clamp(tries - 1, 0, 30);
  const int64_t most =
      std::min(options_.first_pause.count() << doublings, options_.longest_pause.count());
  const MutexLock lock(mutex_);
  return std::chrono::milliseconds(
      std::uniform_int_distribution<int64_t>(0, std::max<int64_t>(most, 0))(random_));
}

}  // namespace cairn::object
