// The objects that a copy makes, so that it can remove them and no others.
#ifndef CAIRN_ENGINE_COLLECTION_OBJECTS_OWN_OBJECTS_H_
#define CAIRN_ENGINE_COLLECTION_OBJECTS_OWN_OBJECTS_H_

#include <memory>

#include "absl/status/status.h"

#include "engine/collection/members/site.h"

namespace cairn::collection {

// Checks that a collection can be made there: nothing is there but what copies that died have left,
// or what others that live are making. That has names of its own, and nothing leads to it. Errors:
// kAlreadyExists.
absl::Status CheckIsFree(const Site& site);

// Notes the objects that are made at a site. Other copies may make theirs beside them. Thread-safe.
class OwnObjects {
 public:
  // The names that were noted, which the stores at the site share.
  class Names;

  explicit OwnObjects(const Site& site);

  // Returns the same place, with files that note what is made through them.
  const Site& site() const { return site_; }
  // Removes what was made and is still there.
  absl::Status Remove();

 private:
  Site site_;
  const std::shared_ptr<Names> names_;
};

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_OBJECTS_OWN_OBJECTS_H_
