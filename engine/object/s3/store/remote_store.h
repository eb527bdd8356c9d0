// The common part of buckets and web servers: both are read.
#ifndef CAIRN_ENGINE_OBJECT_S3_STORE_REMOTE_STORE_H_
#define CAIRN_ENGINE_OBJECT_S3_STORE_REMOTE_STORE_H_

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "engine/object/s3/store/remote.h"

namespace cairn::object {

class RemoteStore : public ObjectStore {
 public:
  ~RemoteStore() override { remote_->Stop(); }

  void StartGet(std::string name, ObjectRange range, std::optional<std::string> if_match,
                GetDone done) final;
  absl::StatusOr<ObjectInfo> Head(const std::string& name) final;
  std::chrono::milliseconds call_timeout() const final { return remote_->call_timeout(); }
  void Cancel() final { remote_->Cancel(); }
  ObjectStoreStats stats() const final { return remote_->stats(); }
  std::string Describe() const final { return remote_->description(); }

 protected:
  explicit RemoteStore(std::shared_ptr<Remote> remote) : remote_(std::move(remote)) {}

  const std::shared_ptr<Remote> remote_;
};

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_STORE_REMOTE_STORE_H_
