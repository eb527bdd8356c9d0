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

#include <memory>

#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "cairn/object_store.h"
#include "cairn/reports.h"
#include "engine/frame/state/frame_context.h"

namespace cairn::frame {

// Removes the garbage of the frame in `directory`, whose objects are in `store`. In the report,
// `blocked` is true if there are more objects to remove when they are old enough.
absl::StatusOr<ReclaimReport> CollectGarbage(const std::shared_ptr<ObjectStore>& store,
                                             const std::shared_ptr<FileSystem>& directory,
                                             const std::shared_ptr<const FrameContext>& env);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_LAYOUT_OBJECT_GARBAGE_H_
