// Makes requests that get objects or their heads.
#ifndef CAIRN_ENGINE_OBJECT_S3_STORE_READING_H_
#define CAIRN_ENGINE_OBJECT_S3_STORE_READING_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "engine/object/s3/store/remote.h"

namespace cairn::object {

// Gets an object as ObjectStore::StartGet does. `history` is that of a call which this one is a
// part of.
void StartGet(const std::shared_ptr<Remote>& remote, std::string name, ObjectRange range,
              std::optional<std::string> if_match, ObjectStore::GetDone done,
              CallHistory history = {});

void StartHead(const std::shared_ptr<Remote>& remote, std::string name,
               std::optional<std::string> if_match,
               std::function<void(absl::StatusOr<ObjectInfo>)> done, CallHistory history = {});

// Returns the value of a Range header: an empty one for all bytes, nothing for no bytes at all.
// Errors: kInvalidArgument for a range that cannot be.
absl::StatusOr<std::optional<std::string>> RangeHeader(ObjectRange range);

// The value of a header such as "bytes 0-9/100".
struct ContentRange {
  int64_t begin = 0;
  int64_t end = 0;  // after the last byte
  int64_t size = 0;
};
std::optional<ContentRange> ParseContentRange(const std::string& text);

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_STORE_READING_H_
