// A thread's look at a frame that another thread writes.
#ifndef CAIRN_TESTS_CONCURRENCY_OBSERVER_H_
#define CAIRN_TESTS_CONCURRENCY_OBSERVER_H_

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/frame.h"
#include "tests/concurrency/ledger.h"

namespace cairn::test {

// Follows one handle, which others may follow too, and checks that each state was committed, that
// none is older than the one before, and that states which it keeps stay as they were.
class Observer {
 public:
  // `path` is empty where no second handle can be opened.
  Observer(Frame* frame, std::string path, const OpenOptions& options, uint64_t seed)
      : frame_(frame), path_(std::move(path)), options_(options), random_(seed) {}

  absl::Status Step();
  // Returns facts of the newest state that was seen. The generation is known only after a step that
  // succeeded.
  int64_t commit() const { return last_.has_value() ? last_->ledger.commit : 0; }
  uint64_t generation() const { return last_->snapshot.info().generation; }
  int64_t states_seen() const { return states_seen_; }

 private:
  struct Seen {
    Snapshot snapshot;
    Ledger ledger;
  };

  // Returns true once in `n` times.
  bool OnceIn(uint64_t n) { return random_() % n == 0; }
  absl::StatusOr<Seen> Look(const Snapshot& snapshot);
  absl::Status Follow();
  absl::Status LookAgain();
  absl::Status OpenAnew();
  absl::Status OpenOlder();

  Frame* const frame_;
  const std::string path_;
  const OpenOptions options_;
  std::mt19937_64 random_;
  std::optional<Seen> last_;
  std::vector<Seen> kept_;
  int64_t states_seen_ = 0;
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_CONCURRENCY_OBSERVER_H_
