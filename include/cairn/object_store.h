// Object stores, such as S3: where frames lie that many machines read and write. Programs need this
// header to run Cairn on a store of their own; `cairn/s3.h` has S3. See docs/object-stores.md.
#ifndef CAIRN_OBJECT_STORE_H_
#define CAIRN_OBJECT_STORE_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "cairn/types.h"

namespace cairn {

// An object as the store describes it.
struct ObjectInfo {
  std::string name;
  int64_t size = 0;      // of all of it, in bytes
  std::string etag;      // differs between two contents of an object; without quotes
  int64_t modified = 0;  // seconds since 1970, by the store's clock
};

// Bytes [offset, offset + size) of an object, as far as it has them. A negative offset counts from
// the end of the object, and `size` has to reach that end.
struct ObjectRange {
  int64_t offset = 0;
  int64_t size = INT64_MAX;
};

// The result of Get: the object, and those of its bytes that were asked for.
struct ObjectPart {
  ObjectInfo object;
  std::vector<std::byte> bytes;
};

// The objects of a listing, in the order of their names.
struct ObjectListing {
  std::vector<ObjectInfo> objects;
  bool more = false;  // names follow after the last one
  int64_t now = 0;    // the store's clock
};

// Counts the requests to a store since it was opened, with retries.
struct ObjectStoreStats {
  int64_t gets = 0;
  int64_t heads = 0;
  int64_t puts = 0;
  int64_t lists = 0;
  int64_t deletes = 0;
  int64_t retries = 0;  // of all these
  int64_t bytes_read = 0;
  int64_t bytes_written = 0;

  int64_t requests() const { return gets + heads + puts + lists + deletes; }
};

// A set of named objects, of which each is replaced or removed as a whole. Names are UTF-8 without
// a leading slash. What a request that succeeds has done is durable, and every later request sees
// it. Thread-safe.
//
// A request is tried again until its outcome is known, or the store's time is over. Errors:
// kNotFound; kFailedPrecondition, a condition was not met and nothing was done; kPermissionDenied;
// kDeadlineExceeded, it is not known whether a put or delete was done, or will be; kCancelled
// likewise; kUnavailable, nothing was done; kUnimplemented, the store cannot. Messages name the
// store, the object and the request.
class CAIRN_EXPORT ObjectStore {
 public:
  using GetDone = std::function<void(absl::StatusOr<ObjectPart>)>;
  using PutDone = std::function<void(absl::StatusOr<ObjectInfo>)>;

  virtual ~ObjectStore() = default;

  // Gets and puts run beside each other: they return at once and call `done` later, once, from any
  // thread, perhaps before they return. `done` must not wait for another request.
  //
  // With `if_match`, kFailedPrecondition when the object has another etag. Where the range begins
  // at or after the end of the object, no bytes.
  virtual void StartGet(std::string name, ObjectRange range, std::optional<std::string> if_match,
                        GetDone done) = 0;
  // Makes a new object; kFailedPrecondition when one is there. An object with just these bytes
  // counts as made, once an answer was lost. `bytes` must stay until `done` is called.
  virtual void StartPutIfAbsent(std::string name, Bytes bytes, PutDone done) = 0;
  // Replaces the object that has this etag; else kFailedPrecondition. As above, an object with
  // just these bytes counts as put. Where another is there once an answer was lost, ours may have
  // been there before it: kDeadlineExceeded, and the caller has to read the object. (Ceph answers
  // 500 to some puts that lose a race, so that this is no rare case.)
  virtual void StartPutIfMatch(std::string name, std::string etag, Bytes bytes, PutDone done) = 0;

  // Do what StartGet, StartPutIfAbsent and StartPutIfMatch do, and wait for the answer.
  absl::StatusOr<ObjectPart> Get(std::string name, ObjectRange range = {},
                                 std::optional<std::string> if_match = std::nullopt);
  absl::StatusOr<ObjectInfo> PutIfAbsent(std::string name, Bytes bytes);
  absl::StatusOr<ObjectInfo> PutIfMatch(std::string name, std::string etag, Bytes bytes);

  virtual absl::StatusOr<ObjectInfo> Head(const std::string& name) = 0;
  // At most `most` names that begin with `prefix` and come after `after`. The store may return
  // fewer.
  virtual absl::StatusOr<ObjectListing> List(const std::string& prefix, const std::string& after,
                                             int64_t most) = 0;
  // Removes objects; one that is not there counts as removed.
  virtual absl::Status Delete(std::span<const std::string> names) = 0;

  // Checks that the store obeys the conditions of puts: one that ignores them would lose commits.
  // The first call asks the store, by an object whose name begins with `scratch_name`, and removes
  // the object. Errors: kFailedPrecondition, with the reason, if the conditions are ignored.
  virtual absl::Status CheckConditions(const std::string& scratch_name) = 0;

  // For how long a request is tried at most; 0: not known.
  virtual std::chrono::milliseconds call_timeout() const { return std::chrono::milliseconds(0); }

  // Ends all requests, and those that follow, with kCancelled.
  virtual void Cancel() = 0;
  virtual ObjectStoreStats stats() const = 0;
  // Returns the place of the store, for people: "s3://bucket".
  virtual std::string Describe() const = 0;
};

// Objects in memory, for tests.
CAIRN_EXPORT std::shared_ptr<ObjectStore> MakeMemoryObjectStore();

struct ObjectFileOptions {
  // Memory for what was read.
  int64_t cache_bytes = int64_t{64} << 20;
  // A directory for what was read, which processes share, and most bytes in there; empty: none.
  std::string disk_cache = {};
  int64_t disk_cache_bytes = int64_t{4} << 30;
  // Requests at the same time.
  int parallel = 64;
  // How long objects stay that no generation needs any more. Readers of old snapshots are safe this
  // long, and a writer may take half of it between its first edit and its commit. All programs that
  // write a frame must be given the same. It is 0, for one program that has the frame to itself, or
  // at least four times the store's call_timeout(); else writers get kInvalidArgument.
  std::chrono::seconds grace = std::chrono::hours(24);
};

// The store as a file system, to be used as OpenOptions::file_system: objects are files that are
// read in place by ranges, and "directories" with an index are sparse frames that are written, too.
// When it and the files that it opened go, it waits for the requests that it has begun.
CAIRN_EXPORT std::shared_ptr<FileSystem> MakeObjectFileSystem(std::shared_ptr<ObjectStore> store,
                                                              ObjectFileOptions options = {});

}  // namespace cairn

#endif  // CAIRN_OBJECT_STORE_H_
