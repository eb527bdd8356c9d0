#include "engine/object/memory_object_store.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "absl/strings/str_format.h"

#include "engine/base/hash.h"
#include "engine/base/status.h"

namespace cairn::object {

namespace {

absl::Status NoObject(const std::string& name) {
  return absl::NotFoundError("memory: no object " + name);
}

// Returns the part of an object of `size` bytes that a range asks for.
ObjectRange Clip(ObjectRange range, int64_t size) {
  const int64_t begin =
      range.offset < 0 ? std::max<int64_t>(size + range.offset, 0) : std::min(range.offset, size);
  return {.offset = begin, .size = std::min(range.size, size - begin)};
}

}  // namespace

void MemoryObjectStore::SetNow(int64_t now) {
  const MutexLock lock(mutex_);
  now_ = now;
}

int64_t MemoryObjectStore::Now() const {
  if (now_.has_value()) return *now_;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

absl::Status MemoryObjectStore::CheckRunning() const {
  return cancelled_ ? absl::CancelledError("memory: cancelled") : absl::OkStatus();
}

absl::StatusOr<ObjectPart> MemoryObjectStore::Read(const std::string& name, ObjectRange range,
                                                   const std::optional<std::string>& if_match) {
  const MutexLock lock(mutex_);
  CAIRN_RETURN_IF_ERROR(CheckRunning());
  ++stats_.gets;
  const auto found = objects_.find(name);
  if (found == objects_.end()) return NoObject(name);
  const Object& object = found->second;
  if (if_match.has_value() && *if_match != object.info.etag) {
    return absl::FailedPreconditionError("memory: object " + name + " has changed");
  }
  const ObjectRange part = Clip(range, object.info.size);
  const auto bytes = std::span(object.bytes)
                         .subspan(static_cast<size_t>(part.offset), static_cast<size_t>(part.size));
  stats_.bytes_read += part.size;
  return ObjectPart{.object = object.info, .bytes = {bytes.begin(), bytes.end()}};
}

absl::StatusOr<ObjectInfo> MemoryObjectStore::Write(const std::string& name, Bytes bytes,
                                                    const std::optional<std::string>& if_match) {
  const MutexLock lock(mutex_);
  CAIRN_RETURN_IF_ERROR(CheckRunning());
  ++stats_.puts;
  const auto found = objects_.find(name);
  if (if_match.has_value() ? found == objects_.end() || found->second.info.etag != *if_match
                           : found != objects_.end()) {
    return absl::FailedPreconditionError(
        if_match.has_value() ? "memory: object " + name + " is not the one to replace"
                             : "memory: object " + name + " is there already");
  }
  Object object = {.bytes = {bytes.begin(), bytes.end()},
                   .info = {.name = name,
                            .size = std::ssize(bytes),
                            .etag = absl::StrFormat("%016x", Xxh3(bytes)),
                            .modified = Now()}};
  stats_.bytes_written += object.info.size;
  return (objects_[name] = std::move(object)).info;
}

void MemoryObjectStore::StartGet(std::string name, ObjectRange range,
                                 std::optional<std::string> if_match, GetDone done) {
  done(Read(name, range, if_match));
}

void MemoryObjectStore::StartPutIfAbsent(std::string name, Bytes bytes, PutDone done) {
  done(Write(name, bytes, std::nullopt));
}

void MemoryObjectStore::StartPutIfMatch(std::string name, std::string etag, Bytes bytes,
                                        PutDone done) {
  done(Write(name, bytes, std::move(etag)));
}

absl::StatusOr<ObjectInfo> MemoryObjectStore::Head(const std::string& name) {
  const MutexLock lock(mutex_);
  CAIRN_RETURN_IF_ERROR(CheckRunning());
  ++stats_.heads;
  const auto found = objects_.find(name);
  if (found == objects_.end()) return NoObject(name);
  return found->second.info;
}

absl::StatusOr<ObjectListing> MemoryObjectStore::List(const std::string& prefix,
                                                      const std::string& after, int64_t most) {
  const MutexLock lock(mutex_);
  CAIRN_RETURN_IF_ERROR(CheckRunning());
  ++stats_.lists;
  ObjectListing listing{.objects = {}, .more = false, .now = Now()};
  auto at = after < prefix ? objects_.lower_bound(prefix) : objects_.upper_bound(after);
  for (; at != objects_.end() && at->first.starts_with(prefix); ++at) {
    if (std::ssize(listing.objects) == most) {
      listing.more = true;
      break;
    }
    listing.objects.push_back(at->second.info);
  }
  return listing;
}

absl::Status MemoryObjectStore::Delete(std::span<const std::string> names) {
  const MutexLock lock(mutex_);
  CAIRN_RETURN_IF_ERROR(CheckRunning());
  ++stats_.deletes;
  for (const std::string& name : names) objects_.erase(name);
  return absl::OkStatus();
}

void MemoryObjectStore::Cancel() {
  const MutexLock lock(mutex_);
  cancelled_ = true;
}

ObjectStoreStats MemoryObjectStore::stats() const {
  const MutexLock lock(mutex_);
  return stats_;
}

}  // namespace cairn::object

namespace cairn {

std::shared_ptr<ObjectStore> MakeMemoryObjectStore() {
  return std::make_shared<object::MemoryObjectStore>();
}

}  // namespace cairn
