// The keys that sign requests, renewed before they expire and after the store has refused them.
#ifndef CAIRN_ENGINE_OBJECT_S3_KEYS_CREDENTIALS_H_
#define CAIRN_ENGINE_OBJECT_S3_KEYS_CREDENTIALS_H_

#include <atomic>
#include <functional>
#include <memory>
#include <sys/types.h>
#include <unistd.h>
#include <vector>

#include "absl/time/time.h"

#include "cairn/s3.h"
#include "engine/base/mutex.h"

namespace cairn::object {

// Holds the keys. A thread gets newer ones, while all others wait for that one or use the keys from
// before as long as they can. Thread-safe.
class Credentials : public std::enable_shared_from_this<Credentials> {
 public:
  explicit Credentials(const S3Options& options);

  // Calls `done` once there are keys that have not expired, perhaps before it returns. Begins to
  // renew them if they expire soon.
  void WhenReady(std::function<void(absl::Status)> done);
  // Returns true if there may be newer keys than these.
  bool renews() const { return source_ != nullptr; }
  S3Credentials Current();
  // Takes the keys for expired, unless there are newer ones already.
  void Refuse(const S3Credentials& keys);
  // Ends a renewal, and begins no other.
  void Cancel() { cancelled_ = true; }
  // Cancels, and returns when no callback runs any more, unless a callback calls it.
  void Stop();

 private:
  void Renew();
  void RunAndLeave();
  void Finish(absl::StatusOr<S3LentKeys> lent);
  void Take(S3LentKeys lent, absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const pid_t process_ = ::getpid();
  TransportOptions transport_;
  const S3KeySource source_;
  std::atomic<bool> cancelled_ = false;

  Mutex mutex_;
  S3Credentials keys_ ABSL_GUARDED_BY(mutex_);
  absl::Time expiry_ ABSL_GUARDED_BY(mutex_);
  absl::Time renewal_ ABSL_GUARDED_BY(mutex_);  // from then on newer ones are looked for
  absl::Time urgent_ ABSL_GUARDED_BY(mutex_);   // from then on requests wait for them
  bool renewing_ ABSL_GUARDED_BY(mutex_) = false;
  int threads_ ABSL_GUARDED_BY(mutex_) = 0;
  CondVar left_;
  std::shared_ptr<Credentials> self_ ABSL_GUARDED_BY(mutex_);  // the thread takes it over
  std::vector<std::function<void(absl::Status)>> waiting_ ABSL_GUARDED_BY(mutex_);
};

bool AreSame(const S3Credentials& a, const S3Credentials& b);

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_KEYS_CREDENTIALS_H_
