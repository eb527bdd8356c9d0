// Files and directories that get their name only when they are complete.
#ifndef CAIRN_ENGINE_FRAME_FILES_ATOMIC_FILE_H_
#define CAIRN_ENGINE_FRAME_FILES_ATOMIC_FILE_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "engine/frame/files/temporary_name.h"

namespace cairn::frame {

// Has a temporary name until Publish, and holds the writer's lock from its first moment: no other
// writer writes it before that, or takes it for what a dead one left. If Publish never comes, the
// destructor removes it. Movable.
class AtomicFile {
 public:
  // With the attributes of the file that is there, or of the index of a sparse frame.
  static absl::StatusOr<AtomicFile> CreateBeside(const std::shared_ptr<FileSystem>& files,
                                                 const std::string& path);

  const std::shared_ptr<File>& file() const { return file_; }

  // Makes the content durable, then TemporaryName::RenameIntoPlace.
  absl::Status Publish(bool replace);
  // Makes the content durable, then TemporaryName::SwapIntoPlace.
  absl::StatusOr<std::string> PublishBySwap();

 private:
  AtomicFile(TemporaryName name, std::shared_ptr<File> file)
      : file_(std::move(file)), name_(std::move(name)) {}

  std::shared_ptr<File> file_;
  TemporaryName name_;
};

// The same for the directory of a sparse frame. Its index holds the writer's lock from the first
// moment: no other writer takes it for what a dead one left. If Publish never comes, the destructor
// removes it with what it holds. Movable.
class AtomicDirectory {
 public:
  // With the attributes of what is there.
  static absl::StatusOr<AtomicDirectory> CreateBeside(const std::shared_ptr<FileSystem>& files,
                                                      const std::string& path);

  const std::shared_ptr<FileSystem>& directory() const { return directory_; }
  // Empty, and locked for writing and from those who would replace it.
  const std::shared_ptr<File>& index() const { return index_; }

  // Makes the names in it durable, then TemporaryName::RenameIntoPlace; the content of the files is
  // the caller's.
  absl::Status Publish(bool replace);

 private:
  explicit AtomicDirectory(TemporaryName name) : name_(std::move(name)) {}
  absl::Status Fill();

  std::shared_ptr<FileSystem> directory_;
  std::shared_ptr<File> index_;
  TemporaryName name_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_FILES_ATOMIC_FILE_H_
