// A sparse frame's directory that gets its name only when it is complete.
#ifndef CAIRN_ENGINE_FRAME_FILES_ATOMIC_DIRECTORY_H_
#define CAIRN_ENGINE_FRAME_FILES_ATOMIC_DIRECTORY_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "engine/frame/files/temporary_name.h"

namespace cairn::frame {

// Has a temporary name until Publish. Its index holds the writer's lock from the first moment: no
// other writer takes it for what a dead one left. If Publish never comes, the destructor removes it
// with what it holds. Movable.
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

#endif  // CAIRN_ENGINE_FRAME_FILES_ATOMIC_DIRECTORY_H_
