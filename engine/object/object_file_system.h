// Shows a store as a file system: objects are files, and the common part of their names before a
// slash is a directory.
#ifndef CAIRN_ENGINE_OBJECT_OBJECT_FILE_SYSTEM_H_
#define CAIRN_ENGINE_OBJECT_OBJECT_FILE_SYSTEM_H_

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "cairn/file_system.h"
#include "engine/base/boot_clock.h"
#include "engine/base/mutex.h"
#include "engine/object/index_file.h"
#include "engine/object/object_fetcher.h"

namespace cairn::object {

// Keeps an object that was opened to see whether it exists. The caller opens it next, and need not
// ask again. Forgets it after a moment. Thread-safe.
class JustOpened {
 public:
  void Remember(const std::string& name, ObjectPtr object);
  // Returns null if it is another object, or was opened too long ago.
  ObjectPtr Take(const std::string& name);

 private:
  Mutex mutex_;
  std::string name_ ABSL_GUARDED_BY(mutex_);
  ObjectPtr object_ ABSL_GUARDED_BY(mutex_);
  std::chrono::steady_clock::time_point at_ ABSL_GUARDED_BY(mutex_);
};

// The common part of all file systems of a store's objects. Names of objects are `prefix` and a
// path.
class ObjectFiles : public FileSystem {
 public:
  ObjectFiles(std::shared_ptr<ObjectFetcher> fetcher, std::string prefix)
      : fetcher_(std::move(fetcher)), prefix_(std::move(prefix)) {}

  // Returns kUnimplemented except for reading.
  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, FileMode mode) override;
  absl::Status Rename(const std::string& from, const std::string& to, bool replace) override;
  absl::Status Remove(const std::string& path) override;
  // An object that exists is durable.
  absl::Status SyncDirectoryOf(const std::string& /*path*/) override { return absl::OkStatus(); }
  absl::StatusOr<std::vector<std::string>> List(const std::string& path) override;
  absl::StatusOr<std::vector<std::string>> ListSome(const std::string& path,
                                                    std::string_view prefix, int64_t most) override;
  absl::StatusOr<FileIdentity> Identity(const std::string& path) override;

 protected:
  virtual absl::StatusOr<ObjectPtr> OpenNow(const std::string& path) = 0;
  // Returns the beginning of the names of objects in a directory.
  virtual std::string PrefixOf(const std::string& path) const = 0;

  const std::shared_ptr<ObjectFetcher> fetcher_;
  const std::string prefix_;
  JustOpened just_opened_;
};

// The file system of the whole store.
class ObjectFileSystem final : public ObjectFiles {
 public:
  ObjectFileSystem(std::shared_ptr<ObjectFetcher> fetcher, std::chrono::seconds grace)
      : ObjectFiles(std::move(fetcher), ""), grace_(grace) {}

  // An object of that name is a file. A path that ends with a slash is a directory.
  absl::StatusOr<std::shared_ptr<FileSystem>> OpenDirectory(const std::string& path) override;
  ObjectDirectoryInfo ObjectsIn(const std::string& path) override;

 protected:
  absl::StatusOr<ObjectPtr> OpenNow(const std::string& path) override;
  std::string PrefixOf(const std::string& path) const override;

 private:
  const std::chrono::seconds grace_;
};

// The objects whose names begin with `prefix`, which ends with a slash. They are the directory of a
// sparse frame. Writes to it go to the store.
class ObjectDirectory final : public ObjectFiles {
 public:
  // `index` is null, or that of the frame, which was just opened.
  ObjectDirectory(std::shared_ptr<ObjectFetcher> fetcher, std::string prefix,
                  std::chrono::seconds grace, std::unique_ptr<IndexFile> index);

  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, FileMode mode) override;
  // Returns the identity of the index. It asks the store only from time to time, because news that
  // an index has and the journal has not are public only after a grace period.
  absl::StatusOr<FileIdentity> Identity(const std::string& path) override;
  void WillOpen(std::span<const FileHint> files) override;
  ObjectDirectoryInfo ObjectsIn(const std::string& path) override;

 protected:
  // An announced file is opened as it was when it was announced, because a number of a chunk is not
  // used again while an index names it. The announcements are forgotten when the index has changed.
  absl::StatusOr<ObjectPtr> OpenNow(const std::string& path) override;
  std::string PrefixOf(const std::string& /*path*/) const override { return prefix_; }

 private:
  using Clock = BootClock;

  void Announce(const FileHint& file);
  absl::StatusOr<std::unique_ptr<File>> OpenIndex();
  void SeeIndex(const FileIdentity& index, Clock::time_point when);

  const std::shared_ptr<ObjectStore> store_;  // its names are those in the directory
  const std::chrono::seconds grace_;

  Mutex mutex_;
  absl::flat_hash_map<std::string, ObjectFetcher::Opening> announced_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<IndexFile> just_opened_index_ ABSL_GUARDED_BY(mutex_);
  FileIdentity index_ ABSL_GUARDED_BY(mutex_);
  // Tells when the index was last known to be `index_`.
  Clock::time_point index_seen_ ABSL_GUARDED_BY(mutex_){};
};

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_OBJECT_FILE_SYSTEM_H_
