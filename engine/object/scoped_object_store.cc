#include "engine/object/scoped_object_store.h"

#include <vector>

namespace cairn::object {

absl::StatusOr<ObjectListing> ScopedObjectStore::List(const std::string& prefix,
                                                      const std::string& after, int64_t most) {
  absl::StatusOr<ObjectListing> listing =
      store_->List(prefix_ + prefix, after.empty() ? after : prefix_ + after, most);
  if (!listing.ok()) return listing;
  for (ObjectInfo& object : listing->objects) object.name.erase(0, prefix_.size());
  return listing;
}

absl::Status ScopedObjectStore::Delete(std::span<const std::string> names) {
  std::vector<std::string> whole;
  whole.reserve(names.size());
  for (const std::string& name : names) whole.push_back(prefix_ + name);
  return store_->Delete(whole);
}

std::string ScopedObjectStore::Describe() const {
  std::string where = store_->Describe();
  if (!prefix_.empty()) where += "/" + prefix_.substr(0, prefix_.size() - 1);
  return where;
}

}  // namespace cairn::object
