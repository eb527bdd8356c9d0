// The ledger of a collection in an object store, as its readers and writers share it.
#ifndef CAIRN_ENGINE_COLLECTION_OBJECTS_OBJECT_LEDGER_H_
#define CAIRN_ENGINE_COLLECTION_OBJECTS_OBJECT_LEDGER_H_

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/base/mutex.h"
#include "engine/collection/ledger/ledger.h"
#include "engine/collection/members/site.h"
#include "engine/frame/open/frame_core.h"
#include "engine/frame/state/state.h"

namespace cairn::collection {

// Keeps the newest state that was read, or that a writer of this process has committed. So nobody
// reads a commit twice. Thread-safe.
class ObjectLedger {
 public:
  // Errors: kNotFound if no ledger is there.
  static absl::StatusOr<std::shared_ptr<ObjectLedger>> Open(std::shared_ptr<const Site> site);

  // Returns the same object until there is a newer state.
  std::shared_ptr<const Ledger> newest() const;
  // Looks for a newer state. Errors: kFailedPrecondition if another collection is there.
  absl::Status Refresh();

  // A frame that a writer can work on, whatever else is read, and what its state lists.
  struct Copy {
    std::shared_ptr<frame::FrameCore> core;
    std::shared_ptr<const Ledger> ledger;
  };
  Copy CopyNewest() const;
  // Takes over a state that a writer has committed, and what that lists.
  void Take(frame::StatePtr state, const Ledger& ledger);

 private:
  ObjectLedger(std::shared_ptr<const Site> site, std::shared_ptr<frame::FrameCore> core)
      : site_(std::move(site)), core_(std::move(core)) {}

  absl::Status MoveTo(const frame::StatePtr& state);
  void Show(frame::StatePtr state, const std::shared_ptr<const Ledger>& ledger)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::shared_ptr<const Site> site_;
  const std::shared_ptr<frame::FrameCore> core_;  // may be behind state_
  mutable Mutex mutex_;
  frame::StatePtr state_ ABSL_GUARDED_BY(mutex_);  // null until MoveTo
  std::shared_ptr<const Ledger> newest_ ABSL_GUARDED_BY(mutex_);
};

// Returns the path by which the ledger is opened.
std::string ObjectLedgerPath(const Site& site);

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_OBJECTS_OBJECT_LEDGER_H_
