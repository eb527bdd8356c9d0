#include "engine/object/scoped_object_store.h"

#include <vector>

#include "engine/base/status.h"

namespace cairn::object {

namespace {

void Strip(size_t prefix, ObjectInfo& info) {
  info.name.erase(0, std::min(prefix, info.name.size()));
}

}  // namespace

void ScopedObjectStore::StartGet(std::string name, ObjectRange range,
                                 std::optional<std::string> if_match, GetDone done) {
  auto scoped = [prefix = prefix_.size(), done = std::move(done)](absl::StatusOr<ObjectPart> part) {
    if (part.ok()) Strip(prefix, part->object);
    done(std::move(part));
  };
  store_->StartGet(prefix_ + name, range, std::move(if_match), std::move(scoped));
}

ObjectStore::PutDone ScopedObjectStore::Scoped(PutDone done) const {
  return [prefix = prefix_.size(), done = std::move(done)](absl::StatusOr<ObjectInfo> info) {
    if (info.ok()) Strip(prefix, *info);
    done(std::move(info));
  };
}

void ScopedObjectStore::StartPutIfAbsent(std::string name, Bytes bytes, PutDone done) {
  store_->StartPutIfAbsent(prefix_ + name, bytes, Scoped(std::move(done)));
}

void ScopedObjectStore::StartPutIfMatch(std::string name, std::string etag, Bytes bytes,
                                        PutDone done) {
  store_->StartPutIfMatch(prefix_ + name, std::move(etag), bytes, Scoped(std::move(done)));
}

absl::StatusOr<ObjectInfo> ScopedObjectStore::Head(const std::string& name) {
  CAIRN_ASSIGN_OR_RETURN(ObjectInfo info, store_->Head(prefix_ + name));
  Strip(prefix_.size(), info);
  return info;
}

absl::StatusOr<ObjectListing> ScopedObjectStore::List(const std::string& prefix,
                                                      const std::string& after, int64_t most) {
  CAIRN_ASSIGN_OR_RETURN(
      ObjectListing listing,
      store_->List(prefix_ + prefix, after.empty() ? after : prefix_ + after, most));
  for (ObjectInfo& info : listing.objects) Strip(prefix_.size(), info);
  return listing;
}

absl::Status ScopedObjectStore::Delete(std::span<const std::string> names) {
  std::vector<std::string> full;
  for (const std::string& name : names) full.push_back(prefix_ + name);
  return store_->Delete(full);
}

std::string ScopedObjectStore::Describe() const {
  return store_->Describe() + "/" + prefix_.substr(0, prefix_.size() - 1);
}

}  // namespace cairn::object
