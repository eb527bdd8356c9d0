#include "tests/crash/model/object_bucket.h"

namespace cairn::model {

bool Apply(const CommitObject& record, FrameState& state) {
  bool fits = true;
  state.commits.push_back(record.commit);
  switch (record.kind) {
    case CommitObject::Kind::kAppend:
      ++state.pending;
      break;
    case CommitObject::Kind::kUpdate:
      fits = state.slots[record.slot].commit == record.based_on;
      state.slots[record.slot] = {.commit = record.commit, .chunk = record.chunk};
      break;
    case CommitObject::Kind::kClose:
      state.pending = 0;
      break;
    case CommitObject::Kind::kReplaced:
    case CommitObject::Kind::kFence:
      break;
  }
  return fits;
}

bool Bucket::Do(const BucketRequest& request, int64_t now) {
  switch (request.kind) {
    case BucketRequest::Kind::kRead:
      return true;
    case BucketRequest::Kind::kPutChunk:
      if (chunks.contains(request.number)) return false;
      chunks[request.number] = {.value = request.content, .modified = now};
      return true;
    case BucketRequest::Kind::kPutRecord:
      if (request.conditional && records.contains(request.number)) return false;
      records[request.number] = {.value = request.record, .modified = now};
      return true;
    case BucketRequest::Kind::kPutIndex:
      if (request.conditional && request.replaces != index) return false;
      index = request.index;
      return true;
    case BucketRequest::Kind::kPutList:
      lists[request.number] = request.list;
      return true;
    case BucketRequest::Kind::kDelete:
      for (const int64_t number : request.list.chunks) chunks.erase(number);
      for (const int64_t number : request.list.records) records.erase(number);
      for (const int64_t number : request.lists) lists.erase(number);
      return true;
  }
  return true;
}

bool Bucket::HasJust(const BucketRequest& request, bool records_differ) const {
  switch (request.kind) {
    case BucketRequest::Kind::kPutChunk: {
      const auto there = chunks.find(request.number);
      return there != chunks.end() && there->second.value == request.content;
    }
    case BucketRequest::Kind::kPutRecord: {
      const auto there = records.find(request.number);
      if (there == records.end()) return false;
      CommitObject record = there->second.value;
      if (!records_differ) record.commit = request.record.commit;
      return record == request.record;
    }
    case BucketRequest::Kind::kPutIndex:
      return request.index == index;
    default:
      return true;
  }
}

bool VisibleFrame::Follow(const CommitObject& record) {
  if (record.frame != index.frame || record.previous != last || replaced) return false;
  ++end;
  if (record.kind == CommitObject::Kind::kReplaced) {
    replaced = true;
    return true;
  }
  if (record.kind == CommitObject::Kind::kFence) return true;
  applies &= Apply(record, state);
  last = record.commit;
  return true;
}

VisibleFrame OpenNow(const Bucket& bucket) {
  VisibleFrame frame(bucket.index);
  for (;;) {
    const auto next = bucket.records.find(frame.end);
    if (next == bucket.records.end() || !frame.Follow(next->second.value)) return frame;
  }
}

}  // namespace cairn::model
