#include "tests/support/simulated_inode.h"

#include <algorithm>
#include <cstdlib>
#include <sys/mman.h>

#include "engine/base/bytes.h"
#include "engine/base/hash.h"

namespace cairn::test {

MutableBytes PagePool::Pages::Use(int64_t begin, int64_t end) {
  used = std::max(used, end);
  return {start + begin, static_cast<size_t>(end - begin)};
}

void PagePool::Pages::Cut(int64_t end) {
  if (end >= used) return;
  FillBytes(Use(end, used), std::byte{0});
  used = end;
}

PagePool::~PagePool() {
  for (std::byte* const pages : free_) ::munmap(pages, kCapacity);
}

std::shared_ptr<PagePool::Pages> PagePool::Take() {
  Pages pages;
  if (!free_.empty()) {
    pages.start = free_.back();
    free_.pop_back();
  } else {
    void* const start = ::mmap(nullptr, kCapacity, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) std::abort();
    pages.start = static_cast<std::byte*>(start);
  }
  return {new Pages(pages), [pool = shared_from_this()](Pages* taken) {
            taken->Cut(0);
            pool->free_.push_back(taken->start);
            delete taken;
          }};
}

std::shared_ptr<PagePool::Pages> PagePool::Copy(const Pages& pages) {
  std::shared_ptr<Pages> copy = Take();
  CopyBytes(pages.bytes(), copy->Use(0, pages.used));
  return copy;
}

SimulatedInode::SimulatedInode(std::shared_ptr<PagePool> pool, FileImage image)
    : pool_(std::move(pool)),
      pages_(pool_->Copy(*image.pages)),
      size_(image.size),
      durable_(std::move(image)) {
  for (int64_t page = 0; page * kPage < pages_->used; ++page) allocated_.insert(page);
}

std::unique_ptr<SimulatedInode> SimulatedInode::Clone() const {
  auto clone = std::make_unique<SimulatedInode>(pool_, FileImage{.pages = pages_, .size = size_});
  clone->durable_ = durable_;
  clone->pending_ = pending_;
  clone->uncut_ = uncut_;
  clone->allocated_ = allocated_;
  return clone;
}

uint64_t SimulatedInode::Hash() const { return Xxh3(pages_->bytes()); }

void SimulatedInode::Add(int64_t time, int64_t begin, int64_t end) {
  Change change = {.time = time, .begin = begin / kSector * kSector, .size = size_};
  if (begin < end) {
    change.bytes = std::make_shared<const std::vector<std::byte>>(
        ToVector(pages_->At(change.begin, (end + kSector - 1) / kSector * kSector)));
  }
  pending_.push_back(std::move(change));
}

void SimulatedInode::Write(int64_t time, int64_t offset, Bytes src) {
  if (src.empty()) return;
  const int64_t end = offset + std::ssize(src);
  CopyBytes(src, pages_->Use(offset, end));
  size_ = std::max(size_, end);
  Allocate(offset, end);
  Add(time, offset, end);
}

void SimulatedInode::Resize(int64_t time, int64_t size) {
  const int64_t end = pages_->used;
  pages_->Cut(size);
  if (size <= size_) {
    allocated_.erase(allocated_.lower_bound((size + kPage - 1) / kPage), allocated_.end());
  }
  size_ = size;
  Add(time, size, end);
}

void SimulatedInode::Allocate(int64_t begin, int64_t end) {
  for (int64_t page = begin / kPage; page * kPage < end; ++page) allocated_.insert(page);
}

int64_t SimulatedInode::Missing(int64_t begin, int64_t end) const {
  int64_t missing = 0;
  for (int64_t page = begin / kPage; page * kPage < end; ++page) {
    if (!allocated_.contains(page)) ++missing;
  }
  return missing;
}

void SimulatedInode::Punch(int64_t time, int64_t offset, int64_t size) {
  const int64_t end = std::min(offset + size, pages_->used);
  for (int64_t page = (offset + kPage - 1) / kPage; (page + 1) * kPage <= offset + size; ++page) {
    allocated_.erase(page);
  }
  if (offset >= end) return;
  FillBytes(pages_->Use(offset, end), std::byte{0});
  Add(time, offset, end);
}

void SimulatedInode::Sync(SyncMode mode) {
  if (mode == SyncMode::kAll) {
    uncut_.reset();
  } else if (durable_.size > size_) {
    uncut_ = durable_;
  }
  // Syncs write whole pages, but not those that the cache takes for written already.
  const std::shared_ptr<PagePool::Pages> synced = pool_->Copy(*durable_.pages);
  synced->Cut(pages_->used);
  synced->Use(0, pages_->used);
  for (const Change& change : pending_) {
    const int64_t begin = change.begin / kPage * kPage;
    const int64_t end = std::min((change.end() + kPage - 1) / kPage * kPage, pages_->used);
    if (begin < end) CopyBytes(pages_->At(begin, end), synced->Use(begin, end));
  }
  durable_ = {.pages = synced, .size = size_};
  pending_.clear();
}

void SimulatedInode::FailSync(Dice& dice) {
  durable_ = AnyImage(dice);
  pending_.clear();
}

void SimulatedInode::Evict() {
  if (!pending_.empty()) return;
  size_ = durable_.size;
  pages_->Cut(0);
  CopyBytes(durable_.pages->bytes(), pages_->Use(0, durable_.pages->used));
}

std::vector<int64_t> SimulatedInode::PendingTimes() const {
  std::vector<int64_t> times;
  for (const Change& change : pending_) times.push_back(change.time);
  return times;
}

// Each sector gets its newest change among the first `cut` changes.
FileImage SimulatedInode::Merge(const Cuts& cuts, int64_t size) const {
  FileImage image = {.pages = pool_->Copy(*durable_.pages), .size = size};
  for (size_t i = 0; i < pending_.size(); ++i) {
    const Change& change = pending_[i];
    for (int64_t at = change.begin; at < change.end(); at += kSector) {
      if (i >= cuts.at(at / kSector)) continue;
      CopyBytes(Bytes(*change.bytes).subspan(static_cast<size_t>(at - change.begin), kSector),
                image.pages->Use(at, at + kSector));
    }
  }
  image.pages->Cut(size);
  return image;
}

FileImage SimulatedInode::ImageAt(int64_t time) const {
  size_t done = 0;
  while (done < pending_.size() && pending_[done].time < time) ++done;
  Cuts cuts;
  for (const Change& change : pending_) {
    for (int64_t sector = change.begin / kSector; sector * kSector < change.end(); ++sector) {
      cuts[sector] = done;
    }
  }
  return Merge(cuts, done == 0 ? durable_.size : pending_[done - 1].size);
}

FileImage SimulatedInode::AnyImage(Dice& dice) const {
  FileImage image = Merge(AnyCuts(dice), AnySize(dice));
  if (uncut_.has_value() && image.size == durable_.size && dice.Percent(50)) Resurrect(image);
  return image;
}

SimulatedInode::Cuts SimulatedInode::AnyCuts(Dice& dice) const {
  std::map<int64_t, std::vector<size_t>> touching;
  for (size_t i = 0; i < pending_.size(); ++i) {
    const Change& change = pending_[i];
    for (int64_t sector = change.begin / kSector; sector * kSector < change.end(); ++sector) {
      touching[sector].push_back(i + 1);
    }
  }
  // Errors show if few sectors differ from the rest, so most draws have a bias.
  constexpr size_t kNewest[] = {100, 0, 85, 0};
  constexpr size_t kOldest[] = {0, 0, 0, 60};
  const size_t bias = dice.Below(4);
  Cuts cuts;
  for (const auto& [sector, changes] : touching) {
    size_t version = dice.Below(changes.size() + 1);
    if (dice.Percent(kNewest[bias])) version = changes.size();
    if (dice.Percent(kOldest[bias])) version = 0;
    cuts[sector] = version == 0 ? 0 : changes[version - 1];
  }
  return cuts;
}

int64_t SimulatedInode::AnySize(Dice& dice) const {
  if (dice.Percent(30)) return size_;
  const size_t done = dice.Below(pending_.size() + 1);
  return done == 0 ? durable_.size : pending_[done - 1].size;
}

void SimulatedInode::Resurrect(FileImage& image) const {
  if (uncut_->size <= image.size) return;
  image.pages->Use(0, image.size);
  const int64_t end = uncut_->pages->used;
  if (image.size < end) {
    CopyBytes(uncut_->pages->At(image.size, end), image.pages->Use(image.size, end));
  }
  image.size = uncut_->size;
}

}  // namespace cairn::test
