// Gets ranges of objects, and keeps what was read.
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

// An object as it was when it was opened: what its name leads to later is another one.
struct OpenObject {
  ObjectInfo info;
  std::string key;  // name and etag
};

using ObjectPtr = std::shared_ptr<const OpenObject>;

// All that read a store through one file system share its memory, and its share of requests.
// Errors: those of the store; kAborted when the object was replaced or removed since it was opened.
// Thread-safe. In a forked child, which has no thread that brings what is on its way, every read
// gives kFailedPrecondition.
class ObjectFetcher {
 public:
  ObjectFetcher(std::shared_ptr<ObjectStore> store, const ObjectFileOptions& options);
  // Waits for the requests that run: the last one to go must not end the store from its own thread.
  ~ObjectFetcher();
  ObjectFetcher(const ObjectFetcher&) = delete;
  ObjectFetcher& operator=(const ObjectFetcher&) = delete;

  // As every read does.
  absl::Status CheckIsHere() const;

  using Opening = std::shared_future<absl::StatusOr<ObjectPtr>>;
  // The object that has the name now. One request, which gets its first bytes too.
  Opening StartOpen(const std::string& name, int64_t bytes);
  absl::StatusOr<ObjectPtr> Open(const std::string& name, int64_t bytes = kPageBytes) {
    return StartOpen(name, bytes).get();
  }

  // Begins to get what is not kept, up to twice read_ahead(). Neighbours are got together.
  void WillRead(const ObjectPtr& object, std::span<const FileRange> ranges);
  // Fills dst as far as there are bytes; how many.
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
  // Releases the mutex while a request is started.
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
