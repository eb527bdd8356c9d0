// cairn chunk: inserts, replaces, deletes and reorders chunks.

#include "cairn/chunk.h"

#include <limits>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "cairn/frame.h"
#include "tools/cairn/commands/commands.h"
#include "tools/cairn/commands/frame_edit.h"
#include "tools/cairn/flags/flags.h"
#include "tools/cairn/io/io.h"
#include "tools/cairn/report/frame_summary.h"
#include "tools/cairn/text/about.h"
#include "tools/cairn/text/stored_size.h"
#include "tools/cairn/text/units.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

struct ChunkFlags : EditFlags {
  int64_t index = 0;
  int64_t count = 1;
  std::vector<int64_t> order;
  std::string input = "-";
  bool compressed = false;
};

constexpr int64_t kLargestNumber = std::numeric_limits<int64_t>::max();

// Makes one edit, and prints the result.
absl::Status EditChunks(const ChunkFlags& flags, std::string_view done, FrameEdit edit) {
  ASSIGN_OR_RETURN(const FrameInfo after, EditFrame(flags, edit));
  if (flags.quiet) return absl::OkStatus();
  return WriteLines({absl::StrFormat(
      "%s: %s, now %s, %s in %s", flags.frame, done, FormatCount(after.nchunks, "chunk"),
      FormatByteSize(after.nbytes), FormatByteSize(SizeWithJournal(after)))});
}

// Reads all of the input, but not more than a chunk can hold.
absl::StatusOr<std::vector<std::byte>> ReadItems(Input& input, const FrameInfo& info) {
  return input.ReadAll(static_cast<size_t>(info.chunksize.value_or(kMaxChunkBytes)));
}

absl::StatusOr<std::vector<std::byte>> ReadChunk(Input& input) {
  ASSIGN_OR_RETURN(std::vector<std::byte> chunk, input.ReadAll(MaxCompressedSize(kMaxChunkBytes)));
  const absl::StatusOr<ChunkInfo> info = InspectChunk(chunk);
  if (!info.ok()) {
    return absl::Status(info.status().code(),
                        absl::StrCat(input.name(), ": ", info.status().message()));
  }
  if (static_cast<size_t>(info->cbytes) == chunk.size()) return chunk;
  return absl::DataLossError(absl::StrFormat("%s: a chunk of %d bytes followed by %d more",
                                             input.name(), info->cbytes,
                                             chunk.size() - static_cast<size_t>(info->cbytes)));
}

absl::Status CheckInsertion(const FrameInfo& info, int64_t index) {
  if (index <= info.nchunks) return absl::OkStatus();
  return absl::OutOfRangeError(
      absl::StrFormat("the frame has %s, so a new one can be inserted at 0 to %d, not at %d",
                      FormatCount(info.nchunks, "chunk"), info.nchunks, index));
}

absl::Status CheckRange(const FrameInfo& info, int64_t index, int64_t count) {
  RETURN_IF_ERROR(CheckChunkExists(info, index));
  if (count <= info.nchunks - index) return absl::OkStatus();
  return absl::OutOfRangeError(absl::StrFormat("the frame has %s, not %d from chunk %d",
                                               FormatCount(info.nchunks, "chunk"), count, index));
}

// The place where the bytes of a chunk go.
struct Destination {
  absl::Status (*check)(const FrameInfo& info, int64_t index);
  absl::Status (Writer::*items)(int64_t, Items);
  absl::Status (Writer::*compressed)(int64_t, Bytes);
};

absl::Status PutChunk(const ChunkFlags& flags, std::string_view done, const Destination& put) {
  ASSIGN_OR_RETURN(Input input, Input::Open(flags.input));
  if (input.IsSameFileAs(flags.frame)) {
    return absl::InvalidArgumentError(
        absl::StrCat(flags.frame, ": cannot become a chunk of itself"));
  }
  return EditChunks(flags, absl::StrFormat("chunk %d %s", flags.index, done),
                    [&](Writer& writer, const FrameInfo& info) {
                      RETURN_IF_ERROR(put.check(info, flags.index));
                      ASSIGN_OR_RETURN(
                          const std::vector<std::byte> bytes,
                          flags.compressed ? ReadChunk(input) : ReadItems(input, info));
                      return flags.compressed ? (writer.*put.compressed)(flags.index, bytes)
                                              : (writer.*put.items)(flags.index, bytes);
                    });
}

absl::Status Insert(const ChunkFlags& flags) {
  return PutChunk(flags, "inserted",
                  {CheckInsertion, &Writer::InsertChunk, &Writer::InsertCompressed});
}

absl::Status Update(const ChunkFlags& flags) {
  return PutChunk(flags, "replaced",
                  {CheckChunkExists, &Writer::UpdateChunk, &Writer::UpdateCompressed});
}

