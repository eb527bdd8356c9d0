// A bucket of S3.
#ifndef CAIRN_ENGINE_OBJECT_S3_STORE_S3_STORE_H_
#define CAIRN_ENGINE_OBJECT_S3_STORE_S3_STORE_H_

#include <memory>
#include <optional>
#include <string>

#include "engine/base/mutex.h"
#include "engine/object/s3/store/remote_store.h"

namespace cairn::object {

class S3Store final : public RemoteStore {
 public:
  explicit S3Store(std::shared_ptr<Remote> remote) : RemoteStore(std::move(remote)) {}

  void StartPutIfAbsent(std::string name, Bytes bytes, PutDone done) override;
  void StartPutIfMatch(std::string name, std::string etag, Bytes bytes, PutDone done) override;
  absl::StatusOr<ObjectListing> List(const std::string& prefix, const std::string& after,
                                     int64_t most) override;
  absl::Status Delete(std::span<const std::string> names) override;
  absl::Status CheckConditions(const std::string& scratch_name) override;

 private:
  Mutex mutex_;
  std::optional<absl::Status> conditions_ ABSL_GUARDED_BY(mutex_);  // set once that is known
};

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_STORE_S3_STORE_H_
