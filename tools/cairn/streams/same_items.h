// Finds out whether a frame has only grown.
#ifndef CAIRN_TOOLS_CAIRN_STREAMS_SAME_ITEMS_H_
#define CAIRN_TOOLS_CAIRN_STREAMS_SAME_ITEMS_H_

#include "cairn/snapshot.h"

namespace cairn::tool {

// Returns true if `now` has the items of `before`, perhaps with more after them. Looks at the
// index, and at data only where the index differs. Items that cannot be read count as changed.
bool BeginsWith(const Snapshot& now, const Snapshot& before);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_STREAMS_SAME_ITEMS_H_
