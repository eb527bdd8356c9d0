// Finds out which vlmetalayers a damaged frame has lost, and takes them from an older state.
#ifndef CAIRN_ENGINE_FRAME_REPAIR_LOST_LAYERS_H_
#define CAIRN_ENGINE_FRAME_REPAIR_LOST_LAYERS_H_

#include <string>
#include <vector>

#include "engine/frame/repair/stranded_chunks.h"
#include "engine/frame/state/vlmetalayers.h"

namespace cairn::frame {

// The vlmetalayers of a salvaged frame. Names are in the order in which they were found.
struct SavedLayers {
  std::vector<VlMetalayer> layers;
  std::vector<std::string> lost;   // see SalvageReport::lost_metalayers
  std::vector<std::string> older;  // names of those that come from the older state
};

// Returns those of `layers`, which are what can be read of the vlmetalayers of `known`, and those
// that only its older state has. Layers that mean something only together with another one are of
// the same state as that one, or lost.
SavedLayers CompleteLayers(const KnownState& known, std::vector<VlMetalayer> layers);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_REPAIR_LOST_LAYERS_H_
