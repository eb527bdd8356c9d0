// The lock of the oldest commit that a writer of a collection keeps.
#ifndef CAIRN_ENGINE_COLLECTION_WRITE_KEPT_COMMIT_H_
#define CAIRN_ENGINE_COLLECTION_WRITE_KEPT_COMMIT_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"

#include "engine/collection/members/site.h"
#include "engine/frame/files/frame_locks.h"

namespace cairn::collection {

// A reader who never goes: whatever asks for readers keeps the commits after his, too. Not
// thread-safe.
class KeptCommit {
 public:
  // Moves on to the commit. Errors: kUnavailable if the lock is refused.
  absl::Status Hold(const Site& site, uint64_t number);
  void LetGo() { reader_ = nullptr; }

 private:
  // They have an open file of their own, since none tells of the locks that it has itself.
  std::shared_ptr<frame::ReaderLocks> locks_;
  std::shared_ptr<const void> reader_;
};

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_WRITE_KEPT_COMMIT_H_
