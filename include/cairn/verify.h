// The options and the report of Snapshot::Verify.
#ifndef CAIRN_VERIFY_H_
#define CAIRN_VERIFY_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace cairn {

// Says what Snapshot::Verify checks.
enum class VerifyDepth {
  kStructure,     // the header, the trailer, the index and the header of each chunk
  kFingerprints,  // also every stored byte against its fingerprint
  kContents,      // also that every chunk and vlmetalayer decodes
};

// Options of Snapshot::Verify.
struct VerifyOptions {
  VerifyDepth depth = VerifyDepth::kContents;
  // Is called after every few chunks and at the end, with the number of chunks done. Returns false
  // to stop: Verify then returns kCancelled.
  std::function<bool(int64_t)> progress = {};
};

// Names damage, or bytes that could not be checked within the limits. Bytes [begin, end) are those
// of the frame, or of the chunk's own file in a sparse frame.
struct Finding {
  int64_t begin = 0;
  int64_t end = 0;
  // Part of the frame: "header", "index", "chunk 17", "trailer", "vlmetalayer x", "journal",
  // "summary" (of the journal), or "metalayer b2nd" if that describes other chunks than there are.
  std::string section;
  std::string reason;
};

// Reports what Snapshot::Verify found.
struct VerifyReport {
  int64_t nchunks = 0;             // chunks checked
  int64_t bytes_read = 0;          // stored bytes that were read
  bool sealed = false;             // true if fingerprints cover every live byte
  std::vector<Finding> findings;   // the first 1000 findings; empty if there is no damage
  int64_t omitted = 0;             // number of further findings
  std::vector<std::string> notes;  // not damage: "not sealed: changed by another Blosc2 after …"
  // Returns true if there are no findings.
  bool ok() const { return findings.empty(); }
};

}  // namespace cairn

#endif  // CAIRN_VERIFY_H_
