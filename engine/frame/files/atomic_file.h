// Files and directories that get their name only when they are complete.
#ifndef CAIRN_ENGINE_FRAME_FILES_ATOMIC_FILE_H_
#define CAIRN_ENGINE_FRAME_FILES_ATOMIC_FILE_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "engine/base/owner_process.h"
#include "engine/frame/files/frame_location.h"

namespace cairn::frame {

// A name beside a target, which a file or the directory of a sparse frame has until it is complete.
// If it never gets the target's name, the destructor removes it. Movable.
class TemporaryName {
 public:
  TemporaryName(std::shared_ptr<FileSystem> files, std::string target);
  TemporaryName(TemporaryName&&) = default;
  TemporaryName& operator=(TemporaryName&& other) noexcept;
  ~TemporaryName();

  FileSystem& files() const { return *files_; }
  const std::string& target() const { return target_; }
  // "<target>.<16 hexadecimal digits>.tmp", which nothing has had before. Of a target with a long
  // name as much as leaves space for the rest.
  const std::string& name() const { return name_; }

  // Gives what has this name that of the target, and makes that durable. With `replace`, what had
  // that name is removed: a file, or a directory that LockFromReaders found to be a frame.
  // kAlreadyExists. If it cannot be made durable where the target was free, the name is taken back.
  // Where it was not free the new one keeps the name, and a directory that it was swapped with the
  // temporary one.
  absl::Status RenameIntoPlace(bool replace);
  // The same, but the file that had the target's name gets the temporary one, which is returned.
  absl::StatusOr<std::string> SwapIntoPlace();

 private:
  std::shared_ptr<FileSystem> files_;
  std::string target_;
  std::string name_;  // empty once it is given up
  OwnerProcess owner_;
};

// Has a temporary name until Publish, and holds the writer's lock from its first moment: no other
// writer writes it before that, or takes it for what a dead one left. If Publish never comes, the
// destructor removes it. Movable.
class AtomicFile {
 public:
  // With the attributes of the file that is there, or of the index of a sparse frame.
  static absl::StatusOr<AtomicFile> CreateBeside(const std::shared_ptr<FileSystem>& files,
                                                 const std::string& path);

  const std::shared_ptr<File>& file() const { return file_; }

  // Makes the content durable.
  absl::Status Persist() { return file_->Sync(SyncMode::kAll); }
  // TemporaryName::RenameIntoPlace, after Persist.
  absl::Status Publish(bool replace) { return name_.RenameIntoPlace(replace); }
  // TemporaryName::SwapIntoPlace, after Persist.
  absl::StatusOr<std::string> PublishBySwap() { return name_.SwapIntoPlace(); }

 private:
  AtomicFile(TemporaryName name, std::shared_ptr<File> file)
      : file_(std::move(file)), name_(std::move(name)) {}

  std::shared_ptr<File> file_;
  TemporaryName name_;
};

// The same for the directory of a sparse frame, whose index holds the writer's lock. If Publish
// never comes, the destructor removes it with what it holds. Movable.
class AtomicDirectory {
 public:
  // With the attributes of what is there.
  static absl::StatusOr<AtomicDirectory> CreateBeside(const std::shared_ptr<FileSystem>& files,
                                                      const std::string& path);

  const std::shared_ptr<FileSystem>& directory() const { return directory_; }
  // Empty, and locked for writing and from those who would replace it.
  const std::shared_ptr<File>& index() const { return index_; }

  // Makes the index and the names in it durable; the content of the other files is the caller's.
  absl::Status Persist();
  // TemporaryName::RenameIntoPlace, after Persist.
  absl::Status Publish(bool replace) { return name_.RenameIntoPlace(replace); }

 private:
  explicit AtomicDirectory(TemporaryName name) : name_(std::move(name)) {}
  absl::Status Fill();

  std::shared_ptr<FileSystem> directory_;
  std::shared_ptr<File> index_;
  TemporaryName name_;
};

// Removes files and directories with temporary names beside the frame, if their locks are free:
// then the writer that made them is dead. Leaves alone what links lead to, and a directory that
// holds more than a frame. What cannot be removed stays, and in a directory of many names some may
// be missed.
void RemoveAbandoned(const FrameLocation& location);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_FILES_ATOMIC_FILE_H_
