// cairn backup: copies a frame in use, or writes the changes since an earlier copy.

#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "cairn/frame.h"
#include "tools/cairn/commands/commands.h"
#include "tools/cairn/flags/flags.h"
#include "tools/cairn/io/files.h"
#include "tools/cairn/io/held_signals.h"
#include "tools/cairn/io/io.h"
#include "tools/cairn/io/members.h"
#include "tools/cairn/io/progress.h"
#include "tools/cairn/io/replaceable.h"
#include "tools/cairn/report/damage_check.h"
#include "tools/cairn/text/about.h"
#include "tools/cairn/text/json.h"
#include "tools/cairn/text/stored_size.h"
#include "tools/cairn/text/units.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

struct BackupFlags {
  std::string frame;
  std::string out;
  std::optional<uint64_t> since;
  std::string since_copy;
  bool durable = false;
  bool force = false;
  bool json = false;
  bool quiet = false;
};

// Returns the state at which the increment begins, if there will be one.
absl::StatusOr<std::optional<Snapshot>> FindSince(const BackupFlags& flags) {
  if (!flags.since_copy.empty()) {
    const absl::StatusOr<Frame> copy =
        Frame::Open(flags.since_copy, {.file_system = FilesAt(flags.since_copy)});
    if (!copy.ok()) return About(flags.since_copy, copy.status());
    return copy->snapshot();
  }
  if (!flags.since) return std::nullopt;
  OpenOptions options;
  options.generation = flags.since;
  const absl::StatusOr<Frame> frame = OpenFrame(flags.frame, options);
  if (frame.ok()) return frame->snapshot();
  if (!absl::IsNotFound(frame.status())) return frame.status();
  return absl::NotFoundError(absl::StrCat(
      frame.status().message(),
      "; have the writer keep more generations, or begin at an earlier copy with --since-copy"));
}

absl::Status Print(const BackupFlags& flags, const std::optional<Snapshot>& since,
                   const Snapshot& copied) {
  ASSIGN_OR_RETURN(const Frame made, Frame::Open(flags.out, {.file_system = FilesAt(flags.out)}));
  const FrameInfo info = made.snapshot().info();
  const uint64_t generation = copied.info().generation;
  if (flags.json) {
    Json json = {{"generation", generation}, {"nchunks", info.nchunks}, {"size", StoredSize(info)}};
    if (since) json["since"] = since->info().generation;
    return WriteStdout(Dump(json, 2) + "\n");
  }
  const std::string what = since ? absl::StrFormat("changes from generation %d to %d",
                                                   since->info().generation, generation)
                                 : absl::StrFormat("generation %d", generation);
  return WriteLines(
      {absl::StrFormat("%s: %s, %s in %s", flags.out, what, FormatByteSize(StoredSize(info)),
                       FormatCount(info.nchunks, "chunk"))});
}

// Writes what is new since a copy of a collection, or since one of its commits.
absl::Status BackupChanges(const CollectionSnapshot& snapshot, const BackupFlags& flags) {
  OpenOptions open;
  open.generation = flags.since;
  const std::string& base = flags.since ? flags.frame : flags.since_copy;
  const absl::StatusOr<CollectionSnapshot> since = Sources(open).OpenCollection(base);
  if (!since.ok()) return About(base, since.status());
  RETURN_IF_ERROR(snapshot.WriteIncrement(flags.out, *since));
  if (flags.json) {
    const Json json = {{"number", snapshot.number()},
                       {"since", since->number()},
                       {"members", snapshot.Members().size()}};
    return WriteStdout(Dump(json, 2) + "\n");
  }
  if (flags.quiet) return absl::OkStatus();
  return WriteLines({absl::StrFormat("%s: changes from commit %d to %d", flags.out, since->number(),
                                     snapshot.number())});
}

