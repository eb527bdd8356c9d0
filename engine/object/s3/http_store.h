// The files of a web server.
#ifndef CAIRN_ENGINE_OBJECT_S3_HTTP_STORE_H_
#define CAIRN_ENGINE_OBJECT_S3_HTTP_STORE_H_

#include <memory>
#include <string>

#include "engine/object/s3/remote.h"

namespace cairn::object {

// For reading.
class HttpStore final : public ObjectStore {
 public:
  explicit HttpStore(std::shared_ptr<Remote> remote) : remote_(std::move(remote)) {}
  ~HttpStore() override { remote_->client().Stop(); }

  void StartGet(std::string name, ObjectRange range, std::optional<std::string> if_match,
                GetDone done) override;
  void StartPutIfAbsent(std::string name, Bytes bytes, PutDone done) override;
  void StartPutIfMatch(std::string name, std::string etag, Bytes bytes, PutDone done) override;
  absl::StatusOr<ObjectInfo> Head(const std::string& name) override;
  absl::StatusOr<ObjectListing> List(const std::string& prefix, const std::string& after,
                                     int64_t most) override;
  absl::Status Delete(std::span<const std::string> names) override;
  absl::Status CheckConditions(const std::string& scratch_name) override;
  void Cancel() override { remote_->client().Cancel(); }
  ObjectStoreStats stats() const override { return remote_->stats(); }
  std::string Describe() const override { return remote_->place().description; }

 private:
  absl::Status ReadOnly(const std::string& what) const;

  const std::shared_ptr<Remote> remote_;
};

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_HTTP_STORE_H_
