// cairn compact: writes a frame again without its dead bytes.

#include <chrono>
#include <memory>

#include "absl/strings/str_format.h"

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

absl::Status Compact(const CompactFlags& flags) {
  const absl::StatusOr<CompactReport> report = CompactFrame(flags);
  if (!report.ok() || flags.quiet) return report.status();
  return Print(flags, *report);
}

}  // namespace

void AddCompact(CLI::App& app, Command& chosen) {
  CLI::App* compact = app.add_subcommand("compact", "Rewrite a frame without its dead bytes");
  const auto flags = std::make_shared<CompactFlags>();
  compact->add_option("FRAME", flags->frame, "The frame")->required();
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
