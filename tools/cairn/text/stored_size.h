// Measures how much space a frame takes.
#ifndef CAIRN_TOOLS_CAIRN_TEXT_STORED_SIZE_H_
#define CAIRN_TOOLS_CAIRN_TEXT_STORED_SIZE_H_

#include <algorithm>
#include <cstdint>

#include "cairn/snapshot.h"

namespace cairn::tool {

// Returns the bytes of a frame. The chunks of a sparse one lie next to its index.
inline int64_t StoredSize(const FrameInfo& info) {
  if (info.layout != Layout::kSparse) return info.frame_size;
  // An index may claim any number of bytes.
  return info.frame_size + std::min(info.cbytes, INT64_MAX - info.frame_size);
}

// Returns the same with the commits that follow the frame in its journal. The records of a sparse
// one name chunks that are counted already.
inline int64_t SizeWithJournal(const FrameInfo& info) {
  return StoredSize(info) + (info.layout == Layout::kSparse ? 0 : info.journal_size);
}

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_TEXT_STORED_SIZE_H_
