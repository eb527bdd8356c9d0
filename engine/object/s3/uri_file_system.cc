// Serves files and objects together. The form of a path tells which it is.
#include <map>
#include <sys/types.h>
#include <unistd.h>
#include <utility>

#include "absl/strings/str_format.h"

#include "cairn/s3.h"
#include "engine/base/mutex.h"
#include "engine/base/status.h"
#include "engine/object/s3/http/url.h"
#include "engine/object/s3/settings/object_uri.h"

namespace cairn {

namespace {

// Forwards each call to the file system of its path. Thread-safe.
class UriFileSystem final : public FileSystem {
 public:
  UriFileSystem(absl::StatusOr<S3Options> s3, ObjectFileOptions options)
      : s3_(std::move(s3)), options_(std::move(options)) {}

  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, FileMode mode) override {
    CAIRN_ASSIGN_OR_RETURN(const Place place, FindPlace(path));
    return place.files->Open(place.path, mode);
  }
  absl::StatusOr<std::unique_ptr<File>> CreateFor(const std::string& path,
                                                  const std::string& old) override {
    CAIRN_ASSIGN_OR_RETURN(const Pair pair, FindBoth(path, old));
    return pair.first.files->CreateFor(pair.first.path, pair.second.path);
  }
  absl::Status Rename(const std::string& from, const std::string& to, bool replace) override {
    CAIRN_ASSIGN_OR_RETURN(const Pair pair, FindBoth(from, to));
    return pair.first.files->Rename(pair.first.path, pair.second.path, replace);
  }
  absl::Status Remove(const std::string& path) override {
    CAIRN_ASSIGN_OR_RETURN(const Place place, FindPlace(path));
    return place.files->Remove(place.path);
  }
  absl::Status SyncDirectoryOf(const std::string& path) override {
    CAIRN_ASSIGN_OR_RETURN(const Place place, FindPlace(path));
    return place.files->SyncDirectoryOf(place.path);
  }
  absl::StatusOr<std::shared_ptr<FileSystem>> OpenDirectory(const std::string& path) override {
    CAIRN_ASSIGN_OR_RETURN(const Place place, FindPlace(path));
    // The slash, which the place lacks, says that no object has the name.
    return place.files->OpenDirectory(path.ends_with('/') ? place.path + "/" : place.path);
  }
  absl::Status MakeDirectory(const std::string& path) override {
    CAIRN_ASSIGN_OR_RETURN(const Place place, FindPlace(path));
    return place.files->MakeDirectory(place.path);
  }
  absl::Status MakeDirectoryFor(const std::string& path, const std::string& old) override {
    CAIRN_ASSIGN_OR_RETURN(const Pair pair, FindBoth(path, old));
    return pair.first.files->MakeDirectoryFor(pair.first.path, pair.second.path);
  }
  absl::Status RemoveDirectory(const std::string& path) override {
    CAIRN_ASSIGN_OR_RETURN(const Place place, FindPlace(path));
    return place.files->RemoveDirectory(place.path);
  }
  absl::StatusOr<std::vector<std::string>> List(const std::string& path) override {
    CAIRN_ASSIGN_OR_RETURN(const Place place, FindPlace(path));
    return place.files->List(place.path);
  }
  absl::StatusOr<std::vector<std::string>> ListSome(const std::string& path,
                                                    std::string_view prefix,
                                                    int64_t most) override {
    CAIRN_ASSIGN_OR_RETURN(const Place place, FindPlace(path));
    return place.files->ListSome(place.path, prefix, most);
  }
  absl::Status Exchange(const std::string& a, const std::string& b) override {
    CAIRN_ASSIGN_OR_RETURN(const Pair pair, FindBoth(a, b));
    return pair.first.files->Exchange(pair.first.path, pair.second.path);
  }
  absl::StatusOr<std::string> Absolute(const std::string& path) override {
    return IsObjectUri(path) ? path : PosixFileSystem()->Absolute(path);
  }
  std::string Resolve(const std::string& path) override {
    return IsObjectUri(path) ? path : PosixFileSystem()->Resolve(path);
  }
  absl::StatusOr<FileIdentity> Identity(const std::string& path) override {
    CAIRN_ASSIGN_OR_RETURN(const Place place, FindPlace(path));
    return place.files->Identity(place.path);
  }
  absl::StatusOr<FileIdentity> IdentityOfLeft(const std::string& path,
                                              const std::string& other) override {
    CAIRN_ASSIGN_OR_RETURN(const Pair pair, FindBoth(path, other));
    return pair.first.files->IdentityOfLeft(pair.first.path, pair.second.path);
  }
  ObjectDirectoryInfo ObjectsIn(const std::string& path) override {
    const absl::StatusOr<Place> place = FindPlace(path);
    return place.ok() ? place->files->ObjectsIn(place->path) : ObjectDirectoryInfo();
  }
  uint64_t BootId() const override { return PosixFileSystem()->BootId(); }

 private:
  struct Place {
    std::shared_ptr<FileSystem> files;
    std::string path;
  };
  using Pair = std::pair<Place, Place>;

  absl::StatusOr<Place> FindPlace(const std::string& path);
  absl::StatusOr<Pair> FindBoth(const std::string& a, const std::string& b);

  const absl::StatusOr<S3Options> s3_;
  const ObjectFileOptions options_;

  Mutex mutex_;
  pid_t process_ ABSL_GUARDED_BY(mutex_) = ::getpid();
  // The key is the part before the path, and the query.
  std::map<std::string, std::shared_ptr<FileSystem>> stores_ ABSL_GUARDED_BY(mutex_);
};

absl::StatusOr<UriFileSystem::Place> UriFileSystem::FindPlace(const std::string& path) {
  if (!IsObjectUri(path)) {
    return Place{PosixFileSystem(), path};
  }
  CAIRN_ASSIGN_OR_RETURN(const object::ObjectUri uri, object::ParseObjectUri(path));
  const MutexLock lock(mutex_);
  // The stores of a parent work only in the parent. A forked child opens its own, and only
  // inherited files keep the old ones.
  if (::getpid() != process_) {
    process_ = ::getpid();
    stores_.clear();
  }
  std::shared_ptr<FileSystem>& files = stores_[uri.store + "?" + uri.query];
  if (files == nullptr) {
    // Web servers need no credentials, but the settings for timeouts count for them, too.
    if (uri.bucket.has_value() || absl::IsInvalidArgument(s3_.status())) {
      CAIRN_RETURN_IF_ERROR(s3_.status());
    }
    CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<ObjectStore> store,
                           object::OpenStoreOf(uri, s3_.value_or(S3Options())));
    files = MakeObjectFileSystem(std::move(store), options_);
  }
  return Place{files, uri.path};
}

absl::StatusOr<UriFileSystem::Pair> UriFileSystem::FindBoth(const std::string& a,
                                                            const std::string& b) {
  CAIRN_ASSIGN_OR_RETURN(Place first, FindPlace(a));
  CAIRN_ASSIGN_OR_RETURN(Place second, FindPlace(b));
  if (first.files.get() == second.files.get()) return Pair{std::move(first), std::move(second)};
  return absl::InvalidArgumentError(absl::StrFormat("%s and %s are in different stores",
                                                    object::ShownUrl(a), object::ShownUrl(b)));
}

}  // namespace

std::shared_ptr<FileSystem> MakeUriFileSystem(absl::StatusOr<S3Options> s3,
                                              ObjectFileOptions options) {
  return std::make_shared<UriFileSystem>(std::move(s3), std::move(options));
}

}  // namespace cairn
