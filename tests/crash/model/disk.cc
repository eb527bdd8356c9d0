#include "tests/crash/model/disk.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "tests/crash/model/disk_image.h"

namespace cairn::model {

void Disk::StartProcess(std::optional<uint64_t> operations, bool fails_sync) {
  operations_left_ = operations;
  running_ = true;
  may_fail_sync_ = fails_sync;
  sync_failed_ = false;
  begun_sync_.reset();
}

// False when the process dies before this operation.
bool Disk::Step() {
  if (!running_) return false;
  if (visit_) visit_();
  if (!operations_left_.has_value()) return true;
  if (*operations_left_ == 0) {
    running_ = false;
    return false;
  }
  --*operations_left_;
  return true;
}

void Disk::Apply(Operation operation) {
  if (operation.resizes) {
    cache_.resize(operation.size);
  } else {
    if (operation.data.empty()) return;
    const size_t end = operation.offset + operation.data.size();
    operation.grows = end > cache_.size();
    if (operation.grows) cache_.resize(end);
    std::ranges::copy(operation.data, cache_.begin() + static_cast<ptrdiff_t>(operation.offset));
  }
  pending_.push_back(std::move(operation));
}

void Disk::Write(size_t offset, const Bytes& data) {
  const bool was_running = running_;
  Operation write{.offset = offset, .data = data};
  if (!Step()) {
    if (!was_running || random_.Percent(50)) return;
    if (offset > 0 || conditions_.kills_cut_header) {
      write.data.resize(random_.Below(data.size() + 1));
    }
  }
  Apply(std::move(write));
}

void Disk::Resize(size_t size) {
  if (Step()) Apply({.resizes = true, .size = size});
}

// Some sectors reached the disk; the cache takes all for clean.
bool Disk::FailsSync() {
  if (!may_fail_sync_ || !random_.Percent(15)) return false;
  durable_ = ChooseImage(durable_, pending_, conditions_.weak, random_);
  pending_.clear();
  sync_failed_ = true;
  running_ = false;
  return true;
}

void Disk::Sync(bool all) {
  if (!Step() || FailsSync()) return;
  WriteBack({pending_.size(), cache_}, all);
  begun_sync_.reset();
}

void Disk::BeginSync() { begun_sync_ = {pending_.size(), cache_}; }

void Disk::EndSync() {
  if (!Step() || FailsSync() || !begun_sync_.has_value()) return;
  WriteBack(*begun_sync_, false);
  begun_sync_.reset();
}

void Disk::WriteBack(const BegunSync& sync, bool all) {
  const auto& [operations, cache] = sync;
  const std::span<const Operation> written = std::span(pending_).first(operations);
  const auto shrinks = [this](const Operation& operation) {
    return operation.resizes && operation.size < durable_.size();
  };
  if (all) {
    before_shrink_.reset();
  } else if (conditions_.lazy_truncate && std::ranges::any_of(written, shrinks) &&
             durable_.size() > cache.size()) {
    before_shrink_ = durable_;
  }
  const size_t first = std::min({kSectorSize, durable_.size(), cache.size()});
  if (!std::equal(cache.begin(), cache.begin() + static_cast<ptrdiff_t>(first), durable_.begin())) {
    older_first_sectors_.push_back(Slice(durable_, 0, first));
  }
  durable_.resize(cache.size());
  const size_t page_size = conditions_.page_size;
  // Complete pages are written, as the cache has them: what was lost to a sync that failed stays
  // lost in the others.
  for (const Operation& operation : written) {
    size_t begin = operation.offset / page_size * page_size;
    size_t end = operation.offset + operation.data.size();
    if (operation.resizes) {
      begin = operation.size / page_size * page_size;
      end = cache.size();  // a shrink and a growth leave zeros
    }
    end = std::min(cache.size(), (end + page_size - 1) / page_size * page_size);
    if (begin >= end) continue;
    std::copy(cache.begin() + static_cast<ptrdiff_t>(begin),
              cache.begin() + static_cast<ptrdiff_t>(end),
              durable_.begin() + static_cast<ptrdiff_t>(begin));
  }
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<ptrdiff_t>(operations));
}

Bytes Disk::PossibleImage() {
  Bytes image = ChooseImage(durable_, pending_, conditions_.weak, random_);
  if (before_shrink_.has_value() && image.size() == durable_.size() &&
      before_shrink_->size() > image.size() && random_.Percent(50)) {
    image.insert(image.end(), before_shrink_->begin() + static_cast<ptrdiff_t>(image.size()),
                 before_shrink_->end());
  }
  return image;
}

void Disk::CutPower(const Bytes& image) {
  cache_ = durable_ = image;
  pending_.clear();
  before_shrink_.reset();
  ++boot_;
}

void Disk::Evict() {
  cache_ = durable_;
  pending_.clear();
}

}  // namespace cairn::model
