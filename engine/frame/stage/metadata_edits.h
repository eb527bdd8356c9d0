// Edits of metalayers, of vlmetalayers, and of the chunksize.
#ifndef CAIRN_ENGINE_FRAME_STAGE_METADATA_EDITS_H_
#define CAIRN_ENGINE_FRAME_STAGE_METADATA_EDITS_H_

#include <string_view>
#include <vector>

#include "absl/status/status.h"

#include "engine/format/journal.h"
#include "engine/frame/stage/stager.h"

namespace cairn::frame {

// Returns true if a metalayer of that name says that the chunks are those of an array.
bool SaysShape(std::string_view layer);

// Made for one edit of a stager, or a few. Not thread-safe.
class MetadataEdits {
 public:
  explicit MetadataEdits(Stager& stager) : stager_(stager), staged_(stager.edits().staged()) {}

  // Gives a metalayer other content of the same size. Refuses the shape of an array that does not
  // fit the chunks.
  absl::Status SetMetalayer(std::string_view name, Bytes content);
  absl::Status SetVlmetalayer(std::string_view name, Bytes content);
  absl::Status DeleteVlmetalayer(std::string_view name);
  // Sets the chunksize of a frame that has no chunks now.
  absl::Status SetChunksize(ChunkSize size);

  // Does what SetMetalayer does, whatever the metalayer says of the chunks.
  absl::Status PutMetalayer(std::string_view name, Bytes content);
  // Makes the edits of an increment, whose vlmetalayers are not encoded.
  absl::Status Apply(const std::vector<format::LayerEdit>& edits);
  // Repeats `edits`, which were staged once: their vlmetalayers stay encoded as they are. Leaves
  // shapes of arrays out unless `with_shape`.
  absl::Status Repeat(const std::vector<format::LayerEdit>& edits, bool with_shape);

 private:
  Stager& stager_;
  StagedState& staged_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STAGE_METADATA_EDITS_H_
