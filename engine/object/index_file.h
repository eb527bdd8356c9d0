// Shows the index of a frame in an object store, and the journal after it, as one file.
#ifndef CAIRN_ENGINE_OBJECT_INDEX_FILE_H_
#define CAIRN_ENGINE_OBJECT_INDEX_FILE_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "cairn/object_store.h"
#include "engine/base/boot_clock.h"
#include "engine/base/mutex.h"

namespace cairn::object {

// Bytes up to `index_size` are those of the index object as it was opened, in memory. After them
// the journal lies at the positions that its objects are named after. A read at the end of the last
// one asks the store for the next. The content never changes, so there is nothing to lock, and all
// of it stays readable when the index object is replaced. Read-only, thread-safe.
class IndexFile final : public File {
 public:
  // `store` has the names of the frame's prefix. `read_ahead` is that of its chunks.
  static absl::StatusOr<std::unique_ptr<IndexFile>> Open(std::shared_ptr<ObjectStore> store,
                                                         int64_t read_ahead);
  // Makes the file of an index that was the frame's at that time, such as one that the caller put.
  IndexFile(std::shared_ptr<ObjectStore> store, std::vector<std::byte> index, std::string etag,
            int64_t read_ahead, BootClock::time_point seen_at);

  const std::string& etag() const { return etag_; }
  BootClock::time_point seen_at() const { return seen_at_; }
  int64_t index_size() const { return std::ssize(*index_); }

  absl::StatusOr<int64_t> Size() const override;
  absl::StatusOr<int64_t> AllocatedSize() const override { return index_size(); }
  int64_t read_ahead() const override { return read_ahead_; }
  absl::Status ReadAt(int64_t offset, MutableBytes dst) const override;
  absl::StatusOr<size_t> ReadSome(int64_t offset, MutableBytes dst) const override;
  absl::StatusOr<std::shared_ptr<const Mapping>> Map(int64_t offset, int64_t size,
                                                     int64_t room) const override;
  absl::StatusOr<FileIdentity> Identity() const override;

  absl::Status WriteAt(int64_t offset, Bytes src) override;
  absl::Status Truncate(int64_t size) override;
  absl::Status Reserve(int64_t size) override;
  absl::Status PunchHole(int64_t offset, int64_t size) override;
  absl::Status Sync(SyncMode /*mode*/) override { return absl::OkStatus(); }
  absl::Status LockByte(int64_t /*offset*/, LockMode /*mode*/) override { return absl::OkStatus(); }
  absl::Status UnlockByte(int64_t /*offset*/) override { return absl::OkStatus(); }
  absl::StatusOr<bool> IsLocked(int64_t /*offset*/, int64_t /*count*/) const override {
    return false;
  }
  absl::Status LockWhole() override { return absl::OkStatus(); }

 private:
  // An object of the journal. Its bytes are dropped if there are too many, and read again when
  // needed.
  struct Segment {
    int64_t size = 0;
    std::shared_ptr<const std::vector<std::byte>> bytes;
  };
  using Segments = std::map<int64_t, Segment>;  // by position

  absl::Status IsReadOnly() const;
  // Returns the segment that has the byte, or the end if it is not among those that were seen.
  Segments::iterator FindKnown(int64_t offset) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns the segment that has the byte, or the end if the journal ends before it.
  absl::StatusOr<Segments::iterator> Find(int64_t offset) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Discover(int64_t offset) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status List(int64_t offset) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Load(Segments::iterator first) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Forget(Segments::iterator kept) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::shared_ptr<ObjectStore> store_;
  const std::shared_ptr<const std::vector<std::byte>> index_;
  const std::string etag_;
  const int64_t read_ahead_;
  const BootClock::time_point seen_at_;

  // The fields below are a cache of the store.
  mutable Mutex mutex_;
  mutable Segments segments_ ABSL_GUARDED_BY(mutex_);
  mutable int64_t held_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  mutable int found_one_by_one_ ABSL_GUARDED_BY(mutex_) = 0;  // since the last listing
  // The position where the last listing ended, or -1 once a read has begun there.
  mutable int64_t listed_end_ ABSL_GUARDED_BY(mutex_) = -1;
};

// Returns the identity of a file with this etag.
FileIdentity IdentityOf(const std::string& etag);

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_INDEX_FILE_H_
