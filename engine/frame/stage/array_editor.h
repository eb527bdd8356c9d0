// Edits n-dimensional arrays.
#ifndef CAIRN_ENGINE_FRAME_STAGE_ARRAY_EDITOR_H_
#define CAIRN_ENGINE_FRAME_STAGE_ARRAY_EDITOR_H_

#include <cstdint>
#include <span>

#include "absl/status/status.h"

#include "engine/frame/array/array_geometry.h"
#include "engine/frame/stage/recoded_chunks.h"
#include "engine/frame/stage/stager.h"

namespace cairn::frame {

// Makes one edit of a stager. Keeps chunks and shape in step, so that a frame which is an array
// stays an array. Not thread-safe.
class ArrayEditor {
 public:
  explicit ArrayEditor(Stager& stager)
      : stager_(stager), edits_(stager.edits()), staged_(edits_.staged()) {}

  // Fills the array of a frame that does not exist yet with zeros. BeginFrame comes before.
  absl::Status BeginFrame();
  absl::Status WriteBox(std::span<const int64_t> start, std::span<const int64_t> shape,
                        Bytes items);
  absl::Status ResizeArray(std::span<const int64_t> shape);
  absl::Status AppendSlices(int axis, Bytes items);
  absl::Status DeleteSlices(int axis, int64_t start, int64_t count);
  // Appends items to an array of one dimension without a new shape in its metalayer. `used` bytes
  // of its last chunk are items.
  absl::Status AppendPadded(int64_t used, Bytes items);

 private:
  absl::Status ClearPadding(const State& state, const ArrayGeometry& from, const ArrayGeometry& to,
                            RecodedChunks& chunks);
  absl::Status CheckGrowth(const ArrayGeometry& from, const ArrayGeometry& to) const;
  void EraseRun(int64_t first, int64_t count);
  absl::Status PutShape(std::span<const int64_t> shape);
  absl::Status EditGrid(const ArrayGeometry& from, const ArrayGeometry& to);
  absl::Status AppendToLine(const ArrayGeometry& from, int64_t length, Bytes items);

  Stager& stager_;
  StagedEdits& edits_;
  StagedState& staged_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STAGE_ARRAY_EDITOR_H_
