// cairn info: what a frame says of itself, for people or for programs.

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cairn/frame.h"
#include "tools/cairn/about.h"
#include "tools/cairn/commands.h"
#include "tools/cairn/flags.h"
#include "tools/cairn/frame_summary.h"
#include "tools/cairn/info_json.h"
#include "tools/cairn/info_text.h"
#include "tools/cairn/io.h"

namespace cairn::tool {

namespace {

struct InfoFlags {
  std::string frame;
  bool json = false;
  bool chunks = false;
  std::optional<uint64_t> generation;
  int64_t offset = 0;
};

// Chunks are written one by one: a frame may have millions.
absl::Status PrintChunks(const Snapshot& snapshot, bool json) {
  for (int64_t i = 0; i < snapshot.info().nchunks; ++i) {
    const absl::StatusOr<ChunkSummary> chunk = SummarizeChunk(snapshot, i);
    if (!chunk.ok()) return chunk.status();
    const absl::Status status = WriteStdout(json ? JsonOfChunk(*chunk) : TextOfChunk(*chunk));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Info(const InfoFlags& flags) {
  OpenOptions options;
  options.offset = flags.offset;
  options.generation = flags.generation;
  // Looking at a chunk's header is no reason to read all of its bytes.
  options.verify = VerifyPolicy::kNever;
  const absl::StatusOr<Frame> frame = Frame::Open(flags.frame, options);
  if (!frame.ok()) return frame.status();
  const Snapshot snapshot = frame->snapshot();
  const absl::StatusOr<FrameSummary> summary = SummarizeFrame(flags.frame, snapshot);
  if (!summary.ok()) return summary.status();

  std::string head = flags.json ? JsonOfFrame(*summary) : TextOfFrame(*summary);
  if (!flags.chunks) return WriteStdout(head);
  head = flags.json ? OpenChunkArray(head) : head + ChunkTableHead(snapshot.info().layout);
  if (absl::Status status = WriteStdout(head); !status.ok()) return status;
  if (absl::Status status = PrintChunks(snapshot, flags.json); !status.ok()) return status;
  return flags.json ? WriteStdout(CloseChunkArray()) : absl::OkStatus();
}

}  // namespace

void AddInfo(CLI::App& app, Command& chosen) {
  CLI::App* info = app.add_subcommand("info", "Tell what a frame holds and how");
  const auto flags = std::make_shared<InfoFlags>();
  info->add_option("FRAME", flags->frame, "The frame")->required();
  info->add_flag("--json", flags->json, "For programs");
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
