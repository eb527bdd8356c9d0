// cairn cat: writes the decoded bytes of a frame, or a part of them, on standard output.

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>
#include <vector>

#include "absl/strings/str_format.h"

#include "cairn/frame.h"
#include "tools/cairn/commands/cat_rows.h"
#include "tools/cairn/commands/commands.h"
#include "tools/cairn/flags/box.h"
#include "tools/cairn/flags/flags.h"
#include "tools/cairn/io/io.h"
#include "tools/cairn/io/members.h"
#include "tools/cairn/io/progress.h"
#include "tools/cairn/report/damage_check.h"
#include "tools/cairn/report/frame_summary.h"
#include "tools/cairn/streams/data_out.h"
#include "tools/cairn/streams/follow.h"
#include "tools/cairn/text/about.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

struct CatFlags {
  std::string frame;
  int64_t first_item = 0;
  std::optional<int64_t> items;
  std::optional<int64_t> chunk;
  std::optional<std::string> box;
  std::optional<uint64_t> generation;
  bool stored = false;
  bool follow = false;
  bool durable = false;
  int64_t offset = 0;
  std::optional<int64_t> max_bytes;
  int threads = 0;
  OutputFlags rows;  // has a format of its own only if rows are asked for
  std::string dtype;
};

// Returns the label of the progress bar. There is none if the bar would run through the data that a
// terminal shows.
std::string BarLabel() { return isatty(STDOUT_FILENO) == 1 ? "" : "reading"; }

// Writes a box piece by piece, so that it may be larger than memory.
absl::Status CatBox(const Snapshot& snapshot, const CatFlags& flags) {
  constexpr int64_t kPiece = 64 << 20;
  if (!snapshot.array()) {
    return absl::FailedPreconditionError("--box: the frame holds no n-dimensional array");
  }
  ASSIGN_OR_RETURN(const Box box, ParseBox(*flags.box, snapshot.array()->shape));
  // Reading an empty box checks that the frame has what its array claims, before anything is
  // multiplied.
  if (const std::vector<int64_t> nothing(box.shape.size()); !nothing.empty()) {
    RETURN_IF_ERROR(snapshot.ReadBox(box.start, nothing, {}));
  }
  const int64_t typesize = snapshot.info().typesize;
  const int64_t nbytes = CountItems(box) * typesize;
  RETURN_IF_ERROR(CheckMaxBytes(flags.max_bytes, nbytes));
  Progress progress(BarLabel(), nbytes);
  std::optional<Buffer> buffer;
  int64_t done = 0;
  return ForEachPiece(box, kPiece / typesize, [&](const Box& part) {
    const int64_t size = CountItems(part) * typesize;
    if (!buffer || buffer->bytes().size() < static_cast<size_t>(size)) {
      buffer.emplace(static_cast<size_t>(size));
    }
    const MutableBytes items = buffer->first(static_cast<size_t>(size));
    RETURN_IF_ERROR(snapshot.ReadBox(part.start, part.shape, items));
    progress.Show(done += size);
    return WriteStdout(items);
  });
}

// Returns the items that are asked for.
absl::StatusOr<Range> ItemsOf(const CatFlags& flags, int64_t nitems) {
  const int64_t items = flags.items.value_or(std::max<int64_t>(0, nitems - flags.first_item));
  if (flags.first_item > nitems) {
    return absl::OutOfRangeError(
        absl::StrFormat("first item %d: the frame has %d items", flags.first_item, nitems));
  }
  if (items > nitems - flags.first_item) {
    return absl::OutOfRangeError(absl::StrFormat("%d items from item %d: the frame has %d", items,
                                                 flags.first_item, nitems));
  }
  return Range{flags.first_item, flags.first_item + items};
}

