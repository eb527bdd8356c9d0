// The committed states of a frame in order, and which of them may never be lost.
#ifndef CAIRN_TESTS_CRASH_HISTORY_H_
#define CAIRN_TESTS_CRASH_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/options.h"
#include "cairn/snapshot.h"
#include "tests/support/frame_model.h"

namespace cairn::test {

// The hash of all that a user sees of a state: chunksize, chunks, metalayers, vlmetalayers.
uint64_t ContentOf(const FrameModel& model);
// Returns the content that is read, every chunk by itself, or an error for anything that cannot be
// read.
absl::StatusOr<uint64_t> ReadContent(const Snapshot& snapshot);

class History {
 public:
  // The content of no frame at all, which is what there is at first.
  static constexpr uint64_t kNothing = 0;

  // A commit is under way: from now on its state may be found.
  void Add(const FrameModel& model);
  // Notes that the commit returned. Commits that survive the machine survive the process too.
  void Acknowledge(Durability durability);

  // The number of the newest state of this content.
  std::optional<size_t> Find(uint64_t content) const;
  const FrameModel& model(size_t state) const { return *states_[state].model; }
  size_t newest() const { return states_.size() - 1; }
  // The oldest state that may be found after a process was killed, and after a power cut.
  size_t oldest(Durability survived) const {
    return survived == Durability::kProcess ? process_ : machine_;
  }

  // The state was found after a failure, and the next writer continues from it: later ones may
  // never come back. After a power cut it is on the disk.
  void ContinueFrom(size_t state, Durability survived);

 private:
  struct State {
    uint64_t content = kNothing;
    std::optional<FrameModel> model = {};
  };
  std::vector<State> states_ = {State()};
  size_t process_ = 0;
  size_t machine_ = 0;
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_CRASH_HISTORY_H_
