// The objects of a frame in a store, and the requests that change them.
#ifndef CAIRN_TESTS_CRASH_MODEL_OBJECT_BUCKET_H_
#define CAIRN_TESTS_CRASH_MODEL_OBJECT_BUCKET_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "tests/crash/model/object_rules.h"

namespace cairn::model {

// The frame that commits make: `commits` in their order, and the chunk in each of two slots.
struct FrameState {
  struct Slot {
    int64_t commit = 0;  // the commit that put it
    int64_t chunk = 0;
    bool operator==(const Slot&) const = default;
  };
  std::vector<int64_t> commits;
  std::array<Slot, 2> slots;
  int64_t pending = 0;
  bool operator==(const FrameState&) const = default;
};

struct CommitObject {
  enum class Kind { kAppend, kUpdate, kClose, kReplaced, kFence };
  Kind kind = Kind::kAppend;
  int64_t commit = 0;  // its number, and what its writer's id is for
  int64_t frame = 0;
  int64_t previous = 0;  // the commit before
  size_t slot = 0;
  int64_t chunk = 0;
  int64_t based_on = 0;  // commit whose chunk an update replaces
  bool operator==(const CommitObject&) const = default;
};

// Applies a commit that follows. False where it updates another chunk than it was made for.
bool Apply(const CommitObject& record, FrameState& state);

struct IndexObject {
  int64_t frame = 0;
  FrameState state;
  int64_t begin = 0;  // of the journal: the number of its next record
  int64_t last = 0;   // the commit before that
  bool operator==(const IndexObject&) const = default;
};

struct GarbageObject {
  int64_t made = 0;
  std::set<int64_t> chunks;
  std::set<int64_t> records;
  bool operator==(const GarbageObject&) const = default;
};

struct BucketRequest {
  enum class Kind { kRead, kPutChunk, kPutRecord, kPutIndex, kPutList, kDelete };
  Kind kind = Kind::kRead;
  int64_t number = 0;   // of a chunk, record or list
  int64_t content = 0;  // of a chunk
  bool conditional = true;
  CommitObject record = {};
  IndexObject index = {};
  std::optional<IndexObject> replaces = {};  // its etag is that of its content
  GarbageObject list = {};
  std::set<int64_t> lists = {};  // to delete, with what is in `list`
  bool operator==(const BucketRequest&) const = default;
};

class Bucket {
 public:
  // False where a condition is not met.
  bool Do(const BucketRequest& request, int64_t now);
  // Returns true if the object that a put asked for is there. Records may differ by their writer.
  bool HasJust(const BucketRequest& request, bool records_differ) const;

  template <typename Value>
  struct Object {
    Value value;
    int64_t modified = 0;
  };
  std::map<int64_t, Object<int64_t>> chunks;
  std::map<int64_t, Object<CommitObject>> records;
  std::map<int64_t, GarbageObject> lists;
  IndexObject index;
};

// The frame as one that opens it now would see it. `applies`: no update was made for another chunk.
struct VisibleFrame {
  IndexObject index;
  FrameState state;
  int64_t end = 0;
  int64_t last = 0;
  bool replaced = false;
  bool applies = true;

  explicit VisibleFrame(const IndexObject& opened)
      : index(opened), state(opened.state), end(opened.begin), last(opened.last) {}
  // False when the record is none that follows.
  bool Follow(const CommitObject& record);
};
VisibleFrame OpenNow(const Bucket& bucket);

}  // namespace cairn::model

#endif  // CAIRN_TESTS_CRASH_MODEL_OBJECT_BUCKET_H_
