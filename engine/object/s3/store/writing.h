// Puts objects under a condition.
#ifndef CAIRN_ENGINE_OBJECT_S3_STORE_WRITING_H_
#define CAIRN_ENGINE_OBJECT_S3_STORE_WRITING_H_

#include <memory>
#include <optional>
#include <string>

#include "engine/object/s3/store/remote.h"

namespace cairn::object {

// Puts an object. Without `if_match` there must be no object of that name. With it, it replaces the
// object with that etag.
void StartPut(const std::shared_ptr<Remote>& remote, std::string name,
              std::optional<std::string> if_match, Bytes bytes, ObjectStore::PutDone done);

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_STORE_WRITING_H_
