// Reports of the calls that maintain a frame.
#ifndef CAIRN_REPORTS_H_
#define CAIRN_REPORTS_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace cairn {

// Reports what Frame::Compact did.
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

// A reader that holds a generation before the last checkpoint: what only that one needs is not used
// again until the reader goes on to a newer one, or ends.
struct GenerationHolder {
  uint64_t generation = 0;  // of the checkpoint that it reads, or commits after it
  int64_t pid = 0;          // of its process; 0: not known
  // How long its process has been running; it holds the generation no longer. Empty: not known.
  std::optional<std::chrono::seconds> running = {};
};

// Reports what Writer::Reclaim did.
struct ReclaimReport {
  int64_t freed = 0;     // bytes of disk space
  bool blocked = false;  // an older generation is still read: what it needs is still there
  uint64_t oldest_generation = 0;  // that can still be opened
  // Who reads older ones, the oldest first; see Frame::OldReaders.
  std::vector<GenerationHolder> holders = {};
};

}  // namespace cairn

#endif  // CAIRN_REPORTS_H_
