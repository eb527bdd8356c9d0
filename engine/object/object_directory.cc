#include "engine/object/object_directory.h"

#include <algorithm>

#include "engine/base/status.h"
#include "engine/format/sparse_names.h"
#include "engine/object/index_file.h"
#include "engine/storage/memory_file_system.h"

namespace cairn::object {

namespace {

constexpr int64_t kNamesAtOnce = 1000;

// How long an index that was seen is taken for the frame's without a look.
constexpr std::chrono::seconds kLookAgain(30);

}  // namespace

void ObjectDirectory::Remember(const FileIdentity& index, Clock::time_point when) {
  const std::lock_guard lock(mutex_);
  index_ = index;
  seen_ = when;
}

absl::Status ObjectDirectory::IsReadOnly(const std::string& path) const {
  return FailedPrecondition("%s/%s: an object is not written in place", store_->Describe(), path);
}

absl::StatusOr<std::unique_ptr<File>> ObjectDirectory::Open(const std::string& path,
                                                            FileMode mode) {
  if (mode != FileMode::kRead) return IsReadOnly(path);
  if (path != format::kIndexFileName) {
    CAIRN_ASSIGN_OR_RETURN(const ObjectPart object, store_->Get(path));
    auto file = std::make_unique<storage::MemoryFile>(path);
    CAIRN_RETURN_IF_ERROR(file->WriteAt(0, object.bytes));
    return file;
  }
  const Clock::time_point now = Clock::now();
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<IndexFile> index, IndexFile::Open(store_));
  Remember(IdentityOf(index->etag()), now);
  return index;
}

absl::Status ObjectDirectory::Rename(const std::string& from, const std::string& /*to*/,
                                     bool /*replace*/) {
  return IsReadOnly(from);
}

absl::Status ObjectDirectory::Remove(const std::string& path) { return store_->Delete({{path}}); }

absl::StatusOr<std::vector<std::string>> ObjectDirectory::List(const std::string& path) {
  if (path != ".") return NotFound("%s/%s: no directory", store_->Describe(), path);
  std::vector<std::string> names;
  for (std::string after;;) {
    CAIRN_ASSIGN_OR_RETURN(const ObjectListing listing, store_->List("", after, kNamesAtOnce));
    for (const ObjectInfo& object : listing.objects) names.push_back(object.name);
    if (!listing.more || listing.objects.empty()) return names;
    after = names.back();
  }
}

absl::StatusOr<FileIdentity> ObjectDirectory::Identity(const std::string& path) {
  const Clock::time_point now = Clock::now();
  if (path == format::kIndexFileName) {
    const std::lock_guard lock(mutex_);
    if (seen_ != Clock::time_point() &&
        now - seen_ < std::min<Clock::duration>(kLookAgain, grace_ / 8)) {
      return index_;
    }
  }
  CAIRN_ASSIGN_OR_RETURN(const ObjectInfo object, store_->Head(path));
  const FileIdentity identity = IdentityOf(object.etag);
  if (path == format::kIndexFileName) Remember(identity, now);
  return identity;
}

}  // namespace cairn::object
