// A bucket.
#ifndef CAIRN_ENGINE_OBJECT_S3_S3_STORE_H_
#define CAIRN_ENGINE_OBJECT_S3_S3_STORE_H_

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "engine/object/s3/remote.h"

namespace cairn::object {

class S3Store final : public ObjectStore {
 public:
  explicit S3Store(std::shared_ptr<Remote> remote) : remote_(std::move(remote)) {}
  ~S3Store() override { remote_->client().Stop(); }

  void StartGet(std::string name, ObjectRange range, std::optional<std::string> if_match,
                GetDone done) override;
  void StartPutIfAbsent(std::string name, Bytes bytes, PutDone done) override;
  void StartPutIfMatch(std::string name, std::string etag, Bytes bytes, PutDone done) override;
  absl::StatusOr<ObjectInfo> Head(const std::string& name) override;
  absl::StatusOr<ObjectListing> List(const std::string& prefix, const std::string& after,
                                     int64_t most) override;
  absl::Status Delete(std::span<const std::string> names) override;
  absl::Status CheckConditions(const std::string& scratch_name) override;
  std::chrono::milliseconds call_timeout() const override {
    return remote_->client().call_timeout();
  }
  void Cancel() override { remote_->client().Cancel(); }
  ObjectStoreStats stats() const override { return remote_->stats(); }
  std::string Describe() const override { return remote_->place().description; }

 private:
  const std::shared_ptr<Remote> remote_;
  std::mutex mutex_;
  std::optional<absl::Status> conditions_;  // once that is known
};

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_S3_STORE_H_
