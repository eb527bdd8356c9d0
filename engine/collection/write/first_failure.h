// The first failure of a writer, after which it is not known what is on the disk.
#ifndef CAIRN_ENGINE_COLLECTION_WRITE_FIRST_FAILURE_H_
#define CAIRN_ENGINE_COLLECTION_WRITE_FIRST_FAILURE_H_

#include "absl/status/status.h"

#include "engine/base/status.h"

namespace cairn::collection {

// Not thread-safe.
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
  const absl::Status& status() const { return unusable_; }
  bool ok() const { return unusable_.ok(); }

 private:
  absl::Status unusable_;  // or that it is closed
};

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_WRITE_FIRST_FAILURE_H_
