// Knows which snapshots may read staged bytes.
#ifndef CAIRN_ENGINE_FRAME_STAGE_SNAPSHOT_PINS_H_
#define CAIRN_ENGINE_FRAME_STAGE_SNAPSHOT_PINS_H_

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace cairn::frame {

// Holds weak references to snapshots. Not thread-safe, but snapshots may be destroyed in any
// thread.
class SnapshotPins {
 public:
  void Add(std::weak_ptr<const void> snapshot) {
    std::erase_if(snapshots_, std::mem_fn(&std::weak_ptr<const void>::expired));
    snapshots_.push_back(std::move(snapshot));
  }
  // Returns true if one of the snapshots lives.
  bool any() const {
    return !std::ranges::all_of(snapshots_, std::mem_fn(&std::weak_ptr<const void>::expired));
  }

 private:
  std::vector<std::weak_ptr<const void>> snapshots_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STAGE_SNAPSHOT_PINS_H_
