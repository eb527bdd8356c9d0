// The state of a collection, as its ledger tells it. The ledger is an ordinary frame: its
// checkpoint has the table of all members, and each commit after that has what changed.
#ifndef CAIRN_ENGINE_COLLECTION_LEDGER_LEDGER_H_
#define CAIRN_ENGINE_COLLECTION_LEDGER_LEDGER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/options.h"
#include "cairn/snapshot.h"
#include "engine/collection/ledger/ledger_codec.h"

namespace cairn::collection {

// A member that a commit has removed.
struct GoneMember {
  uint64_t number = 0;  // of the commit
  std::string name;
  MemberEntry entry;
};

// Readers share it, and then it is immutable.
struct Ledger {
  LedgerTable table;
  // The commits since the ledger's checkpoint, whose patches members may lack.
  std::vector<std::shared_ptr<const LedgerCommit>> commits = {};
  std::vector<GoneMember> gone = {};  // what they have removed, in order
  int64_t commit_bytes = 0;           // of all of them
  // The first of these commits that members' indexes in an object store have, and their bytes.
  size_t indexed_commits = 0;
  int64_t indexed_bytes = 0;
  size_t dropped_commits = 0;  // by DropIndexed, since the ledger's checkpoint

  // The ledger was read up to here.
  uint64_t checkpoint_id = 0;
  int64_t end = 0;
  uint64_t generation = 0;

  // Goes on to what the snapshot of the ledger holds; see ReadLedger.
  absl::Status Follow(const Snapshot& snapshot);
  // Takes over a commit that was made here. `snapshot` is the ledger after it.
  absl::Status AddOwn(LedgerCommit commit, const Snapshot& snapshot);
  // Takes over a checkpoint that was made here.
  absl::Status BeginAfter(const Snapshot& snapshot);
  // Forgets the commits that members' indexes have.
  void DropIndexed();
  // Returns the patches of a member's commits after that generation, in order.
  std::vector<FilePatch> PatchesOf(std::string_view member, uint64_t after) const;
  // Returns the generation of the index, in an object store, that these patches follow.
  uint64_t IndexOf(std::string_view member) const;
};

// Reads what the snapshot of the ledger holds. Continues after `before`, if that is not null and of
// the same checkpoint. Errors: kDataLoss if the ledger is damaged; kFailedPrecondition if the frame
// is not a ledger.
absl::StatusOr<std::shared_ptr<const Ledger>> ReadLedger(
    const Snapshot& snapshot, const std::shared_ptr<const Ledger>& before);

// Returns the table of the ledger's checkpoint. Errors: as for ReadLedger.
absl::StatusOr<LedgerTable> ReadTable(const Snapshot& snapshot);

// Returns how a ledger is opened.
OpenOptions LedgerReading(std::shared_ptr<FileSystem> files);
// Creates the ledger of a collection with these members. python-blosc2 takes the frame for its
// store of embedded values. Errors: as for Frame::Create.
absl::Status CreateLedger(const std::string& path, std::shared_ptr<FileSystem> files,
                          const LedgerTable& table = {});
// Makes such a frame with another layer, which is no ledger of a collection.
absl::Status CreateLedger(const std::string& path, std::shared_ptr<FileSystem> files,
                          std::string_view layer, Bytes content);

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_LEDGER_LEDGER_H_
