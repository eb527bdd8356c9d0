// The first failure of a writer, after which it is not known what is on the disk.
#ifndef CAIRN_ENGINE_COLLECTION_WRITE_FIRST_FAILURE_H_
#define CAIRN_ENGINE_COLLECTION_WRITE_FIRST_FAILURE_H_

#include "absl/status/status.h"

#include "engine/base/owner_process.h"
#include "engine/base/status.h"

namespace cairn::collection {

// Not thread-safe. A writer has failed in a forked child, too: its parent goes on with the files.
class FirstFailure {
 public:
  // Passes a status on. If it is a failure, the writer stops.
  absl::Status Need(absl::Status status) {
    if (!status.ok() && unusable_.ok()) {
      unusable_ = FailedPrecondition("an earlier step failed: %s", status.message());
    }
    return status;
  }
  void Close() { unusable_ = FailedPrecondition("the writer is closed"); }
  // Returns why the writer has stopped.
  absl::Status status() const {
    if (owner_.is_here()) return unusable_;
    return FailedPrecondition(
        "the writer of the collection belongs to the process that this one was forked from");
  }
  bool ok() const { return status().ok(); }

 private:
  const OwnerProcess owner_;
  absl::Status unusable_;  // or that it is closed
};

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_WRITE_FIRST_FAILURE_H_