// Returns the bytes of items in the order of the chunks, one after the other. The last item of a
// frame may be short.
absl::StatusOr<Range> StoredBytesOf(const CatFlags& flags, const FrameInfo& info) {
  const int64_t nitems = info.nbytes / info.typesize + (info.nbytes % info.typesize == 0 ? 0 : 1);
  ASSIGN_OR_RETURN(const Range items, ItemsOf(flags, nitems));
  // No product overflows, because there are no more items than the frame's bytes hold.
  const auto bytes_before = [&](int64_t item) {
    return item >= nitems ? info.nbytes : item * info.typesize;
  };
  return Range{bytes_before(items.begin), bytes_before(items.end)};
}

absl::Status CatChunk(const Snapshot& snapshot, const CatFlags& flags) {
  const int64_t chunk = *flags.chunk;
  RETURN_IF_ERROR(CheckChunkExists(snapshot.info(), chunk));
  ASSIGN_OR_RETURN(const int32_t size, snapshot.ChunkNbytes(chunk));
  RETURN_IF_ERROR(CheckMaxBytes(flags.max_bytes, size));
  Progress progress(BarLabel(), std::nullopt);
  return WriteChunks(snapshot, {chunk, chunk + 1}, progress);
}

absl::Status CatArray(const Snapshot& snapshot, const CatFlags& flags) {
  const FrameInfo& info = snapshot.info();
  ASSIGN_OR_RETURN(const Range items, ItemsOf(flags, info.nitems));
  const int64_t nbytes = (items.end - items.begin) * info.typesize;
  RETURN_IF_ERROR(CheckMaxBytes(flags.max_bytes, nbytes));
  Progress progress(BarLabel(), nbytes);
  return WriteItems(snapshot, items, progress);
}

absl::Status CatItems(const Snapshot& snapshot, const CatFlags& flags) {
  if (snapshot.array() && !flags.stored) return CatArray(snapshot, flags);
  const FrameInfo& info = snapshot.info();
  ASSIGN_OR_RETURN(const Range bytes, StoredBytesOf(flags, info));
  RETURN_IF_ERROR(CheckMaxBytes(flags.max_bytes, bytes.end - bytes.begin));
  Progress progress(BarLabel(), bytes.end - bytes.begin);
  // Chunks may hold more than the header claims for all of them.
  const bool whole = bytes.begin == 0 && bytes.end == info.nbytes && !flags.max_bytes;
  // Without a common size it takes long to get from a byte to its chunk, but not to go chunk by
  // chunk.
  if (whole && !info.chunksize) return WriteChunks(snapshot, {0, info.nchunks}, progress);
  return WriteBytes(snapshot, bytes, progress);
}

absl::Status CatAsRows(const Snapshot& snapshot, const CatFlags& flags) {
  ASSIGN_OR_RETURN(const ItemColumns items, ItemColumnsOf(snapshot, flags.dtype));
  return CatRows(snapshot, items,
                 {.first_item = flags.first_item,
                  .items = flags.items,
                  .box = flags.box,
                  .max_bytes = flags.max_bytes},
                 flags.rows);
}

absl::Status CatAndFollow(Frame& frame, const CatFlags& flags) {
  // A first item that is not there yet is a mistake, not something to wait for. An item that is not
  // complete yet is not there.
  const int64_t nitems = frame.snapshot().info().nitems;
  if (flags.first_item <= nitems) return Follow(frame, flags.frame, flags.first_item);
  return absl::OutOfRangeError(
      absl::StrFormat("follow from item %d: the frame has %d", flags.first_item, nitems));
}

absl::Status Cat(const CatFlags& flags) {
  const bool rows = flags.rows.format != "raw";
  if (!rows && !(flags.rows.fields.empty() && flags.dtype.empty())) {
    return absl::InvalidArgumentError("--fields and --dtype require --csv or --json");
  }
  const std::shared_ptr<Executor> executor = MakeExecutor(flags.threads);
  OpenOptions options;
  options.offset = flags.offset;
  options.generation = flags.generation;
  options.durable_only = flags.durable;
  options.executor = executor;
  if (flags.follow) {
    ASSIGN_OR_RETURN(Frame frame, OpenFrame(flags.frame, options));
    return CatAndFollow(frame, flags);
  }
  ASSIGN_OR_RETURN(const Snapshot snapshot, Sources(options).Open(flags.frame));
  const absl::Status status = rows          ? CatAsRows(snapshot, flags)
                              : flags.box   ? CatBox(snapshot, flags)
                              : flags.chunk ? CatChunk(snapshot, flags)
                                            : CatItems(snapshot, flags);
  return status.ok() ? CheckDamage(snapshot) : status;
}

