// The report of Snapshot::Verify.
#ifndef CAIRN_VERIFY_H_
#define CAIRN_VERIFY_H_

#include <cstdint>
#include <string>
#include <vector>

namespace cairn {

enum class VerifyDepth {
  kStructure,     // header, trailer, index and the header of each chunk
  kFingerprints,  // and every stored byte against its fingerprint
  kContents,      // and every chunk and vlmetalayer decodes
};

// Damage, or bytes that could not be checked within the limits: [begin, end) of the frame, or of
// the chunk's own file in a sparse frame.
struct Finding {
  int64_t begin = 0;
  int64_t end = 0;
  // "header", "index", "chunk 17", "trailer", "vlmetalayer x"; "journal", and "summary" of it;
  // "metalayer b2nd": it describes other chunks than there are
  std::string section;
  std::string reason;
};

struct VerifyReport {
  int64_t nchunks = 0;     // checked
  int64_t bytes_read = 0;  // stored
  bool sealed = false;
  std::vector<Finding> findings;   // damage: the first 1000; empty when there is none
  int64_t omitted = 0;             // further findings
  std::vector<std::string> notes;  // not damage: "not sealed: changed by another Blosc2 after …"
  bool ok() const { return findings.empty(); }
};

}  // namespace cairn

#endif  // CAIRN_VERIFY_H_
