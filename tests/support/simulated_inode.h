// The bytes of one file, as the processes see them and as the disk holds them.
#ifndef CAIRN_TESTS_SUPPORT_SIMULATED_INODE_H_
#define CAIRN_TESTS_SUPPORT_SIMULATED_INODE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "cairn/file_system.h"
#include "cairn/types.h"
#include "tests/support/dice.h"

namespace cairn::test {

// Lends pages for the bytes of files, and uses them again. Most of the time of a test would go into
// mapping new ones for each file.
class PagePool : public std::enable_shared_from_this<PagePool> {
 public:
  // No file grows past this, so that its pages need never move.
  static constexpr int64_t kCapacity = 32 << 20;

  // All bytes after the first `used` are zero.
  struct Pages {
    Bytes bytes() const { return At(0, used); }
    Bytes At(int64_t begin, int64_t end) const {
      return {start + begin, static_cast<size_t>(end - begin)};
    }
    // Returns the bytes [begin, end), to write them.
    MutableBytes Use(int64_t begin, int64_t end);
    void Cut(int64_t end);

    std::byte* start = nullptr;
    int64_t used = 0;
  };

  ~PagePool();
  // Returns pages that are all zero. They come back when nobody holds them.
  std::shared_ptr<Pages> Take();
  std::shared_ptr<Pages> Copy(const Pages& pages);

 private:
  std::vector<std::byte*> free_;
};

// The state of a file on a disk. Images share their pages, so nobody may change the pages.
struct FileImage {
  std::shared_ptr<PagePool::Pages> pages;
  int64_t size = 0;
};

// The caller numbers the changes in the order in which they happen over all files.
class SimulatedInode {
 public:
  // A disk writes this many aligned bytes completely or not at all.
  static constexpr int64_t kSector = 512;
  static constexpr int64_t kPage = 4096;
  static constexpr int64_t kCapacity = PagePool::kCapacity;

  explicit SimulatedInode(const std::shared_ptr<PagePool>& pool)
      : SimulatedInode(pool, {.pages = pool->Take()}) {}
  SimulatedInode(std::shared_ptr<PagePool> pool, FileImage image);
  // Returns this file on another disk, with its pending changes.
  std::unique_ptr<SimulatedInode> Clone() const;

  // These read the page cache.
  int64_t size() const { return size_; }
  Bytes bytes() const { return {pages_->start, static_cast<size_t>(size_)}; }
  // Returns the pages. They stay where they are and show later writes.
  std::shared_ptr<const PagePool::Pages> pages() const { return pages_; }
  uint64_t Hash() const;
  int64_t allocated() const { return static_cast<int64_t>(allocated_.size()) * kPage; }

  // None of the changes may go past kCapacity.
  void Write(int64_t time, int64_t offset, Bytes src);
  void Resize(int64_t time, int64_t size);
  // Takes disk space for bytes that may lie past the end.
  void Allocate(int64_t begin, int64_t end);
  // Returns how many pages of the bytes have no disk space yet.
  int64_t Missing(int64_t begin, int64_t end) const;
  void Punch(int64_t time, int64_t offset, int64_t size);

  void Sync(SyncMode mode);
  // Any part of the pending changes reaches the disk, and the cache takes all of them for written.
  void FailSync(Dice& dice);
  // Makes the cache forget bytes that it takes for written and that the disk does not have. Does
  // nothing while changes are pending.
  void Evict();

  // Returns the times of the changes that no sync has made durable.
  std::vector<int64_t> PendingTimes() const;
  // Returns the file after a power cut that keeps the changes before `time`, in order.
  FileImage ImageAt(int64_t time) const;
  // Returns one of the files that a disk may leave after a power cut.
  FileImage AnyImage(Dice& dice) const;

  // Keyed by byte and holder. Byte -1 stands for all of the file, as flock takes it.
  std::map<std::pair<int64_t, const void*>, LockMode> locks = {};

 private:
  // A change to all sectors that it touches. A disk gets them complete, as the cache has them.
  struct Change {
    int64_t time = 0;
    int64_t begin = 0;
    std::shared_ptr<const std::vector<std::byte>> bytes = {};  // clones share them
    int64_t size = 0;                                          // the size of the file afterwards
    int64_t end() const { return begin + (bytes == nullptr ? 0 : std::ssize(*bytes)); }
  };
  // For each pending sector, how many of the changes the disk has made to it.
  using Cuts = std::map<int64_t, size_t>;

  // Adds a change: the cached bytes [begin, end) are new.
  void Add(int64_t time, int64_t begin, int64_t end);
  FileImage Merge(const Cuts& cuts, int64_t size) const;
  Cuts AnyCuts(Dice& dice) const;
  int64_t AnySize(Dice& dice) const;
  void Resurrect(FileImage& image) const;

  const std::shared_ptr<PagePool> pool_;
  const std::shared_ptr<PagePool::Pages> pages_;
  int64_t size_ = 0;
  std::set<int64_t> allocated_;
  FileImage durable_;
  std::vector<Change> pending_;
  // The durable file before it was cut, as long as only its data has been synced since.
  std::optional<FileImage> uncut_;
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SUPPORT_SIMULATED_INODE_H_
