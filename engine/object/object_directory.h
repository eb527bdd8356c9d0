// The objects of a frame as the directory of a sparse frame.
#ifndef CAIRN_ENGINE_OBJECT_OBJECT_DIRECTORY_H_
#define CAIRN_ENGINE_OBJECT_OBJECT_DIRECTORY_H_

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "cairn/file_system.h"
#include "cairn/object_store.h"
#include "engine/base/boot_clock.h"

namespace cairn::object {

// Its names are those in the prefix of the frame. Files are read; what is written goes through
// objects(). Thread-safe.
class ObjectDirectory : public FileSystem {
 public:
  // `store` has the names of the prefix.
  ObjectDirectory(std::shared_ptr<ObjectStore> store, std::chrono::seconds grace)
      : store_(std::move(store)), grace_(grace) {}

  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, FileMode mode) override;
  absl::Status Rename(const std::string& from, const std::string& to, bool replace) override;
  absl::Status Remove(const std::string& path) override;
  absl::Status SyncDirectoryOf(const std::string& /*path*/) override { return absl::OkStatus(); }
  absl::StatusOr<std::vector<std::string>> List(const std::string& path) override;
  // Of the index: asks the store only now and then, for what it says is news after a grace only.
  absl::StatusOr<FileIdentity> Identity(const std::string& path) override;
  ObjectsOf objects() const override { return {.store = store_, .grace = grace_}; }

 private:
  using Clock = BootClock;

  absl::Status IsReadOnly(const std::string& path) const;
  void Remember(const FileIdentity& index, Clock::time_point when);

  const std::shared_ptr<ObjectStore> store_;
  const std::chrono::seconds grace_;

  std::mutex mutex_;
  FileIdentity index_;
  Clock::time_point seen_{};  // when the index was seen to be that
};

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_OBJECT_DIRECTORY_H_
