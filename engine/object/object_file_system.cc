#include "engine/object/object_file_system.h"

#include <algorithm>
#include <utility>

#include "engine/base/status.h"
#include "engine/format/sparse_names.h"
#include "engine/object/object_file.h"
#include "engine/object/scoped_object_store.h"

namespace cairn::object {

namespace {

const std::string& IndexName() {
  static const std::string name(format::kIndexFileName);
  return name;
}
// An index that was seen is taken for the frame's for this long, without a request.
constexpr std::chrono::seconds kLookAgain(30);
// An open directory remembers at most this many of its files, which bounds its memory.
constexpr size_t kMostAnnounced = size_t{1} << 18;
constexpr std::chrono::seconds kMoment(1);
constexpr int64_t kListing = 1000;

std::string WithoutSlashes(std::string path) {
  while (path.ends_with('/')) path.pop_back();
  return path;
}

absl::Status IsReadOnly(const std::string& path) {
  return AtPath(path, absl::UnimplementedError(
                          "an object is read by this file system, not made, changed or removed"));
}

absl::Status CheckPlainName(const std::string& name) {
  if (name.find('/') == name.npos) return absl::OkStatus();
  return absl::InvalidArgumentError(name + " is not a name in an opened directory");
}

// Returns the first part of a path.
std::string FirstName(std::string_view path) { return std::string(path.substr(0, path.find('/'))); }

}  // namespace

void JustOpened::Remember(const std::string& name, ObjectPtr object) {
  const MutexLock lock(mutex_);
  name_ = name;
  object_ = std::move(object);
  at_ = std::chrono::steady_clock::now();
}

ObjectPtr JustOpened::Take(const std::string& name) {
  const MutexLock lock(mutex_);
  if (object_ == nullptr || name_ != name) return nullptr;
  ObjectPtr object = std::exchange(object_, nullptr);
  return std::chrono::steady_clock::now() - at_ < kMoment ? object : nullptr;
}

absl::StatusOr<std::unique_ptr<File>> ObjectFiles::Open(const std::string& path, FileMode mode) {
  if (mode != FileMode::kRead) return IsReadOnly(path);
  ObjectPtr object = just_opened_.Take(path);
  if (object == nullptr) {
    CAIRN_ASSIGN_OR_RETURN(object, OpenNow(path));
  }
  return std::make_unique<ObjectFile>(fetcher_, std::move(object));
}

absl::Status ObjectFiles::Rename(const std::string& from, const std::string& /*to*/,
                                 bool /*replace*/) {
  return IsReadOnly(from);
}

absl::Status ObjectFiles::Remove(const std::string& path) { return IsReadOnly(path); }

absl::StatusOr<FileIdentity> ObjectFiles::Identity(const std::string& path) {
  CAIRN_ASSIGN_OR_RETURN(const ObjectInfo info, fetcher_->store()->Head(prefix_ + path));
  return IdentityOf(info);
}

absl::StatusOr<std::vector<std::string>> ObjectFiles::List(const std::string& path) {
  return ListSome(path, "", INT64_MAX);
}

absl::StatusOr<std::vector<std::string>> ObjectFiles::ListSome(const std::string& path,
                                                               std::string_view prefix,
                                                               int64_t most) {
  const std::string directory = PrefixOf(path);
  const std::string begin = directory + std::string(prefix);
  std::vector<std::string> names;
  std::string after;
  for (bool more = true; more && std::ssize(names) < most;) {
    CAIRN_ASSIGN_OR_RETURN(
        const ObjectListing listing,
        fetcher_->store()->List(begin, after, std::min(kListing, most - std::ssize(names))));
    for (const ObjectInfo& info : listing.objects) {
      std::string name = FirstName(std::string_view(info.name).substr(directory.size()));
      // The names of one directory follow each other, except names that sort before its slash.
      if (!name.empty() && (names.empty() || names.back() != name))
        names.push_back(std::move(name));
    }
    more = listing.more && !listing.objects.empty();
    if (more) after = listing.objects.back().name;
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

absl::StatusOr<ObjectPtr> ObjectFileSystem::OpenNow(const std::string& path) {
  return fetcher_->Open(path);
}

std::string ObjectFileSystem::PrefixOf(const std::string& path) const {
  const std::string name = WithoutSlashes(path);
  return name.empty() || name == "." ? "" : name + "/";
}

absl::StatusOr<std::shared_ptr<FileSystem>> ObjectFileSystem::OpenDirectory(
    const std::string& path) {
  if (!path.ends_with('/')) {
    absl::StatusOr<ObjectPtr> file = fetcher_->Open(path);
    if (file.ok()) {
      just_opened_.Remember(path, *std::move(file));
      return AtPath(path, absl::FailedPreconditionError("is an object, not a directory"));
    }
    if (!absl::IsNotFound(file.status())) return file.status();
  }
  ObjectDirectoryInfo objects = ObjectsIn(path);
  absl::StatusOr<std::unique_ptr<IndexFile>> index =
      IndexFile::Open(objects.store, objects.read_ahead);
  if (absl::IsNotFound(index.status())) {
    absl::StatusOr<ObjectListing> listing = objects.store->List("", "", 1);
    if (!listing.ok() || listing->objects.empty()) return index.status();
    return objects.files;
  }
  CAIRN_RETURN_IF_ERROR(index.status());
  return std::make_shared<ObjectDirectory>(fetcher_, PrefixOf(path), grace_, *std::move(index));
}

ObjectDirectoryInfo ObjectFileSystem::ObjectsIn(const std::string& path) {
  const std::string prefix = PrefixOf(path);
  return {.store = std::make_shared<ScopedObjectStore>(fetcher_->store(), prefix),
          .grace = grace_,
          .read_ahead = fetcher_->read_ahead(),
          .files = std::make_shared<ObjectDirectory>(fetcher_, prefix, grace_, nullptr)};
}

ObjectDirectory::ObjectDirectory(std::shared_ptr<ObjectFetcher> fetcher, std::string prefix,
                                 std::chrono::seconds grace, std::unique_ptr<IndexFile> index)
    : ObjectFiles(std::move(fetcher), std::move(prefix)),
      store_(std::make_shared<ScopedObjectStore>(fetcher_->store(), prefix_)),
      grace_(grace),
      just_opened_index_(std::move(index)) {
  if (just_opened_index_ != nullptr) {
    SeeIndex(IdentityOf(just_opened_index_->etag()), Clock::now());
  }
}

ObjectDirectoryInfo ObjectDirectory::ObjectsIn(const std::string& /*path*/) {
  return {.store = store_, .grace = grace_, .read_ahead = fetcher_->read_ahead()};
}

void ObjectDirectory::SeeIndex(const FileIdentity& index, Clock::time_point when) {
  const MutexLock lock(mutex_);
  if (index != index_) announced_.clear();
  index_ = index;
  index_seen_ = when;
}

absl::StatusOr<std::unique_ptr<File>> ObjectDirectory::OpenIndex() {
  const Clock::time_point now = Clock::now();
  {
    const MutexLock lock(mutex_);
    const bool is_new = now - index_seen_ < kMoment;
    if (std::unique_ptr<IndexFile> index = std::exchange(just_opened_index_, nullptr);
        index != nullptr && is_new) {
      return index;
    }
  }
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<IndexFile> index,
                         IndexFile::Open(store_, fetcher_->read_ahead()));
  SeeIndex(IdentityOf(index->etag()), now);
  return index;
}

absl::StatusOr<std::unique_ptr<File>> ObjectDirectory::Open(const std::string& path,
                                                            FileMode mode) {
  if (path == IndexName() && mode == FileMode::kRead) return OpenIndex();
  return ObjectFiles::Open(path, mode);
}

absl::StatusOr<FileIdentity> ObjectDirectory::Identity(const std::string& path) {
  if (path != IndexName()) return ObjectFiles::Identity(path);
  const Clock::time_point now = Clock::now();
  {
    const MutexLock lock(mutex_);
    const bool known = index_seen_ != Clock::time_point();
    if (known && now - index_seen_ < std::min<Clock::duration>(kLookAgain, grace_ / 8)) {
      return index_;
    }
  }
  CAIRN_ASSIGN_OR_RETURN(const ObjectInfo index, store_->Head(path));
  const FileIdentity identity = IdentityOf(index.etag);
  SeeIndex(identity, now);
  return identity;
}

absl::StatusOr<ObjectPtr> ObjectDirectory::OpenNow(const std::string& path) {
  CAIRN_RETURN_IF_ERROR(CheckPlainName(path));
  CAIRN_RETURN_IF_ERROR(fetcher_->CheckIsHere());
  std::optional<ObjectFetcher::Opening> announced;
  {
    const MutexLock lock(mutex_);
    if (const auto found = announced_.find(path); found != announced_.end()) {
      announced = found->second;
    }
  }
  if (announced.has_value() && announced->get().ok()) return announced->get();
  CAIRN_ASSIGN_OR_RETURN(ObjectPtr object, fetcher_->Open(prefix_ + path));
  const MutexLock lock(mutex_);
  if (announced.has_value()) announced_.erase(path);
  return object;
}

void ObjectDirectory::WillOpen(std::span<const FileHint> files) {
  if (!fetcher_->CheckIsHere().ok()) return;
  for (const FileHint& file : files) Announce(file);
}

void ObjectDirectory::Announce(const FileHint& file) {
  std::optional<ObjectFetcher::Opening> known;
  {
    const MutexLock lock(mutex_);
    if (announced_.size() >= kMostAnnounced) announced_.clear();
    const auto found = announced_.find(file.name);
    if (found != announced_.end()) {
      known = found->second;
    } else {
      announced_[file.name] = fetcher_->StartOpen(prefix_ + file.name, file.size);
      return;
    }
  }
  // If it is still on its way, or failed, Open asks again.
  if (known->wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
  if (!known->get().ok()) return;
  const FileRange all = {.offset = 0, .size = file.size};
  fetcher_->WillRead(*known->get(), std::span(&all, 1));
}

}  // namespace cairn::object

namespace cairn {

std::shared_ptr<FileSystem> MakeObjectFileSystem(std::shared_ptr<ObjectStore> store,
                                                 ObjectFileOptions options) {
  return std::make_shared<object::ObjectFileSystem>(
      std::shared_ptr<object::ObjectFetcher>(new object::ObjectFetcher(std::move(store), options),
                                             DeleteHere<object::ObjectFetcher>()),
      options.grace);
}

}  // namespace cairn
