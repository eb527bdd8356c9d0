#include "engine/object/s3/store/remote_store.h"

#include "engine/base/await.h"
#include "engine/object/s3/store/reading.h"

namespace cairn::object {

void RemoteStore::StartGet(std::string name, ObjectRange range, std::optional<std::string> if_match,
                           GetDone done) {
  object::StartGet(remote_, std::move(name), range, std::move(if_match), std::move(done));
}

absl::StatusOr<ObjectInfo> RemoteStore::Head(const std::string& name) {
  return Await<absl::StatusOr<ObjectInfo>>(
      [&](auto done) { StartHead(remote_, name, std::nullopt, std::move(done)); });
}

}  // namespace cairn::object
