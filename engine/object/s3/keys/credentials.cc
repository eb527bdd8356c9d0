#include "engine/object/s3/keys/credentials.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

#include "engine/base/status.h"
#include "engine/base/thread.h"
#include "engine/object/s3/keys/key_answers.h"
#include "engine/object/s3/keys/security_token.h"

namespace cairn::object {

namespace {

// Keys are renewed this long before they expire, or when half of a shorter life is over.
constexpr absl::Duration kRenewBefore = absl::Minutes(5);
// Requests wait for newer keys in this time before, because clocks differ and calls take time.
constexpr absl::Duration kUrgentBefore = absl::Minutes(1);
// A renewal that failed is tried again after this time, while there are keys that serve.
constexpr absl::Duration kTryAgain = absl::Seconds(10);

thread_local const Credentials* renewed_here = nullptr;

S3KeySource SourceOf(const S3Options& options) {
  if (options.key_source || !options.web_identity.has_value()) return options.key_source;
  return WebIdentitySource(*options.web_identity, options.region);
}

}  // namespace

bool AreSame(const S3Credentials& a, const S3Credentials& b) {
  return a.access_key == b.access_key && a.secret_key == b.secret_key &&
         a.session_token == b.session_token;
}

Credentials::Credentials(const S3Options& options)
    : transport_(options.transport),
      source_(SourceOf(options)),
      keys_(options.credentials),
      expiry_(keys_.access_key.empty() && source_ ? absl::InfinitePast() : absl::InfiniteFuture()),
      renewal_(expiry_),
      urgent_(expiry_) {
  transport_.keep_waiting = [this,
                             ask = options.transport.keep_waiting](const TransportWait& wait) {
    return !cancelled_ && (!ask || ask(wait));
  };
}

void Credentials::WhenReady(std::function<void(absl::Status)> done) {
  bool begin = false;
  {
    const MutexLock lock(mutex_);
    const absl::Time now = absl::Now();
    if (source_ && !cancelled_ && now >= renewal_) {
      begin = !std::exchange(renewing_, true);
      if (now >= urgent_) waiting_.push_back(std::exchange(done, nullptr));
    }
  }
  if (done) done(absl::OkStatus());
  if (begin) Renew();
}

S3Credentials Credentials::Current() {
  const MutexLock lock(mutex_);
  return keys_;
}

void Credentials::Refuse(const S3Credentials& keys) {
  const MutexLock lock(mutex_);
  if (AreSame(keys, keys_)) expiry_ = renewal_ = urgent_ = absl::InfinitePast();
}

void Credentials::Renew() {
  {
    const MutexLock lock(mutex_);
    self_ = shared_from_this();
    ++threads_;
  }
  if (const auto thread = StartThread<&Credentials::RunAndLeave>(this); thread.has_value()) {
    ::pthread_detach(*thread);
    return;
  }
  std::shared_ptr<Credentials> self;
  {
    const MutexLock lock(mutex_);
    self = std::move(self_);
    --threads_;
  }
  Finish(absl::ResourceExhaustedError("no thread that gets keys: the system gave none"));
}

void Credentials::RunAndLeave() {
  std::shared_ptr<Credentials> self;
  {
    const MutexLock lock(mutex_);
    self = std::move(self_);
  }
  renewed_here = this;
  Finish(source_(transport_));
  renewed_here = nullptr;
  const MutexLock lock(mutex_);
  --threads_;
  left_.NotifyAll();
}

void Credentials::Take(S3LentKeys lent, absl::Time now) {
  keys_ = std::move(lent.keys);
  expiry_ = lent.expiry == std::chrono::system_clock::time_point::max()
                ? absl::InfiniteFuture()
                : absl::FromChrono(lent.expiry);
  const absl::Duration life = expiry_ - now;
  renewal_ = expiry_ - std::min(kRenewBefore, life / 2);
  urgent_ = expiry_ - std::min(kUrgentBefore, life / 4);
}

void Credentials::Finish(absl::StatusOr<S3LentKeys> lent) {
  absl::Status status = lent.ok() ? CheckKeyTexts(lent->keys) : lent.status();
  std::vector<std::function<void(absl::Status)>> waiting;
  {
    const MutexLock lock(mutex_);
    const absl::Time now = absl::Now();
    if (status.ok() && absl::FromChrono(lent->expiry) <= now) {
      status = absl::PermissionDeniedError(
          absl::StrCat("keys: those that were lent expired at ",
                       absl::FormatTime(absl::FromChrono(lent->expiry), absl::UTCTimeZone())));
    }
    if (status.ok()) {
      Take(*std::move(lent), now);
    } else if (now < expiry_) {
      status = absl::OkStatus();
      renewal_ = urgent_ = std::min(expiry_, now + kTryAgain);
    }
    renewing_ = false;
    waiting.swap(waiting_);
  }
  for (const auto& done : waiting) done(status);
}

void Credentials::Stop() {
  cancelled_ = true;
  if (::getpid() != process_) return;
  const MutexLock lock(mutex_);
  while (threads_ > (renewed_here == this ? 1 : 0)) left_.Wait(mutex_);
}

}  // namespace cairn::object
