#include "tests/support/simulated_disk.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_format.h"

#include "engine/base/bytes.h"
#include "engine/base/hash.h"
#include "engine/base/status.h"
#include "tests/support/simulated_files.h"

namespace cairn::test {

std::string ToString(const DiskOperation& operation) {
  constexpr const char* kKinds[] = {
      "create", "write",  "truncate",       "reserve",        "allocate",         "punch",   "sync",
      "rename", "remove", "sync directory", "make directory", "remove directory", "exchange"};
  return absl::StrFormat("%d: %s %s %d+%d", operation.number,
                         kKinds[static_cast<size_t>(operation.kind)], operation.name,
                         operation.offset, operation.bytes.size());
}

size_t SomeSectors(const DiskOperation& write, Dice& dice) {
  constexpr int64_t kSector = SimulatedInode::kSector;
  const int64_t size = std::ssize(write.bytes);
  const auto any = static_cast<int64_t>(dice.Below(static_cast<size_t>(size) + 1));
  const int64_t end = (write.offset + any) / kSector * kSector;
  return static_cast<size_t>(std::clamp<int64_t>(end - write.offset, 0, size));
}

void SimulatedDisk::DieAt(int64_t number, Dice& dice) {
  Judge([number, &dice](const DiskOperation& operation) {
    if (operation.number < number) return Fate{};
    return Fate{.kind = Fate::Kind::kDie, .written = SomeSectors(operation, dice)};
  });
}

void SimulatedNames::Do(Change change) {
  for (const auto& [name, inode] : change.names) {
    if (inode == 0) {
      now.erase(name);
    } else {
      now[name] = inode;
    }
  }
  pending.push_back(std::move(change));
}

void SimulatedNames::Sync() {
  durable = now;
  pending.clear();
}

std::map<std::string, uint64_t> SimulatedNames::At(int64_t time) const {
  SimulatedNames there = {.now = durable};
  for (const Change& change : pending) {
    if (change.time < time) there.Do(change);
  }
  return there.now;
}

std::vector<uint64_t> SimulatedNames::Inodes() const {
  std::vector<uint64_t> inodes;
  for (const auto& [name, inode] : now) inodes.push_back(inode);
  for (const auto& [name, inode] : durable) inodes.push_back(inode);
  for (const Change& change : pending) {
    for (const auto& [name, inode] : change.names) inodes.push_back(inode);
  }
  return inodes;
}

uint64_t SimulatedNames::Find(const std::string& name) const {
  const auto found = now.find(name);
  return found == now.end() ? 0 : found->second;
}

SimulatedDisk::SimulatedDisk(uint64_t seed) : SimulatedDisk(seed, std::make_shared<PagePool>()) {
  AddDirectory();
  MakeRoot();
}

std::unique_ptr<SimulatedDisk> SimulatedDisk::After(const SimulatedDisk& from) {
  std::unique_ptr<SimulatedDisk> disk(new SimulatedDisk(0, from.pool_));
  disk->dice_ = from.dice_;
  disk->next_inode_ = from.next_inode_;
  disk->time_ = from.time_;
  disk->boot_ = from.boot_;
  disk->capacity_ = from.capacity_;
  return disk;
}

void SimulatedDisk::MakeRoot() {
  root_ = std::make_unique<SimulatedDirectory>(this, "", directories_.at(kRoot));
}

uint64_t SimulatedDisk::AddFile() {
  files_[next_inode_] = std::make_shared<SimulatedInode>(pool_);
  return next_inode_++;
}

uint64_t SimulatedDisk::AddDirectory() {
  directories_[next_inode_] = std::make_shared<SimulatedNames>();
  return next_inode_++;
}

std::shared_ptr<SimulatedInode> SimulatedDisk::file(uint64_t inode) const {
  const auto found = files_.find(inode);
  return found == files_.end() ? nullptr : found->second;
}

std::shared_ptr<SimulatedNames> SimulatedDisk::directory(uint64_t inode) const {
  const auto found = directories_.find(inode);
  return found == directories_.end() ? nullptr : found->second;
}

absl::Status SimulatedDisk::Do(DiskOperation operation, const Run& run, const Fail& fail) {
  if (dead_) return absl::UnavailableError(operation.name + ": the process is dead");
  operation.number = operations_++;
  const Fate fate = judge_ ? judge_(operation) : Fate();
  switch (fate.kind) {
    case Fate::Kind::kRun:
      break;
    case Fate::Kind::kSkip:
      return absl::OkStatus();
    case Fate::Kind::kDefer:
      deferred_.push_back(run);
      return absl::OkStatus();
    case Fate::Kind::kFail:
    case Fate::Kind::kDie:
      if (fail) fail(time_++, fate, dice_);
      dead_ = fate.kind == Fate::Kind::kDie;
      return absl::UnknownError(ToString(operation) + ": injected");
  }
  const absl::Status status = run(time_++);
  for (const Run& deferred : std::exchange(deferred_, {})) deferred(time_++).IgnoreError();
  return status;
}

int64_t SimulatedDisk::Free() const {
  std::set<uint64_t> named;
  for (const auto& [inode, names] : directories_) {
    for (const auto& [name, file] : names->now) named.insert(file);
  }
  int64_t free = capacity_;
  for (const auto& [inode, file] : files_) {
    const bool open = file.use_count() > 1;
    if (open || named.contains(inode)) free -= file->allocated();
  }
  return free;
}

absl::Status SimulatedDisk::CheckSpace(const SimulatedInode& inode, int64_t begin,
                                       int64_t end) const {
  if (capacity_ == INT64_MAX || inode.Missing(begin, end) * SimulatedInode::kPage <= Free()) {
    return absl::OkStatus();
  }
  return ResourceExhausted("no space left on the disk for %d bytes at %d", end - begin, begin);
}

void SimulatedDisk::DoPart(const DiskOperation& write, size_t size) {
  const auto written = file(write.inode);
  if (written != nullptr) written->Write(time_++, write.offset, write.bytes.first(size));
}

void SimulatedDisk::Evict() {
  for (const auto& [inode, file] : files_) file->Evict();
}

std::unique_ptr<SimulatedDisk> SimulatedDisk::Clone() const {
  std::unique_ptr<SimulatedDisk> clone = After(*this);
  std::vector<uint64_t> reached = {kRoot};
  for (size_t i = 0; i < reached.size(); ++i) {
    const uint64_t inode = reached[i];
    if (clone->file(inode) != nullptr || clone->directory(inode) != nullptr) continue;
    if (const auto file = this->file(inode); file != nullptr) {
      clone->files_[inode] = file->Clone();
    } else if (const auto names = directory(inode); names != nullptr) {
      clone->directories_[inode] = std::make_shared<SimulatedNames>(*names);
      const std::vector<uint64_t> more = names->Inodes();
      reached.insert(reached.end(), more.begin(), more.end());
    }
  }
  clone->MakeRoot();
  return clone;
}

std::unique_ptr<SimulatedDisk> SimulatedDisk::Made(
    const std::function<FileImage(const SimulatedInode&)>& image,
    const std::function<std::map<std::string, uint64_t>(const SimulatedNames&)>& names) const {
  std::unique_ptr<SimulatedDisk> made = After(*this);
  ++made->boot_;
  std::vector<uint64_t> reached = {kRoot};
  for (size_t i = 0; i < reached.size(); ++i) {
    const uint64_t inode = reached[i];
    if (const auto file = this->file(inode); file != nullptr) {
      made->files_[inode] = std::make_shared<SimulatedInode>(pool_, image(*file));
    } else {
      auto there = std::make_shared<SimulatedNames>();
      there->now = there->durable = names(*directories_.at(inode));
      for (const auto& [name, child] : there->now) reached.push_back(child);
      made->directories_[inode] = std::move(there);
    }
  }
  made->MakeRoot();
  return made;
}

std::vector<int64_t> SimulatedDisk::PendingTimes() const {
  std::vector<int64_t> times = {time_};
  for (const auto& [inode, file] : files_) {
    const std::vector<int64_t> more = file->PendingTimes();
    times.insert(times.end(), more.begin(), more.end());
  }
  for (const auto& [inode, names] : directories_) {
    for (const SimulatedNames::Change& change : names->pending) times.push_back(change.time);
  }
  std::ranges::sort(times);
  return times;
}

std::unique_ptr<SimulatedDisk> SimulatedDisk::PowerLossAt(int64_t time) const {
  return Made([time](const SimulatedInode& file) { return file.ImageAt(time); },
              [time](const SimulatedNames& names) { return names.At(time); });
}

std::unique_ptr<SimulatedDisk> SimulatedDisk::PowerLoss(Dice& dice) const {
  // The disk's journal keeps the changes to directories in order, or each directory for itself.
  const bool in_order = dice.Percent(50);
  const auto moment = [&] {
    const std::vector<int64_t> times = PendingTimes();
    return times[dice.Below(times.size())];
  };
  const int64_t together = moment();
  return Made(
      [&](const SimulatedInode& file) { return file.AnyImage(dice); },
      [&](const SimulatedNames& names) { return names.At(in_order ? together : moment()); });
}

void SimulatedDisk::HashDirectory(const SimulatedNames& names, uint64_t& hash) const {
  const auto mix = [&hash](uint64_t part) {
    hash = (hash ^ part) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 29;
  };
  for (const auto& [name, inode] : names.now) {
    mix(Xxh3(AsBytes(name)));
    if (const auto file = this->file(inode); file != nullptr) {
      mix(static_cast<uint64_t>(file->size()));
      mix(file->Hash());
    } else {
      HashDirectory(*directories_.at(inode), hash);
      mix(1);
    }
  }
}

uint64_t SimulatedDisk::Hash() const {
  uint64_t hash = boot_;
  HashDirectory(*directories_.at(kRoot), hash);
  return hash;
}

}  // namespace cairn::test
