#include "tests/concurrency/observer.h"

#include <utility>

#include "engine/base/status.h"

namespace cairn::test {

namespace {

constexpr size_t kMostKept = 4;

}  // namespace

absl::Status Observer::Step() {
  CAIRN_RETURN_IF_ERROR(Follow());
  if (OnceIn(2)) CAIRN_RETURN_IF_ERROR(Annotate(LookAgain(), "a state that was kept"));
  if (path_.empty()) return absl::OkStatus();
  if (OnceIn(16)) CAIRN_RETURN_IF_ERROR(Annotate(OpenAnew(), "a new handle"));
  if (OnceIn(16)) CAIRN_RETURN_IF_ERROR(Annotate(OpenOlder(), "an older generation"));
  return absl::OkStatus();
}

absl::StatusOr<Observer::Seen> Observer::Look(const Snapshot& snapshot) {
  CAIRN_ASSIGN_OR_RETURN(const Ledger ledger, CheckLedger(snapshot, random_));
  return Seen{.snapshot = snapshot, .ledger = ledger};
}

absl::Status Observer::Follow() {
  CAIRN_ASSIGN_OR_RETURN(const Snapshot snapshot, frame_->Refresh());
  CAIRN_ASSIGN_OR_RETURN(Seen seen, Look(snapshot));
  if (last_.has_value()) {
    const bool older = seen.ledger.commit < last_->ledger.commit ||
                       seen.ledger.nitems < last_->ledger.nitems ||
                       snapshot.info().generation < last_->snapshot.info().generation;
    if (older) {
      return absl::InternalError(absl::StrFormat(
          "commit %d, generation %d after %d, %d", seen.ledger.commit, snapshot.info().generation,
          last_->ledger.commit, last_->snapshot.info().generation));
    }
  }
  if (seen.ledger.commit != commit()) ++states_seen_;
  last_ = seen;
  if (OnceIn(32)) kept_.clear();  // or nothing would ever be reclaimed
  if (OnceIn(8)) {
    if (kept_.size() == kMostKept) kept_.erase(kept_.begin() + random_() % kMostKept);
    kept_.push_back(std::move(seen));
  }
  return absl::OkStatus();
}

absl::Status Observer::LookAgain() {
  if (kept_.empty()) return absl::OkStatus();
  const Seen& kept = kept_[random_() % kept_.size()];
  CAIRN_ASSIGN_OR_RETURN(const Seen now, Look(kept.snapshot));
  return now.ledger == kept.ledger ? absl::OkStatus()
                                   : absl::InternalError("its ledger is another one");
}

absl::Status Observer::OpenAnew() {
  CAIRN_ASSIGN_OR_RETURN(const Frame frame, Frame::Open(path_, options_));
  CAIRN_ASSIGN_OR_RETURN(const Seen seen, Look(frame.snapshot()));
  // Every reader must find what one reader saw before.
  return seen.ledger.commit >= commit() ? absl::OkStatus()
                                        : absl::InternalError("older than what was seen before");
}

absl::Status Observer::OpenOlder() {
  CAIRN_ASSIGN_OR_RETURN(const Frame frame, Frame::Open(path_, options_));
  CAIRN_ASSIGN_OR_RETURN(const std::vector<GenerationInfo> history, frame.History());
  const GenerationInfo& one = history[random_() % history.size()];
  OpenOptions options = options_;
  options.generation = one.generation;
  const absl::StatusOr<Frame> older = Frame::Open(path_, options);
  if (absl::IsNotFound(older.status())) return absl::OkStatus();  // reclaimed or compacted away
  CAIRN_RETURN_IF_ERROR(older.status());
  const Snapshot snapshot = older->snapshot();
  if (snapshot.info().generation != one.generation || snapshot.info().nbytes != one.nbytes) {
    return absl::InternalError(absl::StrFormat("generation %d asked for, %d opened", one.generation,
                                               snapshot.info().generation));
  }
  // The frame was made without a ledger.
  return one.nbytes == 0 ? absl::OkStatus() : Look(snapshot).status();
}

}  // namespace cairn::test
