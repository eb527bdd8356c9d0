// Gets ranges of objects, and keeps the bytes.
#ifndef CAIRN_ENGINE_OBJECT_OBJECT_FETCHER_H_
#define CAIRN_ENGINE_OBJECT_OBJECT_FETCHER_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "cairn/object_store.h"
#include "cairn/types.h"
#include "engine/base/mutex.h"
#include "engine/base/owner_process.h"
#include "engine/object/disk_cache.h"
#include "engine/object/page_cache.h"

namespace cairn::object {

// An object as it was when it was opened. Later its name may lead to another one.
struct OpenObject {
  ObjectInfo info;
  std::string key;  // name and etag
};

using ObjectPtr = std::shared_ptr<const OpenObject>;

// Reads for everyone who reads a store through one file system. They share its memory, and its
// share of requests. Thread-safe.
//
// Errors: those of the store; kAborted if the object was replaced or removed since it was opened;
// kFailedPrecondition for every read in a forked child, which has no thread that receives answers.
class ObjectFetcher {
 public:
  ObjectFetcher(std::shared_ptr<ObjectStore> store, const ObjectFileOptions& options);
  // Waits for the requests that run, because the last one must not end the store from its own
  // thread.
  ~ObjectFetcher();
  ObjectFetcher(const ObjectFetcher&) = delete;
  ObjectFetcher& operator=(const ObjectFetcher&) = delete;

  // Errors: those that every read in a forked child gives.
  absl::Status CheckIsHere() const;

  using Opening = std::shared_future<absl::StatusOr<ObjectPtr>>;
  // Opens the object that has the name now. Takes one request, which gets its first bytes too.
  Opening StartOpen(const std::string& name, int64_t bytes);
  absl::StatusOr<ObjectPtr> Open(const std::string& name, int64_t bytes = kPageBytes) {
    return StartOpen(name, bytes).get();
  }

  // Begins to get the bytes that are not kept, up to twice read_ahead(). Neighbours are requested
  // together.
  void WillRead(const ObjectPtr& object, std::span<const FileRange> ranges);
  // Fills dst as far as there are bytes. Returns how many.
  absl::StatusOr<size_t> Read(const ObjectPtr& object, int64_t offset, MutableBytes dst);

  int64_t read_ahead() const { return cache_.capacity() / 4; }
  const std::shared_ptr<ObjectStore>& store() const { return store_; }
  int64_t kept_bytes() const { return cache_.kept_bytes(); }

 private:
  struct Pages {
    int64_t first = 0;
    std::vector<PagePtr> pages;
    int64_t end() const { return first + std::ssize(pages); }
  };
  // Numbers of pages.
  struct Run {
    int64_t begin = 0;
    int64_t end = 0;
  };

  std::vector<Run> RunsOf(const ObjectPtr& object, std::span<const FileRange> ranges) const;
  std::vector<PagePtr> Fetch(const ObjectPtr& object, Run run);
  void StartGet(const ObjectPtr& object, Pages pages);
  absl::StatusOr<size_t> ReadDirectly(const ObjectPtr& object, int64_t offset, MutableBytes dst);
  absl::StatusOr<ObjectPtr> Opened(int64_t bytes, absl::StatusOr<ObjectPart> part);
  bool ReadFromDisk(const OpenObject& object, int64_t page, Page& dst);
  void GetWhenFree(std::string name, ObjectRange range, std::optional<std::string> if_match,
                   ObjectStore::GetDone done);
  // Starts waiting requests. Releases the mutex while a request is started.
  void StartWaiting() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const OwnerProcess owner_;
  const std::shared_ptr<ObjectStore> store_;
  PageCache cache_;
  const std::unique_ptr<DiskCache> disk_;  // may be null
  const int parallel_;

  Mutex mutex_;
  std::deque<std::function<void()>> waiting_ ABSL_GUARDED_BY(mutex_);  // requests
  int running_ ABSL_GUARDED_BY(mutex_) = 0;
  bool starting_ ABSL_GUARDED_BY(mutex_) = false;
  CondVar idle_cv_;
};

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_OBJECT_FETCHER_H_
