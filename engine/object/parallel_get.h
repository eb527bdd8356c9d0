// Makes many requests at the same time.
#ifndef CAIRN_ENGINE_OBJECT_PARALLEL_GET_H_
#define CAIRN_ENGINE_OBJECT_PARALLEL_GET_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/object_store.h"

namespace cairn::object {

struct GetRequest {
  std::string name;
  ObjectRange range = {};
  std::optional<std::string> if_match = {};
};

// Waits for all answers. Returns them in the order of the requests, or the first error. The store
// bounds how many requests run at the same time.
absl::StatusOr<std::vector<ObjectPart>> GetAll(ObjectStore& store,
                                               std::vector<GetRequest> requests);

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_PARALLEL_GET_H_
