#include "engine/frame/copy/snapshot_copy.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/scratch_buffer.h"
#include "engine/base/status.h"
#include "engine/frame/checkpoint/live_copy.h"
#include "engine/frame/copy/frame_copy.h"
#include "engine/frame/copy/increment.h"
#include "engine/frame/files/copy_files.h"
#include "engine/frame/files/frame_location.h"

namespace cairn::frame {

namespace {

// A copy has the generation of its source, and staged edits have none yet.
absl::Status CheckCommitted(const State& state) {
  if (!state.staged) return absl::OkStatus();
  return FailedPrecondition("staged edits cannot be copied: commit them first");
}

// Returns true if the file holds the state as one frame: header, chunks, index and trailer.
bool IsCheckpointOfAFile(const State& state) {
  return state.header().layout == Layout::kContiguous &&
         (!state.journal.has_value() || state.journal->empty());
}

// An increment in the place of a frame that it belongs to would end the only copy of the content.
absl::Status CheckIsElsewhere(const State& state, const FrameLocation& place) {
  const FrameLocation& own = state.env()->location;
  const std::shared_ptr<FileSystem>& files = own.is_sparse() ? own.outer_files : own.files;
  if (own.in_memory || files != place.files) return absl::OkStatus();
  const absl::StatusOr<FileIdentity> ours = files->Identity(own.frame_path());
  const absl::StatusOr<FileIdentity> there = files->Identity(place.path);
  if (!ours.ok() || !there.ok() || !(*ours == *there)) return absl::OkStatus();
  return FailedPrecondition(
      "%s: an increment is not a copy, and would replace the frame that it is made from or leads "
      "from: give it another path",
      place.path);
}

}  // namespace

absl::Status CopySnapshot(const State& state, const State* since, const std::string& path,
                          const CopyOptions& options) {
  CAIRN_RETURN_IF_ERROR(CheckCommitted(state));
  if (since != nullptr) CAIRN_RETURN_IF_ERROR(CheckCommitted(*since));
  CAIRN_ASSIGN_OR_RETURN(FrameLocation place, PlaceAt(path, options.file_system));
  if (place.files->ObjectsIn(place.path).store != nullptr) {
    return absl::UnimplementedError(path + ": a frame in an object store is built, not copied");
  }
  if (since != nullptr) {
    CAIRN_RETURN_IF_ERROR(CheckIsElsewhere(state, place));
    CAIRN_RETURN_IF_ERROR(CheckIsElsewhere(*since, place));
  }
  place.files = FilesForCopyOf(state.env()->location, std::move(place.files));
  const Layout own = since != nullptr ? Layout::kContiguous : state.header().layout;
  const CopyTarget target{.location = std::move(place),
                          .layout = options.layout.value_or(own),
                          .overwrite = options.overwrite};
  const ChunkProgress progress =
      options.progress != nullptr ? ChunkProgress(options.progress) : NeverStop;
  return since != nullptr ? WriteIncrement(*since, state, target, progress)
                          : CopyFrame(state, target, progress);
}

absl::StatusOr<std::vector<std::byte>> SnapshotToBuffer(const State& state) {
  CAIRN_RETURN_IF_ERROR(CheckCommitted(state));
  if (!IsCheckpointOfAFile(state)) return SerializeContiguous(state);
  std::vector<std::byte> out(static_cast<size_t>(state.header().frame_size));
  // The header in the file may belong to a later checkpoint. That of the state is in memory.
  CopyBytes(state.checkpoint->header_bytes, out);
  const int64_t header_len = state.header().header_len;
  ScratchBuffer scratch;
  CAIRN_ASSIGN_OR_RETURN(
      const Bytes rest,
      state.region.Read(header_len, state.header().frame_size - header_len, scratch));
  CopyBytes(rest, MutableBytes(out).subspan(static_cast<size_t>(header_len)));
  return out;
}

}  // namespace cairn::frame