absl::Status Delete(const ChunkFlags& flags) {
  return EditChunks(flags, FormatCount(flags.count, "chunk") + " deleted",
                    [&](Writer& writer, const FrameInfo& info) {
                      RETURN_IF_ERROR(CheckRange(info, flags.index, flags.count));
                      return writer.DeleteChunks(flags.index, flags.count);
                    });
}

absl::Status ReorderChunks(const ChunkFlags& flags) {
  return EditChunks(flags, "reordered", [&](Writer& writer, const FrameInfo& info) {
    for (const int64_t chunk : flags.order) RETURN_IF_ERROR(CheckChunkExists(info, chunk));
    return writer.ReorderChunks(flags.order);
  });
}

// Adds `cairn chunk NAME FRAME`. Finish sets what it runs.
CLI::App* AddVerb(CLI::App& group, const std::string& name, const std::string& description,
                  const std::shared_ptr<ChunkFlags>& flags) {
  CLI::App* verb = group.add_subcommand(name, description);
  AddFrame(*verb, *flags, "The frame");
  return verb;
}

void AddIndex(CLI::App& verb, ChunkFlags& flags, const std::string& description) {
  AddNumber(verb, "INDEX", flags.index, int64_t{0}, kLargestNumber)
      ->description(description)
      ->required();
}

void AddInput(CLI::App& verb, ChunkFlags& flags) {
  verb.add_option("FILE", flags.input, "The items of the chunk; '-' is standard input");
  verb.add_flag("--compressed", flags.compressed,
                "FILE is a compressed chunk, which is stored unchanged");
  AddThreads(verb, flags.threads);
}

void Finish(CLI::App& verb, const std::shared_ptr<ChunkFlags>& flags, Command& chosen,
            absl::Status (*run)(const ChunkFlags&)) {
  AddWriting(verb, *flags);
  verb.callback([flags, run, &chosen] {
    chosen = [flags, run] { return About(flags->frame, run(*flags)); };
  });
}

void AddInsert(CLI::App& group, Command& chosen) {
  const auto flags = std::make_shared<ChunkFlags>();
  CLI::App* verb = AddVerb(group, "insert", "Insert a new chunk before another", flags);
  AddIndex(*verb, *flags, "Number of the new chunk; the number of chunks appends");
  AddInput(*verb, *flags);
  verb->footer(
      "Example: the items of day0.f32 become the first chunk\n"
      "  cairn chunk insert temps.b2frame 0 day0.f32");
  Finish(*verb, flags, chosen, Insert);
}

void AddUpdate(CLI::App& group, Command& chosen) {
  const auto flags = std::make_shared<ChunkFlags>();
  CLI::App* verb = AddVerb(group, "update", "Replace a chunk", flags);
  AddIndex(*verb, *flags, "Number of the chunk, from 0");
  AddInput(*verb, *flags);
  verb->footer(
      "Example:\n"
      "  cairn encode day3.f32 --typesize 4 --codec zstd --level 9 |\n"
      "    cairn chunk update temps.b2frame 3 --compressed");
  Finish(*verb, flags, chosen, Update);
}

void AddDelete(CLI::App& group, Command& chosen) {
  const auto flags = std::make_shared<ChunkFlags>();
  CLI::App* verb = AddVerb(group, "delete", "Delete chunks", flags);
  AddIndex(*verb, *flags, "Number of the first chunk, from 0");
  AddNumber(*verb, "COUNT", flags->count, int64_t{1}, kLargestNumber)
      ->description("How many chunks")
      ->default_str("1");
  verb->footer(
      "Their bytes stay in the file until 'cairn compact' or 'cairn reclaim' frees them.\n"
      "\nExample: delete chunks 5, 6 and 7\n"
      "  cairn chunk delete temps.b2frame 5 3");
  Finish(*verb, flags, chosen, Delete);
}

void AddReorder(CLI::App& group, Command& chosen) {
  const auto flags = std::make_shared<ChunkFlags>();
  CLI::App* verb = AddVerb(group, "reorder", "Put the chunks into another order", flags);
  const auto parse = [flags](const std::vector<std::string>& numbers) {
    for (const std::string& number : numbers) {
      flags->order.push_back(ParseNumberOption("ORDER", number, int64_t{0}, kLargestNumber));
    }
  };
  verb->add_option_function<std::vector<std::string>>(
          "ORDER", parse, "Numbers of all chunks, joined by commas, in the new order")
      ->required()
      ->delimiter(',');
  verb->footer(
      "Example: of three chunks the last becomes the first\n"
      "  cairn chunk reorder temps.b2frame 2,0,1");
  Finish(*verb, flags, chosen, ReorderChunks);
}

}  // namespace

void AddChunk(CLI::App& app, Command& chosen) {
  CLI::App* group = app.add_subcommand("chunk", "Insert, update, delete or reorder chunks");
  group->require_subcommand(1);
  AddInsert(*group, chosen);
  AddUpdate(*group, chosen);
  AddDelete(*group, chosen);
  AddReorder(*group, chosen);
  group->footer("See 'cairn chunk COMMAND --help' for the options of a command.");
}

}  // namespace cairn::tool
