#include "tests/support/simulated_inode.h"

#include <algorithm>
#include <cstdlib>
#include <sys/mman.h>

#include "engine/base/bytes.h"
#include "engine/base/hash.h"

namespace cairn::test {

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
            FillBytes({taken->start, static_cast<size_t>(taken->used)}, std::byte{0});
            pool->free_.push_back(taken->start);
            delete taken;
          }};
}

SimulatedInode::SimulatedInode(std::shared_ptr<PagePool> pool, FileImage image)
    : pool_(std::move(pool)), pages_(pool_->Take()), size_(image.size), durable_(std::move(image)) {
  Use(std::ssize(durable_.bytes));
  CopyBytes(durable_.bytes, Cached(0, used_));
  for (int64_t page = 0; page * kPage < used_; ++page) allocated_.insert(page);
}

void SimulatedInode::Use(int64_t end) {
  used_ = std::max(used_, end);
  pages_->used = std::max(pages_->used, end);
}

std::unique_ptr<SimulatedInode> SimulatedInode::Clone() const {
  auto clone = std::make_unique<SimulatedInode>(
      pool_, FileImage{ToVector(bytes().first(static_cast<size_t>(used_))), size_});
  clone->durable_ = durable_;
  clone->pending_ = pending_;
  clone->uncut_ = uncut_;
  clone->allocated_ = allocated_;
  return clone;
}

uint64_t SimulatedInode::Hash() const { return Xxh3(bytes().first(static_cast<size_t>(used_))); }

void SimulatedInode::Add(int64_t time, int64_t begin, int64_t end) {
  Change change = {.time = time, .begin = begin / kSector * kSector, .size = size_};
  if (begin < end) {
    change.bytes = ToVector(Cached(change.begin, (end + kSector - 1) / kSector * kSector));
  }
  pending_.push_back(std::move(change));
}

void SimulatedInode::Write(int64_t time, int64_t offset, Bytes src) {
  if (src.empty()) return;
  const int64_t end = offset + std::ssize(src);
  CopyBytes(ToVector(src), Cached(offset, end));  // `src` may be a mapping of this very file
  size_ = std::max(size_, end);
  Use(end);
  Allocate(offset, end);
  Add(time, offset, end);
}

void SimulatedInode::Resize(int64_t time, int64_t size) {
  const int64_t end = used_;
  if (size < end) FillBytes(Cached(size, end), std::byte{0});
  used_ = std::min(used_, size);
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
  const int64_t end = std::min(offset + size, used_);
  for (int64_t page = (offset + kPage - 1) / kPage; (page + 1) * kPage <= offset + size; ++page) {
    allocated_.erase(page);
  }
  if (offset >= end) return;
  FillBytes(Cached(offset, end), std::byte{0});
  Add(time, offset, end);
}

void SimulatedInode::Sync(SyncMode mode) {
  if (mode == SyncMode::kAll) {
    uncut_.reset();
  } else if (durable_.size > size_) {
    uncut_ = durable_;
  }
  // Complete pages are written, but none that the cache takes for written already.
  FileImage synced = durable_;
  synced.size = size_;
  synced.bytes.resize(static_cast<size_t>(used_));
  for (const Change& change : pending_) {
    const int64_t begin = change.begin / kPage * kPage;
    const int64_t end = std::min((change.end() + kPage - 1) / kPage * kPage, used_);
    if (begin >= end) continue;
    CopyBytes(Cached(begin, end), MutableBytes(synced.bytes).subspan(static_cast<size_t>(begin)));
  }
  durable_ = std::move(synced);
  pending_.clear();
}

void SimulatedInode::FailSync(Dice& dice) {
  durable_ = AnyImage(dice);
  pending_.clear();
}

void SimulatedInode::Evict() {
  if (!pending_.empty()) return;
  FillBytes(Cached(0, used_), std::byte{0});
  size_ = durable_.size;
  used_ = 0;
  Use(std::ssize(durable_.bytes));
  CopyBytes(durable_.bytes, Cached(0, used_));
}

std::vector<int64_t> SimulatedInode::PendingTimes() const {
  std::vector<int64_t> times;
  for (const Change& change : pending_) times.push_back(change.time);
  return times;
}

// A sector with `cut` changes made holds what the last of them that touches it made of it.
FileImage SimulatedInode::Merge(const Cuts& cuts, int64_t size) const {
  FileImage image = durable_;
  for (size_t i = 0; i < pending_.size(); ++i) {
    const Change& change = pending_[i];
    for (int64_t at = change.begin; at < change.end(); at += kSector) {
      if (i >= cuts.at(at / kSector)) continue;
      const auto begin = static_cast<size_t>(at);
      const auto length = static_cast<size_t>(kSector);
      if (image.bytes.size() < begin + length) image.bytes.resize(begin + length);
      CopyBytes(Bytes(change.bytes).subspan(begin - static_cast<size_t>(change.begin), length),
                MutableBytes(image.bytes).subspan(begin));
    }
  }
  image.size = size;
  if (std::ssize(image.bytes) > size) image.bytes.resize(static_cast<size_t>(size));
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
  // What goes wrong goes wrong where few sectors differ from the rest, so most draws have a bias.
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
  image.bytes.resize(static_cast<size_t>(image.size));
  const auto kept = std::min(uncut_->bytes.size(), image.bytes.size());
  image.bytes.insert(image.bytes.end(), uncut_->bytes.begin() + static_cast<std::ptrdiff_t>(kept),
                     uncut_->bytes.end());
  image.size = uncut_->size;
}

}  // namespace cairn::test
