// The facts that the tool reports of frames, gathered before they are printed as text or JSON.
#ifndef CAIRN_TOOLS_CAIRN_REPORT_FRAME_SUMMARY_H_
#define CAIRN_TOOLS_CAIRN_REPORT_FRAME_SUMMARY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/chunk.h"
#include "cairn/frame.h"
#include "cairn/object_store.h"
#include "cairn/record.h"
#include "cairn/snapshot.h"

namespace cairn::tool {

// A vlmetalayer whose content is not shown.
struct UnreadLayer {
  std::string name;
  absl::Status why;
};

struct FrameSummary {
  std::string path;
  FrameInfo info;
  std::optional<ArrayInfo> array;
  std::vector<Metalayer> metalayers;
  std::vector<Metalayer> vlmetalayers;
  std::vector<UnreadLayer> unread = {};
  std::vector<Field> fields = {};              // of items that are records
  std::vector<CodedColumn> columns = {};       // as Codec::kAuto coded those of a chunk
  std::vector<GenerationHolder> holders = {};  // of older generations
  // The requests that this took, for a frame in an object store.
  std::optional<ObjectStoreStats> requests = {};
};

struct ChunkSummary {
  int64_t index = 0;
  std::string error = {};              // reason why nothing else is known of it
  std::optional<int64_t> offset = {};  // see ChunkEntry
  std::optional<int64_t> file = {};
  int32_t nbytes = 0;
  int32_t cbytes = 0;  // bytes in the frame; 0: it takes none
  int32_t blocksize = 0;
  SpecialValue special = SpecialValue::kNone;
  std::optional<uint64_t> fingerprint = {};
};

// Errors: kOutOfRange if the frame has no such chunk.
absl::Status CheckChunkExists(const FrameInfo& info, int64_t nchunk);
// Returns the names of the vlmetalayers. If the trailer is damaged, none can be read.
std::vector<std::string> ReadableVlmeta(const Snapshot& snapshot);
absl::StatusOr<FrameSummary> SummarizeFrame(const std::string& path, const Snapshot& snapshot);
// Returns the first damage of a vlmetalayer. One that is merely too large is not damaged.
absl::Status DamageOf(const std::vector<UnreadLayer>& unread);
// Returns the name of the field that a column belongs to, or where its bytes are.
std::string NameOfColumn(const FrameSummary& summary, const CodedColumn& column);
ChunkSummary SummarizeChunk(const Snapshot& snapshot, int64_t nchunk);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_REPORT_FRAME_SUMMARY_H_
