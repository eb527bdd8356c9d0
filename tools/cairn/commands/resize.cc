// cairn resize: gives an array another shape.

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"

#include "cairn/frame.h"
#include "tools/cairn/commands/commands.h"
#include "tools/cairn/commands/frame_edit.h"
#include "tools/cairn/flags/array_flags.h"
#include "tools/cairn/flags/flags.h"
#include "tools/cairn/io/io.h"
#include "tools/cairn/text/about.h"
#include "tools/cairn/text/shape.h"
#include "tools/cairn/text/stored_size.h"
#include "tools/cairn/text/units.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

struct ResizeFlags : EditFlags {
  std::vector<int64_t> shape;
};

absl::Status Resize(const ResizeFlags& flags) {
  ASSIGN_OR_RETURN(const FrameInfo info,
                   EditFrame(flags, [&](Writer& writer, const FrameInfo& /*before*/) {
                     return writer.ResizeArray(flags.shape);
                   }));
  if (flags.quiet) return absl::OkStatus();
  return WriteLines(
      {absl::StrFormat("%s: now %s, %s, %s in %s", flags.frame, DescribeShape(flags.shape),
                       FormatCount(info.nchunks, "chunk"), FormatByteSize(info.nbytes),
                       FormatByteSize(SizeWithJournal(info)))});
}

}  // namespace

void AddResize(CLI::App& app, Command& chosen) {
  CLI::App* resize = app.add_subcommand("resize", "Change the shape of an n-dimensional array");
  const auto flags = std::make_shared<ResizeFlags>();
  AddFrame(*resize, *flags, "The array");
  const auto parse = [flags](const std::string& text) {
    flags->shape = ParseShape("SHAPE", text, 0);
  };
  resize->add_option_function<std::string>("SHAPE", parse, "Its new shape, such as 100,200")
      ->required();
  AddThreads(*resize, flags->threads);
  AddWriting(*resize, *flags);
  resize->footer(
      "New items are zeros; items outside of the new shape are deleted. The number of dimensions\n"
      "does not change.\n"
      "\nExample:\n"
      "  cairn resize grid.b2nd 2000,1000");
  resize->callback(
      [flags, &chosen] { chosen = [flags] { return About(flags->frame, Resize(*flags)); }; });
}

}  // namespace cairn::tool
