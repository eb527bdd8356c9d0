#include "tools/cairn/report/frame_summary.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"

#include "tools/cairn/text/units.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

// This is more metadata than a person could want, and than a hostile frame should get memory for.
constexpr size_t kMaxShownBytes = 64 << 20;

// Counts the dead bytes by the chunks if Cairn did not seal the frame, which then does not give the
// number. Leaves the number unknown if a chunk is damaged, and if a few bytes claim so many chunks
// that looking at them would take minutes.
void CountDeadBytes(const Snapshot& snapshot, FrameInfo& info) {
  constexpr int64_t kMostChunks = 1'000'000;
  if (info.nchunks > kMostChunks) return;
  int64_t stored = 0;
  for (int64_t i = 0; i < info.nchunks; ++i) {
    const absl::StatusOr<ChunkEntry> entry = snapshot.GetEntry(i);
    if (!entry.ok()) return;
    if (!entry->stored()) continue;
    const absl::StatusOr<Chunk> chunk = snapshot.GetChunk(i);
    if (!chunk.ok()) return;
    stored += static_cast<int64_t>(chunk->bytes().size());
    // The chunks overlap, or an old frame hands them out in another form.
    if (stored > info.cbytes) return;
  }
  info.dead_bytes = info.cbytes - stored;
  info.cbytes = stored;
}

std::vector<Field> FieldsOfRecords(const Snapshot& snapshot) {
  if (!snapshot.array()) return {};
  const absl::StatusOr<Schema> schema =
      Schema::FromDtype(snapshot.array()->dtype, snapshot.info().typesize);
  const bool records =
      schema.ok() && !schema->fields().empty() && !schema->fields()[0].name.empty();
  return records ? schema->fields() : std::vector<Field>();
}

// Returns the columns of the first chunk that has any. Each chunk chooses by itself, but most
// choose the same.
std::vector<CodedColumn> ColumnsOfFrame(const Snapshot& snapshot) {
  constexpr int64_t kMostChunks = 100;
  const FrameInfo& info = snapshot.info();
  if (info.codec != Codec::kAuto) return {};
  for (int64_t i = 0; i < std::min(info.nchunks, kMostChunks); ++i) {
    const absl::StatusOr<Chunk> chunk = snapshot.GetChunk(i);
    if (!chunk.ok()) continue;
    absl::StatusOr<std::vector<CodedColumn>> columns = CodedColumns(chunk->bytes());
    if (columns.ok() && !columns->empty()) return *std::move(columns);
  }
  return {};
}

}  // namespace

absl::Status CheckChunkExists(const FrameInfo& info, int64_t nchunk) {
  if (nchunk < info.nchunks) return absl::OkStatus();
  return absl::OutOfRangeError(absl::StrFormat("the frame has %s, chunk %d does not exist",
                                               FormatCount(info.nchunks, "chunk"), nchunk));
}

std::vector<std::string> ReadableVlmeta(const Snapshot& snapshot) {
  if (snapshot.info().trailer_damaged) return {};
  return snapshot.vlmetalayers();
}

absl::StatusOr<FrameSummary> SummarizeFrame(const std::string& path, const Snapshot& snapshot) {
  FrameSummary summary = {.path = path,
                          .info = snapshot.info(),
                          .array = snapshot.array(),
                          .metalayers = snapshot.metalayers(),
                          .vlmetalayers = {}};
  summary.fields = FieldsOfRecords(snapshot);
  summary.columns = ColumnsOfFrame(snapshot);
  if (!summary.info.dead_bytes) CountDeadBytes(snapshot, summary.info);
  size_t shown = 0;
  for (std::string& name : ReadableVlmeta(snapshot)) {
    absl::StatusOr<std::vector<std::byte>> content = snapshot.GetVlmetalayer(name);
    if (content.ok() && content->size() > kMaxShownBytes - shown) {
      content = absl::ResourceExhaustedError("over 64 MiB of vlmetalayers: too much to show");
    }
    if (!content.ok()) {
      summary.unread.push_back({.name = std::move(name), .why = content.status()});
      continue;
    }
    shown += content->size();
    summary.vlmetalayers.push_back({.name = std::move(name), .content = *std::move(content)});
  }
  return summary;
}

absl::Status DamageOf(const std::vector<UnreadLayer>& unread) {
  for (const UnreadLayer& layer : unread) {
    if (!absl::IsResourceExhausted(layer.why)) return layer.why;
  }
  return absl::OkStatus();
}

std::string NameOfColumn(const FrameSummary& summary, const CodedColumn& column) {
  const int32_t width = column.column.size * column.column.count;
  for (const Field& field : summary.fields) {
    if (column.offset >= field.offset && column.offset < field.offset + field.size) {
      return field.name;
    }
  }
  if (width == summary.info.typesize) return "items";
  return absl::StrFormat("bytes %d-%d", column.offset, column.offset + width - 1);
}

namespace {

absl::StatusOr<ChunkSummary> LookAtChunk(const Snapshot& snapshot, int64_t nchunk) {
  ASSIGN_OR_RETURN(const ChunkEntry entry, snapshot.GetEntry(nchunk));
  ASSIGN_OR_RETURN(const Chunk chunk, snapshot.GetChunk(nchunk));
  ASSIGN_OR_RETURN(const ChunkInfo info, InspectChunk(chunk.bytes()));
  const bool stored = entry.stored();
  return ChunkSummary{.index = nchunk,
                      .offset = entry.offset,
                      .file = entry.file,
                      .nbytes = info.nbytes,
                      .cbytes = stored ? info.cbytes : 0,
                      .blocksize = info.blocksize,
                      .special = stored ? info.special : entry.special,
                      .fingerprint = entry.fingerprint};
}

}  // namespace

ChunkSummary SummarizeChunk(const Snapshot& snapshot, int64_t nchunk) {
  absl::StatusOr<ChunkSummary> summary = LookAtChunk(snapshot, nchunk);
  if (summary.ok()) return *std::move(summary);
  return {.index = nchunk, .error = std::string(summary.status().message())};
}

}  // namespace cairn::tool
