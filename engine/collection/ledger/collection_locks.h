// Locks on the ledger that tell which states of a collection are read.
#ifndef CAIRN_ENGINE_COLLECTION_LEDGER_COLLECTION_LOCKS_H_
#define CAIRN_ENGINE_COLLECTION_LEDGER_COLLECTION_LOCKS_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "cairn/file_system.h"
#include "engine/base/mutex.h"
#include "engine/frame/files/frame_locks.h"

namespace cairn::collection {

// A reader shares this byte while it reads the ledger, until it holds the lock of its commit. These
// bytes lie before those of the ledger as a frame.
inline constexpr int64_t kEntryByte = frame::kWriterLockByte - (int64_t{1} << 42);
// The only writer holds this byte exclusively, and writers who share the collection share it. The
// bytes right before it are its queue.
inline constexpr int64_t kGateByte = frame::kWriterLockByte - (int64_t{1} << 43);
// Readers of the commit share this byte. There are fewer than 2^60 commits.
constexpr int64_t CommitByte(uint64_t number) {
  return (int64_t{1} << 60) + static_cast<int64_t>(number);
}
inline constexpr uint64_t kMaxCommits = uint64_t{1} << 60;

// A generation of a file that the ledger lists since a commit, or since an earlier one.
struct ListedGeneration {
  uint64_t number = 0;  // of the commit
  uint64_t generation = 0;
};

// Knows which bytes of a member's file readers of the collection may need. Thread-safe.
class Retention {
 public:
  // `ledger` is open for reading. `listed` is in order, and not empty.
  Retention(std::shared_ptr<const File> ledger, std::vector<ListedGeneration> listed)
      : ledger_(std::move(ledger)), listed_(std::move(listed)) {}

  // Takes note that the commit lists a newer generation.
  void NoteListed(uint64_t number, uint64_t generation);
  // Returns true if any reader may need bytes that died with that generation of the file. Until the
  // ledger lists the generation or a later one, readers that come need them.
  bool IsNeeded(uint64_t died) const;

 private:
  const std::shared_ptr<const File> ledger_;
  mutable Mutex mutex_;
  std::vector<ListedGeneration> listed_ ABSL_GUARDED_BY(mutex_);
};

// Returns true if any reader may need files or bytes of commits before `number`, or if that cannot
// be found out.
bool IsReadBefore(const File& ledger, uint64_t number);
// Returns true if any reader may need files of commits before `number` that the commit `oldest`
// does not have, or if that cannot be found out. The writer itself reads `oldest`.
bool IsReadBeside(const File& ledger, uint64_t oldest, uint64_t number);

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_LEDGER_COLLECTION_LOCKS_H_
