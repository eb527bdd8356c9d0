// Implements the calls that wait.
#include "cairn/object_store.h"

#include <utility>

#include "engine/base/await.h"

namespace cairn {

absl::StatusOr<ObjectPart> ObjectStore::Get(std::string name, ObjectRange range,
                                            std::optional<std::string> if_match) {
  return Await<absl::StatusOr<ObjectPart>>([&](GetDone done) {
    StartGet(std::move(name), range, std::move(if_match), std::move(done));
  });
}

absl::StatusOr<ObjectInfo> ObjectStore::PutIfAbsent(std::string name, Bytes bytes) {
  return Await<absl::StatusOr<ObjectInfo>>(
      [&](PutDone done) { StartPutIfAbsent(std::move(name), bytes, std::move(done)); });
}

absl::StatusOr<ObjectInfo> ObjectStore::PutIfMatch(std::string name, std::string etag,
                                                   Bytes bytes) {
  return Await<absl::StatusOr<ObjectInfo>>([&](PutDone done) {
    StartPutIfMatch(std::move(name), std::move(etag), bytes, std::move(done));
  });
}

}  // namespace cairn
