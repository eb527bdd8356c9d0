// The keys that sign requests, renewed before they expire.
#ifndef CAIRN_ENGINE_OBJECT_S3_SIGNING_CREDENTIALS_H_
#define CAIRN_ENGINE_OBJECT_S3_SIGNING_CREDENTIALS_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"

#include "engine/base/mutex.h"
#include "engine/object/s3/http/retrying_client.h"

namespace cairn::object {

// Holds the keys. Thread-safe.
class Credentials : public std::enable_shared_from_this<Credentials> {
 public:
  // `client` reaches STS.
  Credentials(const S3Options& options, std::shared_ptr<RetryingClient> client);

  // Calls `done` once there are keys that have not expired, perhaps before it returns.
  void WhenReady(std::function<void(absl::Status)> done);
  // Returns true if there will be newer keys than these.
  bool renews() const { return identity_.has_value(); }
  // Returns the newest keys. Begins to renew them if they expire soon.
  S3Credentials Current();

 private:
  bool IsFresh() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Renew();
  void Finish(absl::StatusOr<HttpAnswer> answer);

  const std::optional<S3WebIdentity> identity_;
  const std::string region_;
  const std::shared_ptr<RetryingClient> client_;

  Mutex mutex_;
  S3Credentials keys_ ABSL_GUARDED_BY(mutex_);
  absl::Time expiry_ ABSL_GUARDED_BY(mutex_);
  bool renewing_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::function<void(absl::Status)>> waiting_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_SIGNING_CREDENTIALS_H_
