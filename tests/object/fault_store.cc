#include "tests/object/fault_store.h"

#include <algorithm>

namespace cairn::test {

namespace {

absl::Status Unavailable(const std::string& what) {
  return absl::UnavailableError("fault: " + what + ": nothing was done");
}

}  // namespace

FaultStore::Fate FaultStore::Throw(bool changes) {
  LandDue();
  if (!faults_) return Fate::kFine;
  const std::lock_guard lock(mutex_);
  const size_t number = dice_.Below(100);
  size_t limit = odds_.unavailable;
  if (number < limit) return Fate::kUnavailable;
  if (!changes) return Fate::kFine;
  if (number < (limit += odds_.lost)) return Fate::kLost;
  if (number < (limit += odds_.never)) return Fate::kNever;
  return number < limit + odds_.delayed ? Fate::kDelayed : Fate::kFine;
}

void FaultStore::LandDue() {
  std::vector<Delayed> due;
  {
    const std::lock_guard lock(mutex_);
    for (Delayed& delayed : delayed_) --delayed.requests_left;
    const auto later = std::stable_partition(delayed_.begin(), delayed_.end(),
                                             [](const Delayed& d) { return d.requests_left > 0; });
    std::move(later, delayed_.end(), std::back_inserter(due));
    delayed_.erase(later, delayed_.end());
  }
  for (const Delayed& delayed : due) delayed.land();
}

void FaultStore::Land() {
  std::vector<Delayed> due;
  {
    const std::lock_guard lock(mutex_);
    due.swap(delayed_);
  }
  for (const Delayed& delayed : due) delayed.land();
}

void FaultStore::Delay(std::function<void()> land) {
  const std::lock_guard lock(mutex_);
  const size_t wait = 1 + dice_.Below(std::max<size_t>(odds_.longest_delay, 1));
  delayed_.push_back({.requests_left = wait, .land = std::move(land)});
}

absl::Status FaultStore::FailChange(Fate fate, const std::string& what, std::function<void()> act) {
  ++count_;
  if (fate == Fate::kUnavailable) return Unavailable(what);
  if (fate == Fate::kLost) act();
  if (fate == Fate::kDelayed) Delay(std::move(act));
  return absl::DeadlineExceededError("fault: " + what + ": not known whether it was done");
}

void FaultStore::StartPut(const std::string& name, Bytes bytes, PutDone done,
                          std::function<void(Bytes, PutDone)> put) {
  const Fate fate = Throw(true);
  if (fate == Fate::kFine) {
    put(bytes, std::move(done));
    return;
  }
  // The caller's bytes may be gone by then.
  const auto copy = std::make_shared<std::vector<std::byte>>(bytes.begin(), bytes.end());
  done(FailChange(fate, "put " + name,
                  [copy, put] { put(*copy, [copy](absl::StatusOr<ObjectInfo>) {}); }));
}

void FaultStore::StartGet(std::string name, ObjectRange range, std::optional<std::string> if_match,
                          GetDone done) {
  if (Throw(false) == Fate::kFine) {
    base_->StartGet(std::move(name), range, std::move(if_match), std::move(done));
  } else {
    ++count_;
    done(Unavailable("get " + name));
  }
}

void FaultStore::StartPutIfAbsent(std::string name, Bytes bytes, PutDone done) {
  StartPut(name, bytes, std::move(done), [base = base_, name](Bytes content, PutDone answer) {
    base->StartPutIfAbsent(name, content, std::move(answer));
  });
}

void FaultStore::StartPutIfMatch(std::string name, std::string etag, Bytes bytes, PutDone done) {
  StartPut(name, bytes, std::move(done), [base = base_, name, etag](Bytes content, PutDone answer) {
    base->StartPutIfMatch(name, etag, content, std::move(answer));
  });
}

absl::StatusOr<ObjectInfo> FaultStore::Head(const std::string& name) {
  if (Throw(false) == Fate::kFine) return base_->Head(name);
  ++count_;
  return Unavailable("head " + name);
}

absl::StatusOr<ObjectListing> FaultStore::List(const std::string& prefix, const std::string& after,
                                               int64_t most) {
  if (Throw(false) == Fate::kFine) return base_->List(prefix, after, most);
  ++count_;
  return Unavailable("list " + prefix);
}

absl::Status FaultStore::Delete(std::span<const std::string> names) {
  const Fate fate = Throw(true);
  if (fate == Fate::kFine) return base_->Delete(names);
  return FailChange(fate, "delete", [base = base_, gone = std::vector(names.begin(), names.end())] {
    static_cast<void>(base->Delete(gone));
  });
}

}  // namespace cairn::test
