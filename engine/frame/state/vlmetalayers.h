// Values of vlmetalayers, each of which is a chunk.
#ifndef CAIRN_ENGINE_FRAME_STATE_VLMETALAYERS_H_
#define CAIRN_ENGINE_FRAME_STATE_VLMETALAYERS_H_

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/chunk.h"
#include "engine/frame/state/frame_context.h"

namespace cairn::frame {

// A vlmetalayer, whose value is a complete chunk.
struct VlMetalayer {
  std::string name;
  Chunk chunk;
};

// Decodes a value. Without `all`, the result may be only the first item of a value that takes no
// bytes to store, which shows whether there is a value. Errors: kResourceExhausted for more than
// Limits::max_metadata_nbytes.
absl::StatusOr<std::vector<std::byte>> DecodeVlLayer(const FrameContext& env,
                                                     const VlMetalayer& layer, bool all = true);

// Returns "vlmetalayer x" in a form that can be shown whatever bytes the name has.
std::string DescribeVlLayer(const VlMetalayer& layer);

// Encodes a value. Errors: kResourceExhausted past the limit of DecodeVlLayer, because a value that
// cannot be read must not be written.
absl::StatusOr<VlMetalayer> EncodeVlLayer(const FrameContext& env, std::string_view name,
                                          Bytes content);

// Adds a layer or replaces the one with its name.
void PutVlLayer(std::vector<VlMetalayer>& layers, VlMetalayer layer);

// The layers of a state while many edits are made. The cost of an edit does not grow with the
// number of layers. Not thread-safe.
class VlMetalayerTable {
 public:
  explicit VlMetalayerTable(std::vector<VlMetalayer> layers);
  // Adds or replaces a layer, as PutVlLayer does.
  void Put(VlMetalayer layer);
  // Removes all layers of that name.
  void Erase(const std::string& name);
  std::vector<VlMetalayer> Take() &&;

 private:
  std::vector<std::optional<VlMetalayer>> layers_;  // in their order; removed ones are empty
  std::unordered_map<std::string, std::vector<size_t>> places_;
};

// Returns true if a trailer of this many user layers has space for Cairn's two. C-Blosc2 writes at
// most kMaxSharedVlMetalayers back.
constexpr bool LeavesRoomForSeal(size_t user_layers) {
  return user_layers + 2 <= static_cast<size_t>(kMaxSharedVlMetalayers);
}

// Returns true if the name is one of Cairn's own two.
bool IsReservedLayer(std::string_view name);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STATE_VLMETALAYERS_H_
