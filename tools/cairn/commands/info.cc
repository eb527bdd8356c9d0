// cairn info: prints the facts about frames, for people, programs or monitoring.

#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"

#include "cairn/frame.h"
#include "tools/cairn/commands/commands.h"
#include "tools/cairn/flags/flags.h"
#include "tools/cairn/io/files.h"
#include "tools/cairn/io/io.h"
#include "tools/cairn/io/members.h"
#include "tools/cairn/report/collection_report.h"
#include "tools/cairn/report/damage_check.h"
#include "tools/cairn/report/frame_metrics.h"
#include "tools/cairn/report/frame_summary.h"
#include "tools/cairn/report/info_json.h"
#include "tools/cairn/report/info_text.h"
#include "tools/cairn/report/metrics.h"
#include "tools/cairn/text/about.h"
#include "tools/cairn/text/complain.h"
#include "tools/cairn/text/exit.h"
#include "tools/cairn/text/units.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

struct InfoFlags {
  std::vector<std::string> frames;
  bool json = false;
  bool metrics = false;
  bool chunks = false;
  std::optional<uint64_t> generation;
  int64_t offset = 0;
};

// Writes chunks one by one, because a frame may have millions. Returns how many gave only an error.
absl::StatusOr<int64_t> PrintChunks(const Snapshot& snapshot, bool json) {
  int64_t bad = 0;
  for (int64_t i = 0; i < snapshot.info().nchunks; ++i) {
    const ChunkSummary chunk = SummarizeChunk(snapshot, i);
    if (!chunk.error.empty()) ++bad;
    RETURN_IF_ERROR(WriteStdout(json ? JsonOfChunk(chunk) : TextOfChunk(chunk)));
  }
  return bad;
}

absl::Status PrintWithChunks(const Snapshot& snapshot, const FrameSummary& summary, bool json) {
  const absl::Status status =
      WriteStdout(json ? OpenChunkArray(JsonOfFrame(summary))
                       : TextOfFrame(summary) + ChunkTableHead(summary.info.layout));
  if (!status.ok()) return status;
  ASSIGN_OR_RETURN(const int64_t bad, PrintChunks(snapshot, json));
  if (json) {
    RETURN_IF_ERROR(WriteStdout(CloseChunkArray()));
  }
  if (bad == 0) return absl::OkStatus();
  return Printed(
      absl::DataLossError(absl::StrFormat("%d of %s cannot be read; see `cairn verify`", bad,
                                          FormatCount(summary.info.nchunks, "chunk"))));
}

absl::Status Print(const Snapshot& snapshot, const FrameSummary& summary, const InfoFlags& flags) {
  if (flags.chunks) return PrintWithChunks(snapshot, summary, flags.json);
  return WriteStdout(flags.json ? JsonOfFrame(summary) : TextOfFrame(summary));
}

OpenOptions HowToOpen(const InfoFlags& flags) {
  OpenOptions options;
  options.offset = flags.offset;
  options.generation = flags.generation;
  // Looking at a chunk's header is not a reason to read all of its bytes.
  options.verify = VerifyPolicy::kNever;
  return options;
}

// A frame that is open, with those who read older states of it.
struct Shown {
  Snapshot snapshot;
  std::vector<GenerationHolder> holders;
};

absl::StatusOr<Shown> OpenToShow(const std::string& path, const InfoFlags& flags,
                                 Sources& sources) {
  if (sources.Find(path).has_value()) {
    ASSIGN_OR_RETURN(Snapshot member, sources.Open(path));
    return Shown{.snapshot = std::move(member), .holders = {}};
  }
  ASSIGN_OR_RETURN(const Frame frame, OpenFrame(path, HowToOpen(flags)));
  ASSIGN_OR_RETURN(std::vector<GenerationHolder> holders, frame.OldReaders());
  return Shown{.snapshot = frame.snapshot(), .holders = std::move(holders)};
}

absl::Status ShowCollection(const CollectionPlace& place, const InfoFlags& flags,
                            Sources& sources) {
  if (flags.chunks || flags.offset != 0) {
    return absl::InvalidArgumentError("--chunks and --offset are of one frame: name a member");
  }
  ASSIGN_OR_RETURN(const CollectionSnapshot snapshot, sources.OpenPacked(place.collection));
  if (const absl::StatusOr<IncrementInfo> info = snapshot.GetIncrementInfo(); info.ok()) {
    return WriteStdout(flags.json ? JsonOfIncrement(place.collection, *info)
                                  : TextOfIncrement(place.collection, *info));
  }
  const CollectionSummary summary =
      SummarizeCollection(place.collection + place.name, place.name, snapshot);
  RETURN_IF_ERROR(WriteStdout(flags.json ? JsonOfCollection(summary) : TextOfCollection(summary)));
  if (summary.bad == 0) return absl::OkStatus();
  return Printed(absl::DataLossError(
      absl::StrFormat("%d of %s cannot be read; see `cairn verify`", summary.bad,
                      FormatCount(std::ssize(summary.members), "member"))));
}

