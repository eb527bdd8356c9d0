// Parses URIs of objects.
#ifndef CAIRN_ENGINE_OBJECT_S3_SETTINGS_OBJECT_URI_H_
#define CAIRN_ENGINE_OBJECT_S3_SETTINGS_OBJECT_URI_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

#include "cairn/s3.h"

namespace cairn::object {

struct ObjectUri {
  std::string store;                       // "s3://bucket", or the URL of a folder
  std::optional<std::string> bucket = {};  // bucket of s3://
  std::string path = {};                   // path in the store
  std::string query = {};                  // what follows the question mark of a URL; a secret
};

// Errors: kInvalidArgument if it is not the URI of an object.
absl::StatusOr<ObjectUri> ParseObjectUri(std::string_view uri);

absl::StatusOr<std::shared_ptr<ObjectStore>> OpenStoreOf(const ObjectUri& uri, S3Options options);

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_SETTINGS_OBJECT_URI_H_
