#include "tests/crash/model/sparse_directory.h"

namespace cairn::model {

void Directory::StartProcess(std::optional<uint64_t> operations) {
  operations_left_ = operations;
  running_ = true;
}

// False when the process dies before this operation.
bool Directory::Step() {
  if (!running_) return false;
  if (visit_) visit_();
  if (!operations_left_.has_value()) return true;
  running_ = *operations_left_ > 0;
  if (running_) --*operations_left_;
  return running_;
}

void Directory::Apply(const NameChange& change, Names& names) {
  if (!change.other.empty()) {
    std::swap(names[change.name], names[change.other]);
  } else if (change.file == nullptr) {
    names.erase(change.name);
  } else {
    names[change.name] = change.file;
  }
}

void Directory::Change(NameChange change) {
  if (!Step()) return;
  Apply(change, cached_);
  pending_.push_back(std::move(change));
}

void Directory::Create(const std::string& name) {
  Change({.name = name, .other = {}, .file = std::make_shared<Disk>(conditions_, random_)});
}

void Directory::Remove(const std::string& name) { Change({.name = name, .other = {}, .file = {}}); }

void Directory::Exchange(const std::string& a, const std::string& b) {
  Change({.name = a, .other = b, .file = {}});
}

void Directory::SyncNames() {
  if (!Step()) return;
  durable_ = cached_;
  pending_.clear();
}

void Directory::Write(const std::string& name, uint64_t offset, const Bytes& data) {
  if (Step()) cached_.at(name)->Write(offset, data);
}

void Directory::Resize(const std::string& name, uint64_t size) {
  if (Step()) cached_.at(name)->Resize(size);
}

void Directory::Sync(const std::string& name) {
  if (Step()) cached_.at(name)->Sync(true);
}

std::shared_ptr<const Disk> Directory::Find(const std::string& name) const {
  const auto file = cached_.find(name);
  return file == cached_.end() ? nullptr : file->second;
}

std::vector<std::string> Directory::List() const {
  std::vector<std::string> names;
  for (const auto& [name, file] : cached_) names.push_back(name);
  return names;
}

Directory::Image Directory::Cached() const {
  Image image;
  for (const auto& [name, file] : cached_) image[name] = file->cache();
  return image;
}

// Changes of index names come one after the other; where order is weak, those of chunk files come
// in any.
Directory::Image Directory::PossibleImage() {
  Names names = durable_;
  const uint64_t done = random_.Below(pending_.size() + 1);
  for (uint64_t i = 0; i < pending_.size(); ++i) {
    const bool any = conditions_.weak && pending_[i].name.starts_with("chunk");
    if (any ? random_.Percent(50) : i < done) Apply(pending_[i], names);
  }
  Image image;
  for (const auto& [name, file] : names) image[name] = file->PossibleImage();
  return image;
}

void Directory::CutPower(const Image& image) {
  ++boot_;
  pending_.clear();
  cached_.clear();
  for (const auto& [name, bytes] : image) {
    cached_[name] = std::make_shared<Disk>(Disk(conditions_, random_), bytes);
  }
  durable_ = cached_;
}

}  // namespace cairn::model
