// cairn info: prints the facts about a frame, for people or for programs.

#include <memory>
#include <optional>

#include "absl/strings/str_format.h"

#include "cairn/frame.h"
#include "tools/cairn/commands/commands.h"
#include "tools/cairn/flags/flags.h"
#include "tools/cairn/io/files.h"
#include "tools/cairn/io/io.h"
#include "tools/cairn/report/damage_check.h"
#include "tools/cairn/report/frame_summary.h"
#include "tools/cairn/report/info_json.h"
#include "tools/cairn/report/info_text.h"
#include "tools/cairn/text/about.h"
#include "tools/cairn/text/exit.h"
#include "tools/cairn/text/units.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

struct InfoFlags {
  std::string frame;
  bool json = false;
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

absl::Status PrintFrame(const FrameSummary& summary, bool json) {
  return WriteStdout(json ? JsonOfFrame(summary) : TextOfFrame(summary));
}

absl::Status Info(const InfoFlags& flags) {
  OpenOptions options;
  options.file_system = FilesAt(flags.frame);
  options.offset = flags.offset;
  options.generation = flags.generation;
  // Looking at a chunk's header is not a reason to read all of its bytes.
  options.verify = VerifyPolicy::kNever;
  ASSIGN_OR_RETURN(const Frame frame, Frame::Open(flags.frame, options));
  const Snapshot snapshot = frame.snapshot();
  ASSIGN_OR_RETURN(FrameSummary summary, SummarizeFrame(flags.frame, snapshot));
  ASSIGN_OR_RETURN(summary.holders, frame.OldReaders());
  summary.requests = RequestsOf(flags.frame);

  const absl::Status status = flags.chunks ? PrintWithChunks(snapshot, summary, flags.json)
                                           : PrintFrame(summary, flags.json);
  if (!status.ok()) return status;
  RETURN_IF_ERROR(CheckDamage(snapshot));
  return Printed(DamageOf(summary.unread));
}

}  // namespace

void AddInfo(CLI::App& app, Command& chosen) {
  CLI::App* info = app.add_subcommand("info", "Print what a frame holds and how it is stored");
  const auto flags = std::make_shared<InfoFlags>();
  info->add_option("FRAME", flags->frame, "The frame")->required();
  info->add_flag("--json", flags->json, "Print JSON");
  info->add_flag("--chunks", flags->chunks, "List the chunks too");
  AddGeneration(*info, flags->generation);
  AddOffset(*info, flags->offset)->description("Where in the file the frame begins");
  info->footer(
      "Example:\n"
      "  cairn info temps.b2frame --json | jq .nbytes");
  info->callback(
      [flags, &chosen] { chosen = [flags] { return About(flags->frame, Info(*flags)); }; });
}

}  // namespace cairn::tool
