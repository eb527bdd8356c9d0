// What calls that maintain a frame report.
#ifndef CAIRN_REPORTS_H_
#define CAIRN_REPORTS_H_

#include <cstdint>

namespace cairn {

// What Frame::Compact did.
struct CompactReport {
  int64_t size_before = 0;  // bytes of all files of the frame
  int64_t size_after = 0;
};

// A state that can still be opened; see OpenOptions::generation.
struct GenerationInfo {
  uint64_t generation = 0;
  bool checkpoint = false;  // else a commit of the journal, which only Cairn reads
  int64_t nchunks = 0;
  int64_t nbytes = 0;  // decoded
  int64_t end = 0;     // where its last byte ends in the file
};

// What Writer::Reclaim did.
struct ReclaimReport {
  int64_t freed = 0;               // bytes of disk space
  bool blocked = false;            // a reader holds an older state: nothing was freed
  uint64_t oldest_generation = 0;  // that can still be opened
};

}  // namespace cairn

#endif  // CAIRN_REPORTS_H_
