#include "tests/crash/model/object_wire.h"

#include <algorithm>
#include <utility>

namespace cairn::model {

Outcome ObjectWorld::Send(const BucketRequest& request, bool again, bool may_retry) {
  const auto answer = [&](bool may_compare) {
    if (bucket.Do(request, now)) return Outcome::kDone;
    const bool own =
        may_compare && rules.client_compares && bucket.HasJust(request, rules.records_differ);
    return own ? Outcome::kDone : Outcome::kConflict;
  };
  // Most requests are done, and answered.
  if (faults >= conditions.faults || !Chance(25)) return answer(again);
  ++faults;
  const bool may_refuse = request.kind == BucketRequest::Kind::kPutRecord;
  const uint64_t fault = choose(may_refuse ? 6 : 4);
  if (fault == 0) {  // twice, by something on the way
    bucket.Do(request, now);
    return answer(again);
  }
  if (fault == 1) bucket.Do(request, now);
  if (fault == 2 || fault == 5) {
    in_flight.push_back({.request = request,
                         .earliest = now + conditions.delay,
                         .latest = now + conditions.flight});
  }
  if (fault >= 4) return Outcome::kConflict;  // a wrong refusal
  return may_retry && choose(2) == 0 ? Outcome::kAgain : Outcome::kUnknown;
}

void ObjectWorld::Land(size_t which) {
  if (now < in_flight[which].earliest) return;
  bucket.Do(in_flight[which].request, now);
  in_flight.erase(in_flight.begin() + static_cast<ptrdiff_t>(which));
}

void ObjectWorld::DropLate() {
  std::erase_if(in_flight, [&](const InFlight& late) { return late.latest < now; });
}

void ObjectActor::Submit(BucketRequest request) {
  sent_ = world_.now;
  const Outcome outcome = world_.Send(request, false, true);
  if (outcome != Outcome::kAgain) return Receive(outcome);
  requests_.push_back(std::move(request));
}

void ObjectActor::Step() {
  if (requests_.empty()) return Act();
  const bool patient = world_.now <= sent_ + world_.conditions.flight / 2;
  const Outcome outcome = patient ? world_.Send(requests_.front(), true, true) : Outcome::kUnknown;
  if (outcome == Outcome::kAgain) return;
  requests_.clear();
  Receive(outcome);
}

}  // namespace cairn::model
