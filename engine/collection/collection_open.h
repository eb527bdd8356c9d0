// Opens and makes collections.
#ifndef CAIRN_ENGINE_COLLECTION_COLLECTION_OPEN_H_
#define CAIRN_ENGINE_COLLECTION_COLLECTION_OPEN_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"

#include "cairn/collection.h"
#include "engine/collection/collection_core.h"

namespace cairn::collection {

// Opens a collection, or a store of python-blosc2.
absl::StatusOr<std::shared_ptr<CollectionCore>> OpenCollection(const std::string& path,
                                                               const CollectionOptions& options);
// Makes an empty collection.
absl::StatusOr<std::shared_ptr<CollectionCore>> CreateCollection(const std::string& path,
                                                                 const CollectionOptions& options);

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_COLLECTION_OPEN_H_