// Adds the options for values as text, for people and other programs.
void AddRows(CLI::App& cat, const std::shared_ptr<CatFlags>& flags) {
  flags->rows.format = "raw";
  const auto add = [&](const std::string& name, const std::string& format,
                       const std::string& description) {
    return cat
        .add_flag_callback(
            name, [flags, format] { flags->rows.format = format; }, description)
        ->excludes("--chunk")
        ->excludes("--stored");
  };
  CLI::Option* csv = add("--csv", "csv", "Write the values as CSV, one item to a row");
  add("--json", "jsonl", "Write them as JSON, one object to a line")->excludes(csv);
  cat.add_option("--fields", flags->rows.fields, "Of records these fields only, in this order")
      ->type_name("NAMES");
  cat.add_option("--dtype", flags->dtype,
                 "The type of the items, as NumPy names it, in a frame that does not say it")
      ->type_name("TYPE");
}

}  // namespace

void AddCat(CLI::App& app, Command& chosen) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  CLI::App* cat = app.add_subcommand("cat", "Write a frame's data, or a part of it, to stdout");
  const auto flags = std::make_shared<CatFlags>();
  cat->add_option("FRAME", flags->frame, "The frame")->required();
  CLI::Option* first = AddNumber(*cat, "--first-item", flags->first_item, int64_t{0}, kMost)
                           ->description("Begin with this item")
                           ->default_str("0")
                           ->type_name("I");
  CLI::Option* items = AddNumber(*cat, "--items", flags->items, int64_t{0}, kMost)
                           ->description("Write this many items; all by default");
  CLI::Option* chunk = AddNumber(*cat, "--chunk", flags->chunk, int64_t{0}, kMost)
                           ->description("Write this chunk only, as it is stored")
                           ->type_name("I")
                           ->excludes(first)
                           ->excludes(items);
  CLI::Option* box = cat->add_option("--box", flags->box,
                                     "Write a box of an n-dimensional array, such as 3:7,0:10")
                         ->type_name("RANGES")
                         ->excludes(first)
                         ->excludes(items)
                         ->excludes(chunk);
  CLI::Option* stored =
      cat->add_flag("--stored", flags->stored,
                    "Write an array as its chunks hold it: block after block, with padding")
          ->excludes(box);
  CLI::Option* generation = AddGeneration(*cat, flags->generation);
  CLI::Option* max_bytes = AddMaxBytes(*cat, flags->max_bytes);
  AddRows(*cat, flags);
  cat->add_flag("--follow", flags->follow, "Keep writing new items as they are committed")
      ->excludes(max_bytes)
      ->excludes(items)
      ->excludes(chunk)
      ->excludes(box)
      ->excludes(stored)
      ->excludes(generation)
      ->excludes("--csv")
      ->excludes("--json");
  AddDurable(*cat, flags->durable);
  AddOffset(*cat, flags->offset)->description("Where in the file the frame begins");
  AddThreads(*cat, flags->threads);
  cat->footer(
      "Items of an array come in C order. Uninitialised values read as zeros.\n"
      "\nExamples: ten items from item 1000; all items from there, and new ones\n"
      "  cairn cat temps.b2frame --first-item 1000 --items 10 > ten.f32\n"
      "  cairn cat temps.b2frame --first-item 1000 --follow | plot\n"
      "of a frame whose items have a type, the first ten as CSV\n"
      "  cairn cat grid.b2nd --csv --box 0,0:10");
  cat->callback(
      [flags, &chosen] { chosen = [flags] { return About(flags->frame, Cat(*flags)); }; });
}

}  // namespace cairn::tool
