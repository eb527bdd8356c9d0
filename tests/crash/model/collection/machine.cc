#include "tests/crash/model/collection/machine.h"

namespace cairn::model {

namespace {

void Apply(const std::vector<std::pair<std::string, FilePtr>>& change, Files& names) {
  for (const auto& [name, file] : change) {
    if (file == nullptr) {
      names.erase(name);
    } else {
      names[name] = file;
    }
  }
}

}  // namespace

void Machine::StartProcess(std::optional<uint64_t> operations, bool fails_sync) {
  process_ = {.operations_left = operations, .may_fail_sync = fails_sync};
}

bool Machine::Step() {
  if (!process_.running) return false;
  if (visit_) visit_();
  std::optional<uint64_t>& left = process_.operations_left;
  if (left.has_value() && (*left)-- == 0) process_.running = false;
  return process_.running;
}

void Machine::Write(SlotFile& file, int slot, const Cell& cell) {
  const bool was_running = process_.running;
  const bool done = Step();
  // Bytes that are written again unchanged cannot tear.
  Cell& here = file.cache[static_cast<size_t>(slot)];
  const bool may_tear = As<Header>(cell) == nullptr && As<Receipt>(cell) == nullptr && here != cell;
  const bool torn = was_running && !done && may_tear && random_.Percent(50);
  if (!done && !torn) return;
  here = torn ? nullptr : cell;
  file.pending.emplace_back(slot, torn ? nullptr : cell);
}

// The kernel forgets that these slots were not written. It may also drop them from the cache.
void Machine::FailSync(SlotFile& file) {
  sync_failed_ = true;
  const bool evicts = random_.Percent(50);
  for (const auto& [slot, cell] : file.pending) {
    const auto at = static_cast<size_t>(slot);
    if (random_.Percent(50)) file.durable[at] = cell;
  }
  if (evicts) file.cache = file.durable;
  file.pending.clear();
}

bool Machine::Sync(SlotFile& file) {
  if (!Step()) return process_.running;
  if (process_.may_fail_sync && random_.Percent(4)) {
    FailSync(file);
    return false;
  }
  for (const auto& [slot, cell] : file.pending) file.durable[static_cast<size_t>(slot)] = cell;
  file.pending.clear();
  return true;
}

FilePtr Machine::Create(const std::string& name) {
  auto file = std::make_shared<SlotFile>();
  Change({{name, file}});
  return file;
}

void Machine::Rename(const std::string& from, const std::string& to) {
  const auto found = files_.find(from);
  if (found != files_.end()) Change({{from, nullptr}, {to, found->second}});
}

void Machine::Remove(const std::string& name) { Change({{name, nullptr}}); }

void Machine::Change(const NameChange& change) {
  if (!Step()) return;
  Apply(change, files_);
  pending_names_.push_back(change);
}

void Machine::SyncNames() {
  if (!Step()) return;
  durable_files_ = files_;
  pending_names_.clear();
}

FilePtr Machine::ImageOf(const SlotFile& file) {
  auto image = std::make_shared<SlotFile>();
  image->cache = file.durable;
  constexpr uint64_t kPercent[] = {100, 0, 50, 85};  // of what was not synced
  const uint64_t percent = kPercent[random_.Below(4)];
  for (const auto& [slot, cell] : file.pending) {
    const auto at = static_cast<size_t>(slot);
    if (random_.Percent(percent)) {
      image->cache[at] = cell;
    } else if (As<Header>(cell) == nullptr && image->cache[at] != cell && random_.Percent(8)) {
      image->cache[at] = nullptr;
    }
  }
  image->durable = image->cache;
  return image;
}

Files Machine::PossibleImage() {
  Files names = durable_files_;
  const uint64_t done = random_.Below(pending_names_.size() + 1);
  for (uint64_t i = 0; i < done; ++i) Apply(pending_names_[i], names);
  std::map<const SlotFile*, FilePtr> images;
  for (auto& [name, file] : names) {
    FilePtr& image = images[file.get()];
    if (image == nullptr) image = ImageOf(*file);
    file = image;
  }
  return names;
}

void Machine::CutPower(const Files& image) {
  ++boot_;
  files_ = durable_files_ = image;
  pending_names_.clear();
  sync_failed_ = false;
}

Files CopyOf(const Files& files) {
  Files copy;
  for (const auto& [name, file] : files) copy[name] = std::make_shared<SlotFile>(*file);
  return copy;
}

}  // namespace cairn::model
