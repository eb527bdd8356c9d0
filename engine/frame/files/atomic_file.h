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

// A name next to a target, which a file or the directory of a sparse frame has until it is
// complete. If it never gets the target's name, the destructor removes it. Movable.
class TemporaryName {
 public:
  TemporaryName(std::shared_ptr<FileSystem> files, std::string target);
  TemporaryName(TemporaryName&&) = default;
  TemporaryName& operator=(TemporaryName&& other) noexcept;
  ~TemporaryName();

  FileSystem& files() const { return *files_; }
  const std::string& target() const { return target_; }
  // Returns "<target>.<16 hexadecimal digits>.tmp", a name that nothing has had before. A long
  // target is cut so that there is space for the rest.
  const std::string& name() const { return name_; }

  // Gives the file or directory with this name that of the target, and makes that durable. With
  // `replace`, whatever had the target's name is removed: a file, or a directory that
  // LockFromReaders found to be a frame. If the new name cannot be made durable and the target was
  // free, the name is taken back. If the target was not free, the new file keeps the name, and a
  // directory that it was swapped with keeps the temporary one. Errors: kAlreadyExists if the
  // target exists and `replace` is false.
  absl::Status RenameIntoPlace(bool replace);
  // Replaces as RenameIntoPlace does, but the file that had the target's name gets the temporary
  // one, which is returned.
  absl::StatusOr<std::string> SwapIntoPlace();

 private:
  std::shared_ptr<FileSystem> files_;
  std::string target_;
  std::string name_;  // empty once it is given up
  OwnerProcess owner_;
};

// A file that has a temporary name until Publish. It holds the writer's lock from its first moment,
// so no other writer writes it before that, or takes it for one that a dead writer left. If Publish
// is never called, the destructor removes it. Movable.
class AtomicFile {
 public:
  // Copies the attributes of the file that is there, or of the index of a sparse frame.
  static absl::StatusOr<AtomicFile> CreateBeside(const std::shared_ptr<FileSystem>& files,
                                                 const std::string& path);

  const std::shared_ptr<File>& file() const { return file_; }

  // Makes the content durable.
  absl::Status Persist() { return file_->Sync(SyncMode::kAll); }
  // Calls TemporaryName::RenameIntoPlace. Persist comes first.
  absl::Status Publish(bool replace) { return name_.RenameIntoPlace(replace); }
  // Calls TemporaryName::SwapIntoPlace. Persist comes first.
  absl::StatusOr<std::string> PublishBySwap() { return name_.SwapIntoPlace(); }

 private:
  AtomicFile(TemporaryName name, std::shared_ptr<File> file)
      : file_(std::move(file)), name_(std::move(name)) {}

  std::shared_ptr<File> file_;
  TemporaryName name_;
};

// The directory of a sparse frame, which has a temporary name until Publish. Its index holds the
// writer's lock. If Publish is never called, the destructor removes the directory with its content.
// Movable.
class AtomicDirectory {
 public:
  // Copies the attributes of the frame that is there.
  static absl::StatusOr<AtomicDirectory> CreateBeside(const std::shared_ptr<FileSystem>& files,
                                                      const std::string& path);

  const std::shared_ptr<FileSystem>& directory() const { return directory_; }
  // Returns the index, which is empty, and locked against other writers and against processes that
  // would replace it.
  const std::shared_ptr<File>& index() const { return index_; }

  // Makes the index and the names in it durable. The content of the other files is the caller's
  // affair.
  absl::Status Persist();
  // Calls TemporaryName::RenameIntoPlace. Persist comes first.
  absl::Status Publish(bool replace) { return name_.RenameIntoPlace(replace); }

 private:
  explicit AtomicDirectory(TemporaryName name) : name_(std::move(name)) {}
  absl::Status Fill();

  std::shared_ptr<FileSystem> directory_;
  std::shared_ptr<File> index_;
  TemporaryName name_;
};

// Removes files and directories with temporary names next to the frame, if their locks are free:
// the writer that made them is then dead. Leaves alone the targets of links, and a directory that
// holds more than a frame. A file that cannot be removed stays, and in a directory of many names
// some may be missed.
void RemoveAbandoned(const FrameLocation& location);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_FILES_ATOMIC_FILE_H_