absl::Status BackupCollection(const CollectionPlace& place, const BackupFlags& flags) {
  if (!place.name.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "a group of a collection: back up ", place.collection, " as a whole, or its members"));
  }
  if (flags.force) {
    return absl::InvalidArgumentError(
        "--force is of frames: the copy of a collection is a new one, and --since or --since-copy "
        "writes what changed");
  }
  RETURN_IF_ERROR(CheckHidesNoMember(flags.out));
  OpenOptions open;
  if (IsUri(flags.out)) open.file_system = FilesAt(flags.out);
  ASSIGN_OR_RETURN(const CollectionSnapshot snapshot,
                   Sources(open).OpenCollection(place.collection));
  if (flags.since || !flags.since_copy.empty()) return BackupChanges(snapshot, flags);
  RETURN_IF_ERROR(snapshot.CopyTo(flags.out));
  const std::vector<std::string> members = snapshot.Members();
  if (flags.json) {
    const Json json = {{"number", snapshot.number()}, {"members", members.size()}};
    return WriteStdout(Dump(json, 2) + "\n");
  }
  if (flags.quiet) return absl::OkStatus();
  const std::string commit =
      snapshot.number() == 0 ? "" : absl::StrCat("commit ", snapshot.number(), ", ");
  return WriteLines(
      {absl::StrFormat("%s: %s%s", flags.out, commit, FormatCount(std::ssize(members), "member"))});
}

absl::Status Backup(const BackupFlags& flags) {
  std::optional<CollectionPlace> place = FindInCollection(flags.frame);
  // A store of values is also a frame. The name of the copy tells which is meant.
  const bool is_for_collection = flags.out.ends_with(".b2d") || flags.out.ends_with(".b2z");
  if (is_for_collection && members::IsStoreFile(flags.frame)) {
    place = {.collection = flags.frame, .name = {}};
  }
  if (place.has_value() && !place->is_member) return BackupCollection(*place, flags);
  const HeldSignals signals;
  RETURN_IF_ERROR(CheckReplaceable(flags.out));
  OpenOptions open;
  open.durable_only = flags.durable;
  ASSIGN_OR_RETURN(const Snapshot snapshot, Sources(open).Open(flags.frame));
  CopyOptions options;
  options.file_system = FilesAt(flags.out);
  ASSIGN_OR_RETURN(options.since, FindSince(flags));
  options.overwrite = flags.force;
  Progress progress("copying", snapshot.info().nchunks, "chunk");
  options.progress = [&](int64_t chunks) {
    progress.Show(chunks);
    return signals.Check().ok();
  };
  TellOfChangedMetalayers(flags.frame, snapshot);
  const absl::Status copied = snapshot.CopyTo(flags.out, options);
  if (absl::IsAlreadyExists(copied)) {
    return absl::AlreadyExistsError(absl::StrCat(copied.message(), "; --force replaces it"));
  }
  if (!copied.ok() || flags.quiet) return copied;
  return Print(flags, options.since, snapshot);
}

}  // namespace

void AddBackup(CLI::App& app, Command& chosen) {
  CLI::App* backup = app.add_subcommand(
      "backup", "Copy a frame or collection that is in use, or what changed since a copy");
  const auto flags = std::make_shared<BackupFlags>();
  backup->add_option("FRAME", flags->frame, "The frame, or the collection")->required();
  backup->add_option("OUT", flags->out, "The copy; of a collection, a .b2z file packs it")
      ->required();
  CLI::Option* since =
      AddNumber(*backup, "--since", flags->since, uint64_t{0}, std::numeric_limits<uint64_t>::max())
          ->description("Write an increment: what changed since generation G")
          ->type_name("G");
  backup
      ->add_option("--since-copy", flags->since_copy,
                   "The same since COPY was made, or since increments were restored to it")
      ->type_name("COPY")
      ->excludes(since);
  AddDurable(*backup, flags->durable);
  backup->add_flag("--force", flags->force, "Replace OUT when it is a frame");
  CLI::Option* json = backup->add_flag("--json", flags->json, "Print JSON");
  backup->add_flag("--quiet", flags->quiet, "Print no summary")->excludes(json);
  backup->footer(
      "Copies the newest commit, checked but not recompressed, while another program may write.\n"
      "\nExample: a full copy, later what changed since, and both together\n"
      "  cairn backup temps.b2frame full.b2frame\n"
      "  cairn backup temps.b2frame monday.b2frame --since-copy full.b2frame\n"
      "  cairn restore full.b2frame monday.b2frame\n"
      "\nExample: a collection as one file, and that file as a collection again\n"
      "  cairn backup weather.b2d weather.b2z\n"
      "  cairn backup weather.b2z again.b2d\n"
      "\nExample: what changed in a collection since that copy\n"
      "  cairn backup weather.b2d monday.b2z --since-copy again.b2d\n"
      "  cairn restore again.b2d monday.b2z");
  backup->callback(
      [flags, &chosen] { chosen = [flags] { return About(flags->frame, Backup(*flags)); }; });
}

}  // namespace cairn::tool
