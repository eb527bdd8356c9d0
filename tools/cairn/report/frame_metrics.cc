#include "tools/cairn/report/frame_metrics.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "tools/cairn/io/files.h"
#include "tools/cairn/text/controls.h"
#include "tools/cairn/text/stored_size.h"

namespace cairn::tool {

namespace {

constexpr std::string_view kReadable = "frame_readable";
constexpr std::string_view kReadableHelp = "1 if the frame can be opened.";

}  // namespace

void AddFrame(const FrameSummary& summary, Metrics& metrics) {
  const FrameInfo& info = summary.info;
  const MetricLabels labels = {{"path", HideQueries(summary.path)}};
  const auto add = [&](std::string_view name, std::string_view help, auto value) {
    metrics.Add(name, help, labels, static_cast<double>(value));
  };
  add(kReadable, kReadableHelp, 1);
  add("frame_damaged", "1 if the journal, the trailer or a metalayer is damaged.",
      info.journal_damaged || info.trailer_damaged || !info.changed_metalayers.empty());
  add("frame_sealed", "1 if fingerprints cover every live byte.", info.sealed);
  add("frame_generation", "Number of the newest committed state.", info.generation);
  add("frame_data_bytes", "Bytes of the data, decompressed.", info.nbytes);
  add("frame_size_bytes", "Bytes of the frame with its chunks, without the journal.",
      StoredSize(info));
  if (const std::optional<int64_t> disk = DiskBytesAt(summary.path)) {
    add("frame_disk_bytes", "Bytes of disk that its files take, with reserved space.", *disk);
  }
  add("frame_journal_bytes", "Bytes of commits after the last checkpoint.", info.journal_size);
  if (info.dead_bytes) {
    add("frame_dead_bytes", "Bytes of the frame and its journal that hold no live data.",
        *info.dead_bytes);
  }
  add("frame_chunks", "Number of chunks.", info.nchunks);
  add("frame_items", "Number of complete items.", info.nitems);
  add("frame_stranded_commits", "Commits that cannot be read because the journal is damaged.",
      info.stranded_commits);
  add("frame_old_readers", "Readers that hold an older generation and its space.",
      summary.holders.size());
  std::optional<double> longest;
  for (const GenerationHolder& holder : summary.holders) {
    if (!holder.running) continue;
    longest = std::max(longest.value_or(0), static_cast<double>(holder.running->count()));
  }
  if (longest) {
    add("frame_old_reader_seconds",
        "How long the oldest process of these readers has been running.", *longest);
  }
  if (summary.requests) {
    add("store_requests", "Requests to the object store that this took.",
        summary.requests->requests());
    add("store_retries", "Requests that had to be repeated.", summary.requests->retries);
    add("store_read_bytes", "Bytes read from the object store.", summary.requests->bytes_read);
  }
}

void AddUnreadableFrame(const std::string& path, Metrics& metrics) {
  metrics.Add(kReadable, kReadableHelp, {{"path", HideQueries(path)}}, 0);
}

}  // namespace cairn::tool
