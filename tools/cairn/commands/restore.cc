// cairn restore: updates a copy of a frame by increments.

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"

#include "cairn/collection.h"
#include "cairn/frame.h"
#include "tools/cairn/commands/commands.h"
#include "tools/cairn/flags/flags.h"
#include "tools/cairn/io/files.h"
#include "tools/cairn/io/held_signals.h"
#include "tools/cairn/io/io.h"
#include "tools/cairn/io/members.h"
#include "tools/cairn/io/patience.h"
#include "tools/cairn/text/about.h"
#include "tools/cairn/text/json.h"
#include "tools/cairn/text/units.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

struct RestoreFlags {
  std::string frame;
  std::vector<std::string> increments;
  std::chrono::milliseconds wait{0};
  bool json = false;
  bool quiet = false;
};

struct Restored {
  size_t applied = 0;
  uint64_t generation = 0;  // of the source
  const char* unit = "generation";
};

absl::StatusOr<IncrementInfo> InfoOfFrame(const std::string& path) {
  ASSIGN_OR_RETURN(const Frame increment, Frame::Open(path, {.file_system = FilesAt(path)}));
  return increment.snapshot().GetIncrementInfo();
}

absl::StatusOr<IncrementInfo> InfoOfCollection(const std::string& path) {
  ASSIGN_OR_RETURN(const CollectionSnapshot increment, Sources().OpenPacked(path));
  return increment.GetIncrementInfo();
}

using GetInfo = absl::StatusOr<IncrementInfo> (*)(const std::string& path);

// Returns the first increment whose result the frame does not have yet. Errors:
// kFailedPrecondition if a newer one comes before those that it has.
absl::StatusOr<size_t> FindFirst(const RestoreFlags& flags, uint64_t content, GetInfo get_info) {
  size_t first = 0;
  size_t newest = 0;
  uint64_t generation = 0;  // of the newest so far
  for (size_t i = 0; i < flags.increments.size(); ++i) {
    const absl::StatusOr<IncrementInfo> info = get_info(flags.increments[i]);
    if (!info.ok()) return About(flags.increments[i], info.status());
    const bool is_newest = info->result_generation >= generation;
    if (is_newest) {
      newest = i;
      generation = info->result_generation;
    }
    if (info->result_hash != content) continue;
    // The newest would be skipped, although the frame lacks it.
    if (!is_newest) {
      return About(flags.increments[newest],
                   absl::FailedPreconditionError(absl::StrFormat(
                       "made after %s, whose content is there: name the oldest first",
                       flags.increments[i])));
    }
    first = i + 1;
  }
  return first;
}

// Applies an increment in a commit of its own.
absl::Status Apply(const std::string& path, Writer& writer, Restored& restored) {
  ASSIGN_OR_RETURN(const Frame increment, Frame::Open(path, {.file_system = FilesAt(path)}));
  ASSIGN_OR_RETURN(const IncrementInfo info, increment.snapshot().GetIncrementInfo());
  // In an object store another writer may commit in the meantime, perhaps the same increment.
  constexpr int kMaxTries = 8;
  for (int tries = 1;; ++tries) {
    RETURN_IF_ERROR(writer.ApplyIncrement(increment.snapshot()));
    const absl::StatusOr<Snapshot> committed = writer.Commit();
    if (committed.ok()) break;
    if (!absl::IsAborted(committed.status()) || tries == kMaxTries) return committed.status();
    writer.Rollback();
    ASSIGN_OR_RETURN(const Snapshot now, writer.StagedSnapshot());
    ASSIGN_OR_RETURN(const uint64_t content, now.ContentHash());
    if (content == info.result_hash) return absl::OkStatus();
  }
  ++restored.applied;
  restored.generation = info.result_generation;
  return absl::OkStatus();
}

// Applies an increment of a collection, which is a commit.
absl::Status ApplyToCollection(const std::string& path, const RestoreFlags& flags,
                               Collection& collection, Restored& restored) {
  ASSIGN_OR_RETURN(const CollectionSnapshot increment, Sources().OpenPacked(path));
  ASSIGN_OR_RETURN(const IncrementInfo info, increment.GetIncrementInfo());
  // Another program may have restored it in the meantime.
  ASSIGN_OR_RETURN(const bool applied, collection.ApplyIncrement(increment, {.wait = flags.wait}));
  if (!applied) return absl::OkStatus();
  ++restored.applied;
  restored.generation = info.result_generation;
  return absl::OkStatus();
}

