// What the index says of one chunk.
#ifndef CAIRN_ENGINE_FRAME_INDEX_INDEX_ENTRY_H_
#define CAIRN_ENGINE_FRAME_INDEX_INDEX_ENTRY_H_

#include <cstdint>

namespace cairn::frame {

struct IndexEntry {
  // As the format writes it: an offset after the header, or the code of a special value.
  int64_t value = 0;
  uint64_t fingerprint = 0;  // 0: none
  bool operator==(const IndexEntry&) const = default;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_INDEX_INDEX_ENTRY_H_
