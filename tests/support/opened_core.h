// A frame that is opened with rules that no program has.
#ifndef CAIRN_TESTS_SUPPORT_OPENED_CORE_H_
#define CAIRN_TESTS_SUPPORT_OPENED_CORE_H_

#include <memory>
#include <string>
#include <utility>

#include "engine/base/status.h"
#include "engine/frame/files/frame_location.h"
#include "engine/frame/open/frame_core.h"
#include "engine/frame/open/state_loader.h"
#include "engine/frame/state/frame_context.h"

namespace cairn::test {

// Opens a contiguous frame. frame::OpenWriter makes writers from the result.
inline absl::StatusOr<std::shared_ptr<frame::FrameCore>> OpenCore(
    const std::string& path, const std::shared_ptr<const frame::FrameContext>& env) {
  CAIRN_ASSIGN_OR_RETURN(frame::FrameLocation place,
                         frame::LocateFrame(frame::FilesOrPosix(env->file_system), path));
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<File> file,
                         place.files->Open(place.path, FileMode::kRead));
  frame::FrameFile source = frame::FrameFile::OfFile(file, 0, env->use_mmap);
  CAIRN_ASSIGN_OR_RETURN(frame::StatePtr state, LoadState(source, env));
  if (env->durable_only) {
    CAIRN_RETURN_IF_ERROR(source.Sync());
    CAIRN_RETURN_IF_ERROR(SyncNames(place));
  }
  auto core = std::make_shared<frame::FrameCore>(std::move(place), source, env);
  core->InstallFile(std::move(source), std::move(state));
  return core;
}

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SUPPORT_OPENED_CORE_H_
