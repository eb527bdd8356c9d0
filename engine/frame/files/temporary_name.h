// Names that files and directories have until they are complete, or after another took their name.
#ifndef CAIRN_ENGINE_FRAME_FILES_TEMPORARY_NAME_H_
#define CAIRN_ENGINE_FRAME_FILES_TEMPORARY_NAME_H_

#include <memory>
#include <string>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "engine/frame/files/frame_location.h"
#include "engine/storage/owner_process.h"

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
  // "<target>.<16 hexadecimal digits>.tmp", which nothing has had before.
  const std::string& name() const { return name_; }

  // Gives what has this name that of the target, and makes that durable. With `replace`, what had
  // that name is removed: a file, or a directory that LockForReplacement found to be a frame.
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
  storage::OwnerProcess owner_;
};

// Where what is made for `path` will be: after links, and without a slash at the end.
std::string TargetOf(FileSystem& files, const std::string& path);

// Takes the writer's lock on `file`, which was opened or made as `name`. kAborted when another File
// holds it, or `name` does not lead to it any more: one of two has just made it, the other takes it
// for what a dead writer left, and both ask.
absl::Status LockNamed(FileSystem& files, const std::string& name, File& file);

// Makes something for `path`, under a temporary name beside what links lead to; anew as long as
// `make` fails with kAborted.
template <typename Make>
std::invoke_result_t<Make, TemporaryName> MakeBeside(const std::shared_ptr<FileSystem>& files,
                                                     const std::string& path, Make make) {
  constexpr int kMaxAttempts = 16;
  const std::string target = TargetOf(*files, path);
  for (int attempt = 1;; ++attempt) {
    auto made = make(TemporaryName(files, target));
    if (!absl::IsAborted(made.status())) return made;
    if (attempt == kMaxAttempts) return absl::UnavailableError(made.status().message());
  }
}

// Removes files and directories with temporary names beside the frame, if their locks are free:
// then the writer that made them is dead. Leaves alone what links lead to, and a directory that
// holds more than a frame. What cannot be removed stays, and in a directory of many names some may
// be missed.
void RemoveAbandoned(const FrameLocation& location);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_FILES_TEMPORARY_NAME_H_
