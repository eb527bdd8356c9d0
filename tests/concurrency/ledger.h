// A frame that says, in every committed state, what it must hold.
//
// Its items are int64. The first chunk is the ledger: the number of the commit, the number of
// items, and the version of every chunk after it. Every other item follows from its number and its
// chunk's version, so that a state which mixes two commits is caught by any reader.
#ifndef CAIRN_TESTS_CONCURRENCY_LEDGER_H_
#define CAIRN_TESTS_CONCURRENCY_LEDGER_H_

#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/frame.h"

namespace cairn::test {

constexpr int64_t kChunkItems = 512;
constexpr int64_t kVersions = kChunkItems - 2;

struct Ledger {
  int64_t commit = 0;
  int64_t nitems = kChunkItems;
  std::array<int64_t, kVersions> versions = {};  // of chunks 1 and on; those after have none
  bool operator==(const Ledger&) const = default;

  int64_t VersionOf(int64_t nchunk) const;
  int64_t ItemAt(int64_t item) const;
  std::vector<int64_t> Items(int64_t begin, int64_t end) const;
};
static_assert(sizeof(Ledger) == kChunkItems * sizeof(int64_t));

CreateOptions LedgerOptions(Layout layout);

// Keeps the ledger of the frame that it edits.
class LedgerKeeper {
 public:
  // A frame that has no ledger yet.
  LedgerKeeper() = default;
  // Goes on where another keeper stopped.
  explicit LedgerKeeper(const Ledger& committed) : committed_(committed), staged_(committed) {}

  const Ledger& committed() const { return committed_; }

  // The first commit of an empty frame.
  absl::Status Begin(Writer& writer);
  // Staged until Commit or Forget.
  absl::Status Append(Writer& writer, int64_t nitems);
  // Gives a chunk, which may be the one that is being filled, another version.
  absl::Status Rewrite(Writer& writer, int64_t nchunk);
  absl::Status Commit(Writer& writer, Durability durability);
  void Forget() { staged_ = committed_; }

  int64_t CountChunks() const { return (staged_.nitems + kChunkItems - 1) / kChunkItems; }

 private:
  Ledger committed_;
  Ledger staged_;
};

// Reads the ledger, and a part of the rest that `random` chooses. An error when the frame does not
// hold what its ledger says.
absl::StatusOr<Ledger> CheckLedger(const Snapshot& snapshot, std::mt19937_64& random);
// Checks every item.
absl::StatusOr<Ledger> CheckWholeLedger(const Snapshot& snapshot);

}  // namespace cairn::test

#endif  // CAIRN_TESTS_CONCURRENCY_LEDGER_H_
