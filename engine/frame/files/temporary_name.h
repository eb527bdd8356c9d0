// Names that files and directories have until they are complete, or after another took their name.
#ifndef CAIRN_ENGINE_FRAME_FILES_TEMPORARY_NAME_H_
#define CAIRN_ENGINE_FRAME_FILES_TEMPORARY_NAME_H_

#include <string>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "engine/frame/files/frame_location.h"

namespace cairn::frame {

// Where what is made for `path` will be: after links, and without a slash at the end.
std::string TargetOf(FileSystem& files, const std::string& path);
// "<target>.<16 hexadecimal digits>.tmp", which nothing has had before.
std::string TemporaryName(const std::string& target);

// Takes the writer's lock on `file`, which was opened or made as `name`. kAborted when another File
// holds it, or `name` does not lead to it any more: one of two has just made it, the other takes it
// for what a dead writer left, and both ask.
absl::Status LockNamed(FileSystem& files, const std::string& name, File& file);

// Makes another one as long as the result is kAborted.
template <typename Make>
std::invoke_result_t<Make> MakeUntilLocked(Make make) {
  constexpr int kMaxAttempts = 16;
  for (int attempt = 1;; ++attempt) {
    auto made = make();
    if (!absl::IsAborted(made.status())) return made;
    if (attempt == kMaxAttempts) return absl::UnavailableError(made.status().message());
  }
}

// Removes files and directories with temporary names beside the frame, if their locks are free:
// then the writer that made them is dead. Leaves alone what links lead to, and a directory that
// holds more than a frame. What cannot be removed stays, and in a directory of many names some may
// be missed.
void RemoveAbandoned(const FrameLocation& place);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_FILES_TEMPORARY_NAME_H_
