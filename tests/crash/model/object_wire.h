// The way from an actor to the store: requests are lost, come late or twice, answers are lost, and
// the client library tries again.
#ifndef CAIRN_TESTS_CRASH_MODEL_OBJECT_WIRE_H_
#define CAIRN_TESTS_CRASH_MODEL_OBJECT_WIRE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "tests/crash/model/object_bucket.h"
#include "tests/crash/model/object_rules.h"

namespace cairn::model {

// Returns one of the numbers below `bound`.
using Choose = std::function<uint64_t(uint64_t bound)>;

enum class Outcome { kDone, kConflict, kUnknown, kAgain };

// The state that everything in the model shares.
struct ObjectWorld {
  const ObjectConditions& conditions;
  const ObjectRules& rules;
  Choose choose;
  Bucket bucket = {};
  int64_t now = 100;
  int faults = 0;
  int64_t next_commit = 1;
  int64_t next_chunk = 1;
  int64_t next_list = 1;
  int64_t next_frame = 2;
  struct InFlight {
    BucketRequest request;
    int64_t earliest = 0;
    int64_t latest = 0;
  };
  std::vector<InFlight> in_flight = {};

  // If everything is explored, chance plays no role.
  bool Chance(uint64_t percent) { return conditions.time ? choose(100) < percent : choose(2) == 1; }
  // Makes an attempt. On kAgain the client tries again, at the actor's next step.
  Outcome Send(const BucketRequest& request, bool again, bool may_retry);
  // Lets a delayed request take effect, if it is time.
  void Land(size_t which);
  void DropLate();
};

// A process that does one request at a time.
class ObjectActor {
 public:
  explicit ObjectActor(ObjectWorld& world) : world_(world) {}
  virtual ~ObjectActor() = default;

  void Step();
  virtual bool done() const = 0;
  // Appends the facts that tell its state from others.
  virtual void AppendKey(std::vector<int64_t>& key) const = 0;
  bool sending() const { return !requests_.empty(); }

 protected:
  // Reads as it likes, and submits one request at most.
  virtual void Act() = 0;
  virtual void Receive(Outcome outcome) = 0;
  void Submit(BucketRequest request);

  ObjectWorld& world_;
  std::vector<BucketRequest> requests_;  // that is on its way
  int64_t sent_ = 0;
};

}  // namespace cairn::model

#endif  // CAIRN_TESTS_CRASH_MODEL_OBJECT_WIRE_H_
