// A file that gets its name only when it is complete.
#ifndef CAIRN_ENGINE_FRAME_FILES_ATOMIC_FILE_H_
#define CAIRN_ENGINE_FRAME_FILES_ATOMIC_FILE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "engine/storage/owner_process.h"

namespace cairn::frame {

// Lives beside its place under a name of its own until Publish, and holds the writer's lock from
// its first moment: no other writer writes it before that, or takes it for what a dead one left. If
// Publish never comes, the destructor removes it. Movable.
class AtomicFile {
 public:
  // With the attributes of the file that is there, or of the index of a sparse frame.
  static absl::StatusOr<AtomicFile> CreateBeside(FileSystem* files, const std::string& path);
  // A file without a name, in memory; Publish does nothing.
  static absl::StatusOr<AtomicFile> InMemory();

  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) noexcept;
  ~AtomicFile();

  const std::shared_ptr<File>& file() const { return file_; }

  // Makes the content durable and gives the file its name, as PublishName does. kAlreadyExists.
  absl::Status Publish(bool replace);
  // The same, but the file that had the name gets the temporary one, which is returned.
  absl::StatusOr<std::string> PublishBySwap();

 private:
  AtomicFile(FileSystem* files, std::string path, std::string name, std::shared_ptr<File> file);
  static absl::StatusOr<AtomicFile> TryToCreate(FileSystem* files, const std::string& target);
  void Remove();

  FileSystem* files_ = nullptr;  // null: in memory
  std::string path_;
  std::string name_;  // the one it has now; empty once it is published
  std::shared_ptr<File> file_;
  storage::OwnerProcess owner_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_FILES_ATOMIC_FILE_H_