absl::Status Print(const RestoreFlags& flags, const Restored& restored) {
  const size_t skipped = flags.increments.size() - restored.applied;
  if (flags.json) {
    const Json json = {{"applied", restored.applied}, {"skipped", skipped}};
    return WriteStdout(Dump(json, 2) + "\n");
  }
  if (restored.applied == 0) {
    return WriteLines({flags.frame + ": has the content of the last increment already"});
  }
  return WriteLines(
      {absl::StrFormat("%s: %s applied; it has the content of %s %d of its source", flags.frame,
                       FormatCount(static_cast<int64_t>(restored.applied), "increment"),
                       restored.unit, restored.generation)});
}

absl::Status RestoreCollection(const RestoreFlags& flags) {
  const HeldSignals signals;
  absl::StatusOr<Collection> collection =
      Collection::Open(flags.frame, {.members = {.file_system = FilesAt(flags.frame)}});
  if (!collection.ok()) return About(flags.frame, collection.status());
  const absl::StatusOr<uint64_t> content = collection->snapshot().ContentHash();
  if (!content.ok()) return About(flags.frame, content.status());
  ASSIGN_OR_RETURN(const size_t first, FindFirst(flags, *content, &InfoOfCollection));
  Restored restored{.unit = "commit"};
  for (size_t i = first; i < flags.increments.size(); ++i) {
    RETURN_IF_ERROR(signals.Check());
    const absl::Status status =
        ApplyToCollection(flags.increments[i], flags, *collection, restored);
    if (!status.ok()) return About(flags.increments[i], status);
  }
  return flags.quiet ? absl::OkStatus() : Print(flags, restored);
}

absl::Status RestoreFrame(const RestoreFlags& flags) {
  const std::optional<CollectionPlace> place = FindInCollection(flags.frame);
  if (place.has_value() && !place->is_member && place->name.empty()) {
    return RestoreCollection(flags);
  }
  const HeldSignals signals;
  absl::StatusOr<Frame> frame = OpenFrame(flags.frame);
  if (!frame.ok()) return About(flags.frame, frame.status());
  absl::StatusOr<Writer> writer = OpenWriterInTurn(*frame, WriterOptions{.wait = flags.wait});
  if (!writer.ok()) return About(flags.frame, writer.status());
  const absl::StatusOr<uint64_t> content = frame->snapshot().ContentHash();
  if (!content.ok()) return About(flags.frame, content.status());
  ASSIGN_OR_RETURN(const size_t first, FindFirst(flags, *content, &InfoOfFrame));
  Restored restored;
  for (size_t i = first; i < flags.increments.size(); ++i) {
    RETURN_IF_ERROR(signals.Check());
    const absl::Status status = Apply(flags.increments[i], *writer, restored);
    if (!status.ok()) return About(flags.increments[i], status);
  }
  const absl::Status closed = writer->Close();
  if (!closed.ok() || flags.quiet) return About(flags.frame, closed);
  return Print(flags, restored);
}

}  // namespace

void AddRestore(CLI::App& app, Command& chosen) {
  CLI::App* restore = app.add_subcommand(
      "restore", "Bring a copy of a frame or collection up to date by increments");
  const auto flags = std::make_shared<RestoreFlags>();
  restore->add_option("FRAME", flags->frame, "The copy")->required();
  restore
      ->add_option("INCREMENT", flags->increments,
                   "What 'cairn backup --since' or '--since-copy' made, the oldest first")
      ->required();
  AddWait(*restore, flags->wait);
  CLI::Option* json = restore->add_flag("--json", flags->json, "Print JSON");
  restore->add_flag("--quiet", flags->quiet, "Print no summary")->excludes(json);
  restore->footer(
      "Each increment is one commit. It is applied only to the content that it was made for, and\n"
      "what it makes is checked before the commit. Increments that FRAME has already are skipped.\n"
      "\nExample:\n"
      "  cairn restore copy.b2frame monday.b2frame tuesday.b2frame\n"
      "  cairn restore copy.b2d monday.b2z");
  restore->callback([flags, &chosen] { chosen = [flags] { return RestoreFrame(*flags); }; });
}

}  // namespace cairn::tool
