#include "engine/collection/members/known_objects.h"

#include <algorithm>
#include <span>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/hash.h"
#include "engine/base/status.h"

namespace cairn::collection {

namespace {

// The bytes of a large object take more time than its request.
constexpr int64_t kMostOfOne = int64_t{16} << 10;
// This is enough for the indexes and the last pages of keys of some hundred arrays of Zarr.
constexpr int64_t kMostOfAll = int64_t{8} << 20;

class KnownFile final : public File {
 public:
  KnownFile(std::string name, KnownObjects::BytesPtr bytes, int64_t read_ahead)
      : name_(std::move(name)), bytes_(std::move(bytes)), read_ahead_(read_ahead) {}

  absl::StatusOr<int64_t> Size() const override { return std::ssize(*bytes_); }
  absl::StatusOr<int64_t> AllocatedSize() const override { return Size(); }
  int64_t read_ahead() const override { return read_ahead_; }
  bool is_immutable() const override { return true; }
  absl::Status ReadAt(int64_t offset, MutableBytes dst) const override {
    CAIRN_ASSIGN_OR_RETURN(const size_t got, ReadSome(offset, dst));
    if (got == dst.size()) return absl::OkStatus();
    return OutOfRange("%s: expected %d bytes from byte %d on, got %d", name_, dst.size(), offset,
                      got);
  }
  absl::StatusOr<size_t> ReadSome(int64_t offset, MutableBytes dst) const override {
    const auto begin = static_cast<size_t>(std::clamp<int64_t>(offset, 0, std::ssize(*bytes_)));
    const Bytes rest = Bytes(*bytes_).subspan(begin);
    const size_t count = std::min(rest.size(), dst.size());
    CopyBytes(rest.first(count), dst);
    return count;
  }
  absl::StatusOr<FileIdentity> Identity() const override {
    return FileIdentity{.device = 0, .inode = Xxh3(std::as_bytes(std::span(name_)))};
  }

  absl::StatusOr<std::shared_ptr<const Mapping>> Map(int64_t /*offset*/, int64_t /*size*/,
                                                     int64_t /*room*/) const override {
    return IsReadOnly();
  }
  absl::Status WriteAt(int64_t /*offset*/, Bytes /*src*/) override { return IsReadOnly(); }
  absl::Status Truncate(int64_t /*size*/) override { return IsReadOnly(); }
  absl::Status Reserve(int64_t /*size*/) override { return IsReadOnly(); }
  absl::Status PunchHole(int64_t /*offset*/, int64_t /*size*/) override { return IsReadOnly(); }
  absl::Status Sync(SyncMode /*mode*/) override { return absl::OkStatus(); }
  absl::Status LockByte(int64_t /*offset*/, LockMode /*mode*/) override { return absl::OkStatus(); }
  absl::Status UnlockByte(int64_t /*offset*/) override { return absl::OkStatus(); }
  absl::StatusOr<bool> IsLocked(int64_t /*offset*/, int64_t /*count*/) const override {
    return false;
  }
  absl::Status LockWhole() override { return absl::OkStatus(); }

 private:
  absl::Status IsReadOnly() const {
    return AtPath(name_, absl::UnimplementedError("an object is not written in place, nor mapped"));
  }

  const std::string name_;
  const KnownObjects::BytesPtr bytes_;
  const int64_t read_ahead_;
};

}  // namespace

bool KnownObjects::IsSmall(int64_t size) { return size <= kMostOfOne; }

void KnownObjects::Erase(Entries::iterator entry) {
  bytes_ -= std::ssize(*entry->bytes);
  by_name_.erase(entry->name);
  entries_.erase(entry);
}

void KnownObjects::Add(const std::string& name, BytesPtr bytes) {
  if (kept_for_.count() == 0 || !IsSmall(std::ssize(*bytes))) return;
  const MutexLock lock(mutex_);
  if (const auto known = by_name_.find(name); known != by_name_.end()) Erase(known->second);
  bytes_ += std::ssize(*bytes);
  entries_.push_front({.name = name, .bytes = std::move(bytes), .since = BootClock::now()});
  by_name_.emplace(name, entries_.begin());
  while (bytes_ > kMostOfAll) Erase(std::prev(entries_.end()));
}

void KnownObjects::Remove(const std::string& name) {
  const MutexLock lock(mutex_);
  if (const auto known = by_name_.find(name); known != by_name_.end()) Erase(known->second);
}

KnownObjects::BytesPtr KnownObjects::Find(const std::string& name) {
  const MutexLock lock(mutex_);
  const auto known = by_name_.find(name);
  if (known == by_name_.end()) return nullptr;
  if (BootClock::now() - known->second->since >= kept_for_) {
    Erase(known->second);
    return nullptr;
  }
  entries_.splice(entries_.begin(), entries_, known->second);
  return known->second->bytes;
}

std::unique_ptr<File> MakeKnownFile(std::string name, KnownObjects::BytesPtr bytes,
                                    int64_t read_ahead) {
  return std::make_unique<KnownFile>(std::move(name), std::move(bytes), read_ahead);
}

}  // namespace cairn::collection
