// Removes objects of a frame that no state needs any more.
//
// A chunk becomes garbage when a commit drops it, or when the writer that put it lost a race or
// died. A record of the journal becomes garbage when a checkpoint has taken it over. Readers of
// older snapshots and slow writers may still need them for a time of grace. So garbage is removed
// in two steps, which any process may take:
//   1. A list is put, which is named after the time by the store's clock. It has the objects that
//      no state names, and that are too old for a later commit to name them.
//   2. When a list is as old as the grace, its objects are removed, and then the list.
#ifndef CAIRN_ENGINE_FRAME_LAYOUT_OBJECT_GARBAGE_H_
#define CAIRN_ENGINE_FRAME_LAYOUT_OBJECT_GARBAGE_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "cairn/object_store.h"
#include "cairn/reports.h"
#include "engine/frame/files/frame_file.h"
#include "engine/frame/state/frame_context.h"

namespace cairn::frame {

// The objects of a store. They are listed before the state is read that names some of them, so an
// object that was listed and is not named by then was dropped, or waits for its commit.
struct Inventory {
  std::map<std::string, ObjectInfo> objects;
  int64_t now = 0;    // by the store's clock, when the listing began
  int64_t known = 0;  // by the store's clock, after the state was read
};
absl::StatusOr<Inventory> ListObjects(ObjectStore& store);
// Returns the time by the store's clock.
absl::StatusOr<int64_t> TimeOf(ObjectStore& store);
// Returns the numbers of the chunks that the checkpoint or a commit after it names, in order.
absl::StatusOr<std::vector<int64_t>> ChunksNamed(const FrameFile& source,
                                                 const std::shared_ptr<const FrameContext>& env);

// Takes the steps above. Lists of garbage are objects whose names begin with `lists`.
absl::StatusOr<ReclaimReport> RemoveGarbage(ObjectStore& store, std::chrono::seconds grace,
                                            const Inventory& inventory, const std::string& lists,
                                            absl::FunctionRef<bool(const std::string&)> is_needed);

// Removes the garbage of the frame in `directory`, whose objects are in `store`. In the report,
// `blocked` is true if there are more objects to remove when they are old enough.
absl::StatusOr<ReclaimReport> CollectGarbage(const std::shared_ptr<ObjectStore>& store,
                                             const std::shared_ptr<FileSystem>& directory,
                                             const std::shared_ptr<const FrameContext>& env);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_LAYOUT_OBJECT_GARBAGE_H_
