// Removes objects of a frame that no state needs any more.
//
// A chunk becomes garbage when a commit drops it, or when the writer that put it lost a race or
// died; a record of the journal, when a checkpoint has taken it over. Readers of older snapshots
// and slow writers may still need them for a time of grace, so they go in two steps, which any
// process may take:
//   1. Those that no state names, and that are too old to be named by a commit to come, are written
//      to a list, named after the time by the store's clock.
//   2. What is on a list as old as the grace is removed, and then the list.
#ifndef CAIRN_ENGINE_FRAME_LAYOUT_OBJECT_GARBAGE_H_
#define CAIRN_ENGINE_FRAME_LAYOUT_OBJECT_GARBAGE_H_

#include <memory>

#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "cairn/object_store.h"
#include "cairn/reports.h"
#include "engine/frame/state/frame_context.h"

namespace cairn::frame {

// Of the frame in `directory`, whose objects are in `store`. `blocked` says that more will go
// when it is old enough.
absl::StatusOr<ReclaimReport> CollectGarbage(const std::shared_ptr<ObjectStore>& store,
                                             const std::shared_ptr<FileSystem>& directory,
                                             const std::shared_ptr<const FrameContext>& env);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_LAYOUT_OBJECT_GARBAGE_H_
