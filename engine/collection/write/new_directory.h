// The directory of a copy until the copy is complete.
#ifndef CAIRN_ENGINE_COLLECTION_WRITE_NEW_DIRECTORY_H_
#define CAIRN_ENGINE_COLLECTION_WRITE_NEW_DIRECTORY_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "engine/base/owner_process.h"
#include "engine/collection/members/site.h"

namespace cairn::collection {

// A directory that one copy alone fills. A locked file in it says so: whoever gets the lock knows
// that the copy's process is dead, and may remove what it left. A new directory has a temporary
// name until Publish. One that was there, and was empty, cannot be renamed if it is where a disk
// is mounted, so it is filled in its place. Movable.
class NewDirectory {
 public:
  // Removes what dead copies to the same place have left. Errors: kAlreadyExists if anything else
  // is there, or if another copy is being made there.
  static absl::StatusOr<NewDirectory> Begin(const Site& to);
  NewDirectory(NewDirectory&&) = default;
  NewDirectory& operator=(NewDirectory&&) = delete;
  // Without Publish, removes the directory if the caller has removed what it made there.
  ~NewDirectory();

  // Returns where the copy is made.
  const Site& site() const { return site_; }
  // Gives the directory its name, durably. The ledger must be there. Errors: kAlreadyExists if
  // something else has the name now.
  absl::Status Publish();
  // Returns an error about the temporary name as one about the place that the caller knows.
  absl::Status AboutTarget(const absl::Status& status) const;

 private:
  NewDirectory(Site site, std::string target)
      : site_(std::move(site)), target_(std::move(target)) {}

  // Takes the lock. Errors: kAborted if another process has just removed the directory.
  absl::Status Claim();
  absl::Status ClaimLeft();
  void LetGo();

  Site site_;
  std::string target_;
  std::unique_ptr<File> claim_;  // null after Publish
  OwnerProcess owner_;           // a forked child removes nothing
};

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_WRITE_NEW_DIRECTORY_H_
