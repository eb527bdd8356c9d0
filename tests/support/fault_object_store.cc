#include "tests/support/fault_object_store.h"

#include <utility>

#include "absl/status/status.h"

namespace cairn::test {

namespace {

absl::Status OutcomeUnknown() { return absl::DeadlineExceededError("fault: no answer"); }

}  // namespace

void FaultObjectStore::SetChances(const FaultChances& chances) {
  const std::lock_guard lock(mutex_);
  chances_ = chances;
}

void FaultObjectStore::SetChoice(Choose choose) {
  const std::lock_guard lock(mutex_);
  choose_ = std::move(choose);
}

bool FaultObjectStore::LandOne() {
  std::function<void()> request;
  {
    const std::lock_guard lock(mutex_);
    if (delayed_.empty()) return false;
    std::swap(delayed_[dice_.Below(delayed_.size())], delayed_.back());
    request = std::move(delayed_.back());
    delayed_.pop_back();
  }
  request();
  return true;
}

void FaultObjectStore::LandAll() {
  while (LandOne()) continue;
}

int64_t FaultObjectStore::faults() const {
  const std::lock_guard lock(mutex_);
  return faults_;
}

StoreFault FaultObjectStore::ChooseFor(std::string_view name) {
  const std::lock_guard lock(mutex_);
  StoreFault fault = StoreFault::kNone;
  if (choose_ != nullptr) {
    fault = choose_(name);
  } else {
    size_t roll = dice_.Below(100);
    for (const auto& [chance, which] : {std::pair(chances_.unavailable, StoreFault::kUnavailable),
                                        {chances_.lost, StoreFault::kLost},
                                        {chances_.answer_lost, StoreFault::kAnswerLost},
                                        {chances_.delayed, StoreFault::kDelayed},
                                        {chances_.repeated, StoreFault::kRepeated},
                                        {chances_.refused, StoreFault::kRefused}}) {
      if (roll < chance) {
        fault = which;
        break;
      }
      roll -= chance;
    }
  }
  if (fault != StoreFault::kNone) ++faults_;
  return fault;
}

absl::StatusOr<ObjectInfo> FaultObjectStore::Do(StoreFault fault, const Put& put) {
  switch (fault) {
    case StoreFault::kNone:
      break;
    case StoreFault::kUnavailable:
      return absl::UnavailableError("fault: nothing was done");
    case StoreFault::kLost:
      return OutcomeUnknown();
    case StoreFault::kAnswerLost:
      put().IgnoreError();
      return OutcomeUnknown();
    case StoreFault::kDelayed: {
      const std::lock_guard lock(mutex_);
      delayed_.emplace_back([put] { put().IgnoreError(); });
      return OutcomeUnknown();
    }
    case StoreFault::kRepeated:
      put().IgnoreError();
      break;
    case StoreFault::kRefused:
      return absl::FailedPreconditionError("fault: refused, although the condition holds");
  }
  return put();
}

void FaultObjectStore::OnRead(std::function<void(std::string_view)> visit) {
  const std::lock_guard lock(mutex_);
  on_read_ = std::move(visit);
}

absl::Status FaultObjectStore::BeginRead(std::string_view name) {
  std::unique_lock lock(mutex_);
  if (const auto visit = on_read_; visit != nullptr) {
    lock.unlock();
    visit(name);
    lock.lock();
  }
  if (dice_.Below(100) >= chances_.reads_unavailable) return absl::OkStatus();
  ++faults_;
  return absl::UnavailableError("fault: no answer to a read");
}

void FaultObjectStore::StartGet(std::string name, ObjectRange range,
                                std::optional<std::string> if_match, GetDone done) {
  const absl::Status status = BeginRead(name);
  if (!status.ok()) return done(status);
  store_->StartGet(std::move(name), range, std::move(if_match), std::move(done));
}

void FaultObjectStore::StartPutIfAbsent(std::string name, Bytes bytes, PutDone done) {
  const StoreFault fault = ChooseFor(name);
  if (fault == StoreFault::kNone) {
    return store_->StartPutIfAbsent(std::move(name), bytes, std::move(done));
  }
  done(Do(fault, [store = store_, name, kept = std::vector(bytes.begin(), bytes.end())] {
    return store->PutIfAbsent(name, kept);
  }));
}

void FaultObjectStore::StartPutIfMatch(std::string name, std::string etag, Bytes bytes,
                                       PutDone done) {
  const StoreFault fault = ChooseFor(name);
  if (fault == StoreFault::kNone) {
    return store_->StartPutIfMatch(std::move(name), std::move(etag), bytes, std::move(done));
  }
  done(Do(fault, [store = store_, name, etag, kept = std::vector(bytes.begin(), bytes.end())] {
    return store->PutIfMatch(name, etag, kept);
  }));
}

absl::StatusOr<ObjectInfo> FaultObjectStore::Head(const std::string& name) {
  const absl::Status status = BeginRead(name);
  if (!status.ok()) return status;
  return store_->Head(name);
}

absl::StatusOr<ObjectListing> FaultObjectStore::List(const std::string& prefix,
                                                     const std::string& after, int64_t most) {
  const absl::Status status = BeginRead(prefix);
  if (!status.ok()) return status;
  return store_->List(prefix, after, most);
}

absl::Status FaultObjectStore::Delete(std::span<const std::string> names) {
  if (names.empty()) return absl::OkStatus();
  const auto remove = [store = store_, kept = std::vector(names.begin(), names.end())] {
    const absl::Status status = store->Delete(kept);
    return status.ok() ? absl::StatusOr<ObjectInfo>(ObjectInfo()) : status;
  };
  const StoreFault fault = ChooseFor(names.front());
  return Do(fault == StoreFault::kRefused ? StoreFault::kNone : fault, remove).status();
}

}  // namespace cairn::test