// Prints a frame or a collection, or adds a frame to `metrics`. If it cannot be opened, prints
// nothing.
absl::Status Show(const std::string& path, const InfoFlags& flags, Sources& sources,
                  Metrics& metrics) {
  const std::optional<CollectionPlace> place = sources.Find(path);
  if (place.has_value() && !place->is_member) return ShowCollection(*place, flags, sources);
  ASSIGN_OR_RETURN(Shown opened, OpenToShow(path, flags, sources));
  const Snapshot& snapshot = opened.snapshot;
  ASSIGN_OR_RETURN(FrameSummary summary, SummarizeFrame(path, snapshot));
  summary.holders = std::move(opened.holders);
  summary.requests = RequestsOf(path);
  if (flags.metrics) {
    AddFrame(summary, metrics);
    return absl::OkStatus();  // the metrics tell of damage
  }
  RETURN_IF_ERROR(Print(snapshot, summary, flags));
  RETURN_IF_ERROR(CheckDamage(snapshot));
  return Printed(DamageOf(summary.unread));
}

// Shows all frames, one after the other. A frame that cannot be opened does not end this.
absl::Status ShowEach(const InfoFlags& flags, const std::vector<std::string>& frames,
                      Sources& sources, Metrics& metrics) {
  const bool list = flags.json;  // --metrics excludes it
  int64_t bad = 0;
  for (const std::string& path : frames) {
    const bool first = path.data() == frames.front().data();
    if (list) {
      RETURN_IF_ERROR(WriteStdout(first ? "[\n" : ",\n"));
    } else if (!first && !flags.metrics) {
      RETURN_IF_ERROR(WriteStdout("\n"));
    }
    const absl::Status status = About(path, Show(path, flags, sources, metrics));
    if (absl::IsCancelled(status)) return status;
    if (status.ok()) continue;
    ++bad;
    Complain(std::string(status.message()));
    if (IsPrinted(status)) continue;
    if (flags.metrics) AddUnreadableFrame(path, metrics);
    if (list) RETURN_IF_ERROR(WriteStdout(JsonOfUnreadableFrame(path, status)));
  }
  if (list) RETURN_IF_ERROR(WriteStdout("]\n"));
  // The metrics tell of frames that cannot be opened: they are what was asked for.
  if (bad == 0 || flags.metrics) return absl::OkStatus();
  return Printed(absl::DataLossError(absl::StrFormat(
      "%d of %s cannot be read, or only in part", bad, FormatCount(std::ssize(frames), "frame"))));
}

absl::Status Info(const InfoFlags& flags) {
  Metrics metrics;
  Sources sources(HowToOpen(flags));
  const std::vector<std::string> frames = FramesAt(flags.frames);
  if (flags.metrics) {
    const absl::Status shown = ShowEach(flags, sources.Expand(frames), sources, metrics);
    RETURN_IF_ERROR(WriteStdout(metrics.Text()));
    return shown;
  }
  if (frames != std::vector{flags.frames.front()}) return ShowEach(flags, frames, sources, metrics);
  return About(frames.front(), Show(frames.front(), flags, sources, metrics));
}

}  // namespace

void AddInfo(CLI::App& app, Command& chosen) {
  CLI::App* info =
      app.add_subcommand("info", "Print what a frame or a collection holds and how it is stored");
  const auto flags = std::make_shared<InfoFlags>();
  AddPaths(*info, "FRAME", flags->frames)
      ->description("The frames; of a log of many files, or a collection, its directory");
  CLI::Option* const json = info->add_flag("--json", flags->json, "Print JSON");
  CLI::Option* const chunks = info->add_flag("--chunks", flags->chunks, "List the chunks too");
  info->add_flag("--metrics", flags->metrics, "Print the numbers to watch, for Prometheus")
      ->excludes(json)
      ->excludes(chunks);
  AddGeneration(*info, flags->generation);
  AddOffset(*info, flags->offset)->description("Where in the file the frame begins");
  info->footer(
      "Examples:\n"
      "  cairn info temps.b2frame --json | jq .nbytes\n"
      "  cairn info --metrics *.b2frame");
  info->callback([flags, &chosen] { chosen = [flags] { return Info(*flags); }; });
}

}  // namespace cairn::tool
