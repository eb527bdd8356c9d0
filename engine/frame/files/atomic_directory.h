// A sparse frame's directory that gets its name only when it is whole.
#ifndef CAIRN_ENGINE_FRAME_FILES_ATOMIC_DIRECTORY_H_
#define CAIRN_ENGINE_FRAME_FILES_ATOMIC_DIRECTORY_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "engine/storage/owner_process.h"

namespace cairn::frame {

// Lives beside its place under a name of its own until Publish. Its index holds the writer's lock
// from the first moment: no other writer takes it for what a dead one left. If Publish never comes,
// the destructor removes it with what it holds. Movable.
class AtomicDirectory {
 public:
  // With the attributes of what is there.
  static absl::StatusOr<AtomicDirectory> CreateBeside(FileSystem* files, const std::string& path);

  AtomicDirectory(AtomicDirectory&& other) noexcept;
  AtomicDirectory& operator=(AtomicDirectory&&) = delete;
  ~AtomicDirectory();

  const std::shared_ptr<FileSystem>& directory() const { return directory_; }
  // Empty, and locked for writing and from those who would replace it.
  const std::shared_ptr<File>& index() const { return index_; }

  // Makes the names in it durable and gives the directory its name, as PublishName does; the
  // content of the files is the caller's. kAlreadyExists.
  absl::Status Publish(bool replace);

 private:
  AtomicDirectory(FileSystem* files, std::string path, std::string name);
  static absl::StatusOr<AtomicDirectory> TryToCreate(FileSystem* files, const std::string& target);
  absl::Status Fill();

  FileSystem* files_;
  std::string path_;
  std::string name_;  // the one it has now; empty once it is published
  std::shared_ptr<FileSystem> directory_;
  std::shared_ptr<File> index_;
  storage::OwnerProcess owner_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_FILES_ATOMIC_DIRECTORY_H_
