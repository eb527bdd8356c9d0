// The items of the last chunk while it is being filled.
#ifndef CAIRN_ENGINE_FRAME_STATE_PARTIAL_CHUNK_H_
#define CAIRN_ENGINE_FRAME_STATE_PARTIAL_CHUNK_H_

#include <cstdint>
#include <optional>

#include "cairn/types.h"
#include "engine/base/growing.h"
#include "engine/frame/index/index_entry.h"

namespace cairn::frame {

// A stored chunk, no longer in the index, with which a tail begins.
struct StoredPrefix {
  IndexEntry entry;
  int64_t nbytes = 0;
  int64_t stored = 0;
};

// Cheap to copy. Only frames of fixed chunks have one.
struct PartialChunk {
  std::optional<StoredPrefix> head;
  SharedAppendVector<std::byte> items;  // behind the head's

  int64_t nbytes() const {
    return (head.has_value() ? head->nbytes : 0) + static_cast<int64_t>(items.size());
  }
  bool empty() const { return nbytes() == 0; }
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STATE_PARTIAL_CHUNK_H_
