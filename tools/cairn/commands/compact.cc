// cairn compact: writes a frame again without its dead bytes.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/str_format.h"

#include "cairn/collection.h"
#include "cairn/frame.h"
#include "tools/cairn/commands/commands.h"
#include "tools/cairn/flags/flags.h"
#include "tools/cairn/io/held_signals.h"
#include "tools/cairn/io/io.h"
#include "tools/cairn/io/members.h"
#include "tools/cairn/io/patience.h"
#include "tools/cairn/io/progress.h"
#include "tools/cairn/text/about.h"
#include "tools/cairn/text/json.h"
#include "tools/cairn/text/units.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

struct CompactFlags {
  std::string frame;
  std::chrono::milliseconds wait{0};
  bool json = false;
  bool quiet = false;
};

absl::Status Print(const CompactFlags& flags, const CompactReport& report) {
  if (flags.json) {
    const Json json = {{"size_before", report.size_before}, {"size_after", report.size_after}};
    return WriteStdout(Dump(json, 2) + "\n");
  }
  return WriteLines(
      {absl::StrFormat("%s: %s before, %s now", flags.frame, FormatByteSize(report.size_before),
                       FormatByteSize(report.size_after))});
}

absl::StatusOr<CompactReport> CompactFrame(const CompactFlags& flags) {
  const HeldSignals signals;
  ASSIGN_OR_RETURN(Frame frame, OpenFrame(flags.frame));
  Progress progress("compacting", frame.snapshot().info().nchunks, "chunk");
  CompactOptions options;
  options.progress = [&](int64_t chunks) {
    progress.Show(chunks);
    return signals.Check().ok();
  };
  return WaitForTurn(flags.wait, [&](std::chrono::milliseconds part) {
    options.wait = part;
    return frame.Compact(options);
  });
}

// Returns the bytes of the members' files.
int64_t SizeOf(const std::string& collection, const std::vector<std::string>& members) {
  int64_t size = 0;
  for (const std::string& name : members) {
    std::error_code error;
    const std::uintmax_t bytes = std::filesystem::file_size(FileAt(collection + name), error);
    if (!error) size += static_cast<int64_t>(bytes);
  }
  return size;
}

// In a store the path does not tell groups from members.
std::vector<std::string> MembersAt(const CollectionPlace& place,
                                   const CollectionSnapshot& snapshot) {
  std::vector<std::string> members = snapshot.Members(place.name + "/");
  const bool is_member = snapshot.HasMember(place.name) || members.empty();
  return place.is_member && is_member ? std::vector<std::string>{place.name} : members;
}

// Compacts a member of a collection, or all of a group, in a commit for each.
absl::StatusOr<CompactReport> CompactMembers(const CompactFlags& flags,
                                             const CollectionPlace& place) {
  const HeldSignals signals;
  ASSIGN_OR_RETURN(
      Collection collection,
      Collection::Open(place.collection, {.members = {.file_system = FilesAt(place.collection)}}));
  ASSIGN_OR_RETURN(CollectionWriter writer,
                   OpenWriterInTurn(collection, CollectionWriterOptions{.wait = flags.wait}));
  RETURN_IF_ERROR(collection.Refresh().status());
  const std::vector<std::string> members = MembersAt(place, collection.snapshot());
  CompactReport report = {.size_before = SizeOf(place.collection, members)};
  Progress progress("compacting", std::ssize(members), "member");
  for (size_t i = 0; i < members.size(); ++i) {
    RETURN_IF_ERROR(signals.Check());
    RETURN_IF_ERROR(writer.Compact(members[i]));
    // In a store it is the commit that looks for garbage, in the whole collection.
    if (!IsUri(place.collection)) RETURN_IF_ERROR(writer.Commit().status());
    progress.Show(static_cast<int64_t>(i) + 1);
  }
  // The files as they were then are no longer needed here.
  RETURN_IF_ERROR(collection.Refresh().status());
  RETURN_IF_ERROR(writer.Close());
  report.size_after = SizeOf(place.collection, members);
  return report;
}

absl::Status Compact(const CompactFlags& flags) {
  const std::optional<CollectionPlace> place = FindInCollection(flags.frame);
  const absl::StatusOr<CompactReport> report =
      place.has_value() ? CompactMembers(flags, *place) : CompactFrame(flags);
  // Objects have no dead bytes. Those that are garbage go after the grace.
  const bool in_store = place.has_value() && IsUri(flags.frame);
  if (!report.ok() || flags.quiet || in_store) return report.status();
  return Print(flags, *report);
}

}  // namespace

void AddCompact(CLI::App& app, Command& chosen) {
  CLI::App* compact = app.add_subcommand("compact", "Rewrite a frame without its dead bytes");
  const auto flags = std::make_shared<CompactFlags>();
  compact
      ->add_option("FRAME", flags->frame,
                   "The frame, a member of a collection, or a collection: all of its members")
      ->required();
  AddWait(*compact, flags->wait);
  CLI::Option* json = compact->add_flag("--json", flags->json, "Print JSON");
  compact->add_flag("--quiet", flags->quiet, "Print no summary")->excludes(json);
  compact->footer(
      "Copies the frame, checked but not recompressed, and renames the copy over the old one when\n"
      "it is complete. Programs that read the old one are not disturbed, and one that writes it\n"
      "continues while chunks are copied.\n"
      "\nExample:\n"
      "  cairn compact temps.b2frame");
  compact->callback(
      [flags, &chosen] { chosen = [flags] { return About(flags->frame, Compact(*flags)); }; });
}

}  // namespace cairn::tool
