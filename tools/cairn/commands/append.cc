// cairn append: appends a file's bytes to a frame.

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "cairn/frame.h"
#include "tools/cairn/commands/commands.h"
#include "tools/cairn/commands/frame_edit.h"
#include "tools/cairn/flags/flags.h"
#include "tools/cairn/io/database_parts.h"
#include "tools/cairn/io/io.h"
#include "tools/cairn/io/members.h"
#include "tools/cairn/io/patience.h"
#include "tools/cairn/io/progress.h"
#include "tools/cairn/io/whole_items.h"
#include "tools/cairn/report/frame_summary.h"
#include "tools/cairn/streams/append_batches.h"
#include "tools/cairn/streams/append_input.h"
#include "tools/cairn/streams/array_input.h"
#include "tools/cairn/text/about.h"
#include "tools/cairn/text/stored_size.h"
#include "tools/cairn/text/units.h"
#include "tools/cairn/text/words.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

struct AppendFlags : EditFlags {
  std::string input = "-";
  std::optional<int32_t> commit_every;
  std::string durability = "machine";
  std::optional<int> axis;
  bool ack = false;
  bool allow_partial = false;
};

// If chunks may differ in size, one run of the command makes one chunk.
absl::StatusOr<int64_t> AppendOneChunk(Input& input, Writer& writer) {
  ASSIGN_OR_RETURN(const std::vector<std::byte> all, input.ReadAll(kMaxChunkBytes));
  if (!all.empty()) {
    RETURN_IF_ERROR(writer.Append(all));
  }
  return static_cast<int64_t>(all.size());
}

// Commits nothing of the input before its end.
absl::StatusOr<int64_t> AppendAtOnce(Input& input, Writer& writer, const FrameInfo& info,
                                     bool allow_partial) {
  const int32_t chunksize = info.chunksize.value_or(WriterOptions().chunksize);
  // If chunks differ in size, nothing completes an item that the last one left short.
  const int64_t pending = info.variable_chunks ? 0 : info.nbytes % info.typesize;
  const auto check = [&](int64_t size) {
    return allow_partial ? absl::OkStatus() : CheckWholeItems(input, size, pending, info.typesize);
  };
  if (input.size()) {
    RETURN_IF_ERROR(check(*input.size()));
  }
  Progress progress("appending", input.size());
  ASSIGN_OR_RETURN(const int64_t size, info.variable_chunks
                                           ? AppendOneChunk(input, writer)
                                           : AppendInput(input, writer, chunksize, progress));
  RETURN_IF_ERROR(check(size));
  RETURN_IF_ERROR(writer.Close());
  return size;
}

// Appends the input to an array.
absl::StatusOr<int64_t> AppendToArray(int axis, Input& input, Writer& writer) {
  Progress progress("appending", input.size());
  ASSIGN_OR_RETURN(const int64_t size, AppendSlices(axis, input, writer, progress));
  RETURN_IF_ERROR(writer.Close());
  return size;
}

absl::StatusOr<int64_t> AppendTo(Frame& frame, Input& input, const AppendFlags& flags) {
  const std::shared_ptr<Executor> executor = MakeExecutor(flags.threads);
  ASSIGN_OR_RETURN(Writer writer,
                   OpenWriterInTurn(frame, WriterOptions{.wait = flags.wait,
                                                         .keep_generations = flags.keep,
                                                         .max_file_size = flags.max_size,
                                                         .executor = executor}));
  const FrameInfo info = frame.snapshot().info();
  if (flags.axis) return AppendToArray(*flags.axis, input, writer);
  if (!flags.commit_every) return AppendAtOnce(input, writer, info, flags.allow_partial);
  const BatchOptions options = {.items = *flags.commit_every,
                                .durability = *FindWord(kDurabilityWords, flags.durability),
                                .ack = flags.ack};
  return BatchAppender(writer, info, options).Run(input);
}

absl::Status Append(const AppendFlags& flags) {
  RETURN_IF_ERROR(CheckHasNoPartsBeside(flags.input));
  ASSIGN_OR_RETURN(Input input, Input::Open(flags.input));
  if (input.IsSameFileAs(flags.frame)) {
    return absl::InvalidArgumentError(absl::StrCat(flags.frame, ": cannot append to itself"));
  }
  ASSIGN_OR_RETURN(Frame frame, OpenFrame(flags.frame));
  const absl::StatusOr<int64_t> size = AppendTo(frame, input, flags);
  if (!size.ok() || flags.quiet || flags.ack) return size.status();
  const FrameInfo info = frame.snapshot().info();
  return WriteLines({absl::StrFormat(
      "%s: %s appended, now %s in %s (%s), %s", flags.frame, FormatByteSize(*size),
      FormatByteSize(info.nbytes), FormatByteSize(SizeWithJournal(info)),
      FormatRatio(info.nbytes, SizeWithJournal(info)), FormatCount(info.nchunks, "chunk"))});
}

// Adds the options that commit during the input.
void AddBatches(CLI::App& append, AppendFlags& flags) {
  CLI::Option* every =
      AddNumber(append, "--commit-every", flags.commit_every, 1,
                std::numeric_limits<int32_t>::max())
          ->description("Commit whenever N items have arrived, and the rest at the end");
  append
      .add_option(
          "--durability", flags.durability,
          "What such a commit survives: process, the death of this process; machine, also a "
          "power cut")
      ->capture_default_str()
      ->check(CLI::IsMember(NamesOf(kDurabilityWords)))
      ->type_name("WHAT")
      ->needs(every);
  append
      .add_flag("--ack", flags.ack,
                "Print 'committed N' after each commit, where N counts the items of the frame")
      ->needs(every);
  AddAllowPartial(append, flags.allow_partial)->excludes(every);
}

}  // namespace

void AddAppend(CLI::App& app, Command& chosen) {
  CLI::App* append = app.add_subcommand("append", "Append a file's bytes to a frame");
  const auto flags = std::make_shared<AppendFlags>();
  AddFrame(*append, *flags, "The frame, which keeps its codec and filters");
  append->add_option("FILE", flags->input, "What to append; '-' is standard input");
  AddBatches(*append, *flags);
  AddNumber(*append, "--axis", flags->axis, 0, kMaxDimensions - 1)
      ->description(
          "Append slices along this axis of an n-dimensional array; axis 0 varies slowest")
      ->excludes("--commit-every");
  AddThreads(*append, flags->threads);
  AddWriting(*append, *flags);
  append->footer(
      "Either all of the input becomes part of the frame, or none; with --commit-every what is\n"
      "committed stays.\n"
      "\nExamples: all at once, and as the items arrive\n"
      "  sensor --dump | cairn append temps.b2frame -\n"
      "  sensor | cairn append temps.b2frame - --commit-every 100 --ack");
  append->callback(
      [flags, &chosen] { chosen = [flags] { return About(flags->frame, Append(*flags)); }; });
}

}  // namespace cairn::tool
