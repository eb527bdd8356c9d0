// ObjectStore: a store such as S3, in which many machines read and write frames. Programs need this
// header only to run Cairn on a store of their own. `cairn/s3.h` has S3. See docs/object-stores.md.
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

// Describes an object, as the store does.
struct ObjectInfo {
  std::string name;
  int64_t size = 0;      // bytes of the whole object
  std::string etag;      // differs between two contents of an object; without quotes
  int64_t modified = 0;  // seconds since 1970, by the store's clock
};

// Bytes [offset, offset + size) of an object, up to its end. A negative offset counts from the end
// of the object; `size` must then reach that end.
struct ObjectRange {
  int64_t offset = 0;
  int64_t size = INT64_MAX;
};

// The result of Get: the object, and the bytes of the range that was asked for.
struct ObjectPart {
  ObjectInfo object;
  std::vector<std::byte> bytes;
};

// The objects of a listing, in the order of their names.
struct ObjectListing {
  std::vector<ObjectInfo> objects;
  bool more = false;  // more names follow after the last one
  int64_t now = 0;    // seconds since 1970, by the store's clock
};

// Counts the requests to a store since it was opened, including retries.
struct ObjectStoreStats {
  int64_t gets = 0;
  int64_t heads = 0;
  int64_t puts = 0;
  int64_t lists = 0;
  int64_t deletes = 0;
  int64_t retries = 0;  // requests of any kind that were made again
  int64_t bytes_read = 0;
  int64_t bytes_written = 0;

  // Returns the number of all requests.
  int64_t requests() const { return gets + heads + puts + lists + deletes; }
};

// A set of named objects. Each object is replaced or removed as a whole. Names are UTF-8 without a
// leading slash. What a successful request did is durable, and every later request sees it. An
// ObjectStore is thread-safe.
//
// A request is tried again until its outcome is known, or until the store's time is over. Messages
// name the store, the object and the request.
//
// Errors of all requests:
//   kNotFound if the object or its bucket does not exist.
//   kFailedPrecondition if a condition was not met. Nothing was done.
//   kPermissionDenied if the store refuses the credentials.
//   kDeadlineExceeded if it is unknown whether a put or delete was done, or will be done.
//   kCancelled if Cancel or the program ended the request. It is then unknown whether a put or
//     delete was done, or will be done.
//   kUnavailable if the store gave no answer in time, or only errors. Nothing was done.
//   kUnimplemented if the store does not support the request.
//   kInvalidArgument if the name, the range or the size is not valid, or if the store refuses the
//     request for another reason.
//   kDataLoss if an answer of the store cannot be read.
class CAIRN_EXPORT ObjectStore {
 public:
  using GetDone = std::function<void(absl::StatusOr<ObjectPart>)>;
  using PutDone = std::function<void(absl::StatusOr<ObjectInfo>)>;

  virtual ~ObjectStore() = default;

  // The calls that begin with "Start" run at the same time as each other. They return at once, and
  // call `done` once, from any thread, perhaps even before they return. `done` must not wait for
  // another request.
  //
  // Reads a range of an object. Returns no bytes if the range begins at or after its end.
  // Errors: kFailedPrecondition if `if_match` is given and the object has another etag.
  virtual void StartGet(std::string name, ObjectRange range, std::optional<std::string> if_match,
                        GetDone done) = 0;
  // Makes a new object. `bytes` must stay alive until `done` is called. If an answer was lost, an
  // existing object with exactly these bytes counts as made by this call.
  // Errors: kFailedPrecondition if the object exists.
  virtual void StartPutIfAbsent(std::string name, Bytes bytes, PutDone done) = 0;
  // Replaces the object if it has this etag. `bytes` must stay alive until `done` is called. If an
  // answer was lost, an object with exactly these bytes counts as put by this call.
  // Errors: kFailedPrecondition if the object has another etag or does not exist; kDeadlineExceeded
  // if an answer was lost and the object now has another content. The bytes of this call may have
  // been there in between, so the caller must read the object. This is not rare: Ceph answers 500
  // to some puts that lose a race.
  virtual void StartPutIfMatch(std::string name, std::string etag, Bytes bytes, PutDone done) = 0;

  // Get, PutIfAbsent and PutIfMatch do what StartGet, StartPutIfAbsent and StartPutIfMatch do, and
  // wait for the answer.
  absl::StatusOr<ObjectPart> Get(std::string name, ObjectRange range = {},
                                 std::optional<std::string> if_match = std::nullopt);
  absl::StatusOr<ObjectInfo> PutIfAbsent(std::string name, Bytes bytes);
  absl::StatusOr<ObjectInfo> PutIfMatch(std::string name, std::string etag, Bytes bytes);

  // Describes an object without reading it.
  virtual absl::StatusOr<ObjectInfo> Head(const std::string& name) = 0;
  // Lists up to `most` objects whose names begin with `prefix` and come after `after`. The store
  // may return fewer.
  virtual absl::StatusOr<ObjectListing> List(const std::string& prefix, const std::string& after,
                                             int64_t most) = 0;
  // Removes objects. An object that does not exist counts as removed.
  virtual absl::Status Delete(std::span<const std::string> names) = 0;

  // Checks that the store obeys the conditions of puts. A store that ignores them would lose
  // commits. The first call asks the store: it makes objects whose names begin with `scratch_name`,
  // and removes them.
  // Errors: kFailedPrecondition, with the reason, if the store ignores the conditions, or refuses
  // puts whose condition is met.
  virtual absl::Status CheckConditions(const std::string& scratch_name) = 0;

  // Returns how long a request is tried at most. 0 means unknown.
  virtual std::chrono::milliseconds call_timeout() const { return std::chrono::milliseconds(0); }

  // Ends all requests with kCancelled, including those that follow.
  virtual void Cancel() = 0;
  virtual ObjectStoreStats stats() const = 0;
  // Returns where the store is, for people: "s3://bucket".
  virtual std::string Describe() const = 0;
};

// Makes a store of objects in memory, for tests.
CAIRN_EXPORT std::shared_ptr<ObjectStore> MakeMemoryObjectStore();

// Says how MakeObjectFileSystem reads and keeps objects.
struct ObjectFileOptions {
  // Bytes of memory that keep what was read.
  int64_t cache_bytes = int64_t{64} << 20;
  // A directory that keeps what was read. Processes share it. Empty means none.
  std::string disk_cache = {};
  // Most bytes in that directory.
  int64_t disk_cache_bytes = int64_t{4} << 30;
  // Most requests at the same time.
  int parallel = 64;
  // How long objects stay that no generation needs any more. Readers of old snapshots are safe this
  // long. A writer may take half of it between its first edit and its commit; a later commit gets
  // kAborted. All programs that write a frame must use the same value.
  //
  // The value must be at least four times the store's call_timeout(), else writers get
  // kInvalidArgument. 0 is allowed too, for one program that has the frame to itself.
  std::chrono::seconds grace = std::chrono::hours(24);
};

// Shows a store as a file system, for OpenOptions::file_system. Objects are files, which are read
// in place by ranges. "Directories" with an index are sparse frames, which can be written, too.
// When the file system and the files that it opened are destroyed, it waits for its requests to
// end.
//
// A forked child must open the store again: there reads return kFailedPrecondition.
CAIRN_EXPORT std::shared_ptr<FileSystem> MakeObjectFileSystem(std::shared_ptr<ObjectStore> store,
                                                              ObjectFileOptions options = {});

}  // namespace cairn

#endif  // CAIRN_OBJECT_STORE_H_
