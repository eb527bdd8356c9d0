// Values of vlmetalayers: each is a chunk.
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

// A vlmetalayer: its value is a complete chunk.
struct VlMetalayer {
  std::string name;
  Chunk chunk;
};

// Decodes a value; kResourceExhausted past Limits::max_metadata_nbytes. Where not `all` is wanted,
// the first item stands for a value that takes no bytes to store: it shows whether there is one.
absl::StatusOr<std::vector<std::byte>> DecodeVlLayer(const FrameContext& env,
                                                     const VlMetalayer& layer, bool all = true);

// "vlmetalayer x", fit to be shown whatever the name holds.
std::string DescribeVlLayer(const VlMetalayer& layer);

// kResourceExhausted past the same limit: what cannot be read is not written.
absl::StatusOr<VlMetalayer> EncodeVlLayer(const FrameContext& env, std::string_view name,
                                          Bytes content);

// Adds a layer or takes the place of the one of its name.
void PutVlLayer(std::vector<VlMetalayer>& layers, VlMetalayer layer);

// The layers of a state while many edits are made: none costs more for there being many layers. Not
// thread-safe.
class VlMetalayerTable {
 public:
  explicit VlMetalayerTable(std::vector<VlMetalayer> layers);
  // As PutVlLayer does.
  void Put(VlMetalayer layer);
  // All of that name.
  void Erase(const std::string& name);
  std::vector<VlMetalayer> Take() &&;

 private:
  std::vector<std::optional<VlMetalayer>> layers_;  // in their order; those that are gone are empty
  std::unordered_map<std::string, std::vector<size_t>> places_;
};

// Whether a trailer of so many user layers has space for Cairn's two: C-Blosc2 writes at most
// kMaxSharedVlMetalayers back.
constexpr bool LeavesRoomForSeal(size_t user_layers) {
  return user_layers + 2 <= static_cast<size_t>(kMaxSharedVlMetalayers);
}

// Whether the name is one of Cairn's own two.
bool IsReservedLayer(std::string_view name);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STATE_VLMETALAYERS_H_
