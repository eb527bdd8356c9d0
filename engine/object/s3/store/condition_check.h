// Finds out whether a store respects the conditions of puts.
#ifndef CAIRN_ENGINE_OBJECT_S3_STORE_CONDITION_CHECK_H_
#define CAIRN_ENGINE_OBJECT_S3_STORE_CONDITION_CHECK_H_

#include <string>

#include "engine/object/s3/store/remote.h"

namespace cairn::object {

// Does what ObjectStore::CheckConditions asks. Finds out whether If-Match takes etags in quotes,
// and sets that in `remote`.
absl::Status ProbeConditions(ObjectStore& store, Remote& remote, const std::string& scratch_name);

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_STORE_CONDITION_CHECK_H_
