#include "tools/cairn/commands/frame_edit.h"

#include <memory>

#include "tools/cairn/flags/flags.h"
#include "tools/cairn/io/members.h"
#include "tools/cairn/io/patience.h"
#include "tools/status.h"

namespace cairn::tool {

void AddFrame(CLI::App& app, EditFlags& flags, const std::string& description) {
  app.add_option("FRAME", flags.frame, description)->required();
}

void AddWriting(CLI::App& app, EditFlags& flags) {
  AddKeep(app, flags.keep);
  AddMaxSize(app, flags.max_size);
  AddWait(app, flags.wait);
  app.add_flag("--quiet", flags.quiet, "Print no summary");
}

absl::StatusOr<FrameInfo> EditFrame(const EditFlags& flags, FrameEdit edit) {
  const std::shared_ptr<Executor> executor = MakeExecutor(flags.threads);
  ASSIGN_OR_RETURN(Frame frame, OpenFrame(flags.frame));
  ASSIGN_OR_RETURN(Writer writer,
                   OpenWriterInTurn(frame, WriterOptions{.wait = flags.wait,
                                                         .keep_generations = flags.keep,
                                                         .max_file_size = flags.max_size,
                                                         .executor = executor}));
  // This is a copy, because a snapshot would keep the files of a sparse frame that an edit
  // replaces.
  const FrameInfo before = frame.snapshot().info();
  RETURN_IF_ERROR(edit(writer, before));
  RETURN_IF_ERROR(writer.Close());
  return FrameInfo(frame.snapshot().info());
}

}  // namespace cairn::tool
