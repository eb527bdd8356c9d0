// cairn resize: an array gets another shape.

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"

#include "cairn/frame.h"
#include "tools/cairn/commands/commands.h"
#include "tools/cairn/flags/arrays.h"
#include "tools/cairn/flags/flags.h"
#include "tools/cairn/io/io.h"
#include "tools/cairn/report/frame_summary.h"
#include "tools/cairn/text/about.h"
#include "tools/cairn/text/stored_size.h"
#include "tools/cairn/text/units.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

struct ResizeFlags {
  std::string frame;
  std::vector<int64_t> shape;
  std::chrono::milliseconds wait{0};
  int threads = 0;
  bool quiet = false;
};

absl::Status Resize(const ResizeFlags& flags) {
  const std::unique_ptr<Executor> executor = MakeExecutor(flags.threads);
  ASSIGN_OR_RETURN(Frame frame, Frame::Open(flags.frame));
  ASSIGN_OR_RETURN(Writer writer,
                   frame.OpenWriter({.wait = flags.wait, .executor = executor.get()}));
  RETURN_IF_ERROR(writer.Resize(flags.shape));
  RETURN_IF_ERROR(writer.Close());
  const absl::StatusOr<FrameInfo> info = NewestInfo(frame);
  if (!info.ok() || flags.quiet) return info.status();
  return WriteLines(
      {absl::StrFormat("%s: now %s, %s, %s in %s", flags.frame, DescribeShape(flags.shape),
                       FormatCount(info->nchunks, "chunk"), FormatByteSize(info->nbytes),
                       FormatByteSize(StoredSize(*info)))});
}

}  // namespace

void AddResize(CLI::App& app, Command& chosen) {
  CLI::App* resize = app.add_subcommand("resize", "Change the shape of an n-dimensional array");
  const auto flags = std::make_shared<ResizeFlags>();
  resize->add_option("FRAME", flags->frame, "The array")->required();
  const auto parse = [flags](const std::string& text) {
    flags->shape = ParseShape("SHAPE", text, 0);
  };
  resize->add_option_function<std::string>("SHAPE", parse, "Its new shape, such as 100,200")
      ->required();
  AddWait(*resize, flags->wait);
  AddThreads(*resize, flags->threads);
  resize->add_flag("--quiet", flags->quiet, "Print no summary");
  resize->footer(
      "New items are zeros; items outside of the new shape are deleted. The number of dimensions\n"
      "does not change.\n"
      "\nExample:\n"
      "  cairn resize grid.b2nd 2000,1000");
  resize->callback(
      [flags, &chosen] { chosen = [flags] { return About(flags->frame, Resize(*flags)); }; });
}

}  // namespace cairn::tool
