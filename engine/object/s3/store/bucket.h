// Makes requests about many objects.
#ifndef CAIRN_ENGINE_OBJECT_S3_STORE_BUCKET_H_
#define CAIRN_ENGINE_OBJECT_S3_STORE_BUCKET_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/object/s3/store/remote.h"

namespace cairn::object {

void StartList(const std::shared_ptr<Remote>& remote, const std::string& prefix,
               const std::string& after, int64_t most,
               std::function<void(absl::StatusOr<ObjectListing>)> done);

// A request deletes at most this many names.
inline constexpr size_t kMostDeleted = 1000;
void StartDelete(const std::shared_ptr<Remote>& remote, std::span<const std::string> names,
                 std::function<void(absl::Status)> done);

// Parses a listing, without the store's time. Errors: kDataLoss if it is not one; kUnimplemented if
// its names are not in order.
absl::StatusOr<ObjectListing> ParseListing(Bytes xml);
// Errors: kUnavailable for failures that pass; kPermissionDenied for others.
absl::Status ParseDeleted(Bytes xml);

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_STORE_BUCKET_H_
