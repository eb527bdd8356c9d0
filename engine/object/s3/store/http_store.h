// Reads the files of a web server.
#ifndef CAIRN_ENGINE_OBJECT_S3_STORE_HTTP_STORE_H_
#define CAIRN_ENGINE_OBJECT_S3_STORE_HTTP_STORE_H_

#include <memory>
#include <string>

#include "engine/object/s3/store/remote_store.h"

namespace cairn::object {

// A web server, which is only read.
class HttpStore final : public RemoteStore {
 public:
  explicit HttpStore(std::shared_ptr<Remote> remote) : RemoteStore(std::move(remote)) {}

  void StartPutIfAbsent(std::string name, Bytes bytes, PutDone done) override;
  void StartPutIfMatch(std::string name, std::string etag, Bytes bytes, PutDone done) override;
  absl::StatusOr<ObjectListing> List(const std::string& prefix, const std::string& after,
                                     int64_t most) override;
  absl::Status Delete(std::span<const std::string> names) override;
  absl::Status CheckConditions(const std::string& scratch_name) override;

 private:
  absl::Status ReadOnly(const std::string& what) const;
};

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_STORE_HTTP_STORE_H_
