// cairn append: a file's bytes go behind those of a frame.

#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "cairn/frame.h"
#include "tools/cairn/about.h"
#include "tools/cairn/append_input.h"
#include "tools/cairn/commands.h"
#include "tools/cairn/flags.h"
#include "tools/cairn/io.h"
#include "tools/cairn/progress.h"
#include "tools/cairn/stored_size.h"
#include "tools/cairn/units.h"

namespace cairn::tool {

namespace {

struct AppendFlags {
  std::string frame;
  std::string input = "-";
  int threads = 0;
  bool quiet = false;
};

// Where chunks may differ in size, one run of the command makes one chunk.
absl::StatusOr<int64_t> AppendOneChunk(Input& input, Writer& writer) {
  const absl::StatusOr<std::vector<std::byte>> all = input.ReadAll(kMaxChunkBytes);
  if (!all.ok()) return all.status();
  if (!all->empty()) {
    if (absl::Status status = writer.Append(*all); !status.ok()) return status;
  }
  return static_cast<int64_t>(all->size());
}

// Keeps no snapshot, which would keep the files of a sparse frame that the commit replaces.
absl::StatusOr<FrameInfo> NewestInfo(Frame& frame) {
  const absl::StatusOr<Snapshot> snapshot = frame.Refresh();
  if (!snapshot.ok()) return snapshot.status();
  return snapshot->info();
}

absl::Status Append(const AppendFlags& flags) {
  absl::StatusOr<Input> input = Input::Open(flags.input);
  if (!input.ok()) return input.status();
  if (input->IsSameFileAs(flags.frame)) {
    return absl::InvalidArgumentError(absl::StrCat(flags.frame, ": cannot append to itself"));
  }
  const std::unique_ptr<Executor> executor = MakeExecutor(flags.threads);
  absl::StatusOr<Frame> frame = Frame::Open(flags.frame);
  if (!frame.ok()) return frame.status();
  const WriterOptions options = {.executor = executor.get()};
  absl::StatusOr<Writer> writer = frame->OpenWriter(options);
  if (!writer.ok()) return writer.status();

  const absl::StatusOr<FrameInfo> before = NewestInfo(*frame);
  if (!before.ok()) return before.status();
  const int32_t chunksize = before->chunksize;
  Progress progress("appending", input->size());
  const absl::StatusOr<int64_t> size =
      chunksize == 0
          ? AppendOneChunk(*input, *writer)
          : AppendInput(*input, *writer, chunksize > 0 ? chunksize : options.chunksize, progress);
  if (!size.ok()) return size.status();
  if (absl::Status status = writer->Close(); !status.ok()) return status;

  const absl::StatusOr<Snapshot> after = frame->Refresh();
  if (!after.ok() || flags.quiet) return after.status();
  const FrameInfo& info = after->info();
  return WriteStdout(absl::StrFormat(
      "%s: %s appended, now %s in %s (%s), %s\n", flags.frame, FormatByteSize(*size),
      FormatByteSize(info.nbytes), FormatByteSize(StoredSize(info)),
      FormatRatio(info.nbytes, StoredSize(info)), FormatCount(info.nchunks, "chunk")));
}

}  // namespace

void AddAppend(CLI::App& app, Command& chosen) {
  CLI::App* append = app.add_subcommand("append", "Append a file's bytes to a frame");
  const auto flags = std::make_shared<AppendFlags>();
  append->add_option("FRAME", flags->frame, "The frame, which keeps its codec and filters")
      ->required();
  append->add_option("FILE", flags->input, "What to append; '-' is standard input");
  AddThreads(*append, flags->threads);
  append->add_flag("--quiet", flags->quiet, "Print no summary");
  append->footer(
      "All of the input becomes part of the frame, or nothing of it.\n"
      "\nExample:\n"
      "  sensor --dump | cairn append temps.b2frame -");
  append->callback(
      [flags, &chosen] { chosen = [flags] { return About(flags->frame, Append(*flags)); }; });
}

}  // namespace cairn::tool
