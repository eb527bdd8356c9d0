// cairn reclaim: gives back the disk space that only old states need.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"

#include "cairn/frame.h"
#include "tools/cairn/commands/commands.h"
#include "tools/cairn/flags/flags.h"
#include "tools/cairn/io/files.h"
#include "tools/cairn/io/io.h"
#include "tools/cairn/io/members.h"
#include "tools/cairn/io/patience.h"
#include "tools/cairn/report/holders.h"
#include "tools/cairn/text/about.h"
#include "tools/cairn/text/json.h"
#include "tools/cairn/text/units.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

struct ReclaimFlags {
  std::string frame;
  uint64_t keep = 0;
  std::chrono::milliseconds wait{0};
  bool json = false;
  bool quiet = false;
};

absl::Status Print(const ReclaimFlags& flags, const ReclaimReport& report) {
  if (flags.json) {
    const Json json = {{"freed", report.freed},
                       {"blocked", report.blocked},
                       {"oldest_generation", report.oldest_generation},
                       {"holders", JsonOfHolders(report.holders)}};
    return WriteStdout(Dump(json, 2) + "\n");
  }
  std::vector<std::string> lines = {absl::StrFormat("%s: %s freed, generation %d is the oldest now",
                                                    flags.frame, FormatByteSize(report.freed),
                                                    report.oldest_generation)};
  if (report.blocked && report.holders.empty()) {
    lines.push_back(IsUri(flags.frame) ? "  more can go when it is as old as the grace"
                                       : "  an older one is still read");
  }
  for (const GenerationHolder& holder : report.holders) {
    lines.push_back("  still read: " + DescribeHolder(holder));
  }
  return WriteLines(lines);
}

// Reports also what opening and closing the writer freed, such as the space that a writer which
// died had reserved.
absl::Status Reclaim(const ReclaimFlags& flags) {
  const std::optional<int64_t> before = DiskBytesAt(flags.frame);
  ASSIGN_OR_RETURN(Frame frame, OpenFrame(flags.frame));
  ASSIGN_OR_RETURN(
      Writer writer,
      OpenWriterInTurn(frame, WriterOptions{.wait = flags.wait, .keep_generations = flags.keep}));
  // This handle must not be the reader that holds an older state.
  RETURN_IF_ERROR(frame.Refresh().status());
  ASSIGN_OR_RETURN(ReclaimReport report, writer.Reclaim({.keep_generations = flags.keep}));
  if (absl::Status status = writer.Close(); !status.ok() || flags.quiet) return status;
  const std::optional<int64_t> after = DiskBytesAt(flags.frame);
  if (before && after) report.freed = std::max(report.freed, *before - *after);
  return Print(flags, report);
}

}  // namespace

void AddReclaim(CLI::App& app, Command& chosen) {
  CLI::App* reclaim =
      app.add_subcommand("reclaim", "Free, in place, the disk space that only old generations use");
  const auto flags = std::make_shared<ReclaimFlags>();
  reclaim->add_option("FRAME", flags->frame, "The frame")->required();
  AddKeep(*reclaim, flags->keep);
  AddWait(*reclaim, flags->wait);
  CLI::Option* json = reclaim->add_flag("--json", flags->json, "Print JSON");
  reclaim->add_flag("--quiet", flags->quiet, "Print no summary")->excludes(json);
  reclaim->footer(
      "Moves chunks into free space, cuts the file, and leaves holes where else nothing is "
      "needed.\n"
      "Bytes of an older generation that a program reads stay until it refreshes or closes the "
      "frame.\n"
      "\nExample:\n"
      "  cairn reclaim temps.b2frame --keep 10");
  reclaim->callback(
      [flags, &chosen] { chosen = [flags] { return About(flags->frame, Reclaim(*flags)); }; });
}

}  // namespace cairn::tool
