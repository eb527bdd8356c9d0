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

// Describes a state that can still be opened; see OpenOptions::generation.
struct GenerationInfo {
  uint64_t generation = 0;
  bool checkpoint = false;  // false for a commit of the journal, which only Cairn reads
  int64_t nchunks = 0;
  int64_t nbytes = 0;  // decoded bytes
  int64_t end = 0;     // position in the file at which its last byte ends
};

// Describes a reader that holds a generation before the last checkpoint. The space that only this
// generation needs is not used again until the reader moves to a newer one, or ends.
struct GenerationHolder {
  // Generation of the checkpoint that it reads. It may also read commits after that checkpoint.
  uint64_t generation = 0;
  int64_t pid = 0;  // its process; 0 if unknown
  // Time that its process has been running. It cannot have held the generation for longer. Empty if
  // unknown.
  std::optional<std::chrono::seconds> running = {};
};

// Reports what Writer::Reclaim did.
struct ReclaimReport {
  int64_t freed = 0;               // bytes of disk space
  bool blocked = false;            // true if a reader of an older generation keeps what that needs
  uint64_t oldest_generation = 0;  // oldest generation that can still be opened
  // Readers of older generations, the oldest generation first; see Frame::OldReaders.
  std::vector<GenerationHolder> holders = {};
};

}  // namespace cairn

#endif  // CAIRN_REPORTS_H_
