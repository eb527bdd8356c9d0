// The common part of the commands that change the items of a frame.
#ifndef CAIRN_TOOLS_CAIRN_COMMANDS_FRAME_EDIT_H_
#define CAIRN_TOOLS_CAIRN_COMMANDS_FRAME_EDIT_H_

#include <chrono>
#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include <CLI/CLI.hpp>

#include "cairn/frame.h"

namespace cairn::tool {

struct EditFlags {
  std::string frame;
  std::chrono::milliseconds wait{0};
  uint64_t keep = 0;
  int64_t max_size = 0;
  int threads = 0;
  bool quiet = false;
};

// Adds FRAME, and --keep, --max-size, --wait and --quiet.
void AddFrame(CLI::App& app, EditFlags& flags, const std::string& description);
void AddWriting(CLI::App& app, EditFlags& flags);

// An edit that a writer stages, of a frame that was like this before.
using FrameEdit = absl::FunctionRef<absl::Status(Writer& writer, const FrameInfo& before)>;

// Makes one edit durable, or nothing of it. Returns what the frame is then.
absl::StatusOr<FrameInfo> EditFrame(const EditFlags& flags, FrameEdit edit);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_COMMANDS_FRAME_EDIT_H_
