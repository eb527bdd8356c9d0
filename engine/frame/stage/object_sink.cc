#include "engine/frame/stage/object_sink.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_format.h"

#include "engine/base/bytes.h"
#include "engine/base/check.h"
#include "engine/base/mutex.h"
#include "engine/base/random.h"
#include "engine/base/status.h"
#include "engine/format/sparse_names.h"

namespace cairn::frame {

namespace {

constexpr int64_t kLane = 256;
// Half of all lanes. A copy of the frame as a directory gets larger numbers when it continues.
constexpr int64_t kMostLanes = (format::kMaxChunkFileNumber + 1) / kLane / 2;
// The fewest lanes. C-Blosc2 takes numbers for bytes of the frame, so the numbers of small frames
// stay below 2^24.
constexpr int64_t kLeastLanes = int64_t{1} << 16;
constexpr int64_t kLanesForUsed = 256;
constexpr int kMostAttempts = 1000;
// Bytes of chunks that are being put. More chunks wait.
constexpr int64_t kMostWaiting = int64_t{64} << 20;

}  // namespace

struct ObjectSink::Upload {
  int64_t number = 0;
  std::vector<std::byte> bytes;
};

// Collects the results of the requests. They may end after the sink.
struct ObjectSink::Uploads {
  Mutex mutex;
  CondVar done;
  int64_t bytes ABSL_GUARDED_BY(mutex) = 0;
  absl::Status failure ABSL_GUARDED_BY(mutex);
  // Chunks whose names were taken when they were put.
  std::vector<std::shared_ptr<const Upload>> taken ABSL_GUARDED_BY(mutex);
  // Numbers of chunks that are not known to be in the store.
  std::set<int64_t> pending ABSL_GUARDED_BY(mutex);
};

ObjectSink::ObjectSink(std::shared_ptr<ObjectStore> store, std::span<const int64_t> used)
    : store_(std::move(store)) {
  for (const int64_t number : used) {
    if (used_lanes_.empty() || used_lanes_.back() != number / kLane) {
      used_lanes_.push_back(number / kLane);
    }
  }
}

ObjectSink::~ObjectSink() = default;

absl::StatusOr<int64_t> ObjectSink::Append(Bytes chunk) {
  if (uploads_ == nullptr) uploads_ = std::make_shared<Uploads>();
  if (!first_staged_.has_value()) first_staged_ = BootClock::now();
  int64_t number = next_;
  if (next_ == lane_end_) {
    CAIRN_ASSIGN_OR_RETURN(number, ClaimLane(chunk));
    next_ = number;
    lane_end_ = number + kLane;
  } else {
    CAIRN_RETURN_IF_ERROR(BeginUpload(number, chunk));
  }
  ++next_;
  staged_.push_back(format::ChunkFileName(number));
  staged_bytes_ += std::ssize(chunk);
  return number;
}

// Puts the chunk as the first of a lane. The lane is chosen at random, so it is hardly one whose
// objects were just removed: a request to remove them may be late, and would hit the new objects.
absl::StatusOr<int64_t> ObjectSink::ClaimLane(Bytes chunk) {
  const int64_t lanes =
      std::clamp(kLanesForUsed * std::ssize(used_lanes_), kLeastLanes, kMostLanes);
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    const auto lane = static_cast<int64_t>(RandomNumber() % static_cast<uint64_t>(lanes));
    if (std::ranges::binary_search(used_lanes_, lane)) continue;
    const absl::StatusOr<ObjectInfo> put =
        store_->PutIfAbsent(format::ChunkFileName(lane * kLane), chunk);
    if (put.ok()) return lane * kLane;
    if (!absl::IsFailedPrecondition(put.status())) return put.status();
  }
  return ResourceExhausted("object frame: found no free numbers of chunks in %d attempts",
                           kMostAttempts);
}

absl::Status ObjectSink::BeginUpload(int64_t number, Bytes chunk) {
  const auto upload =
      std::make_shared<const Upload>(Upload{.number = number, .bytes = ToVector(chunk)});
  {
    const MutexLock lock(uploads_->mutex);
    while (uploads_->bytes >= kMostWaiting) uploads_->done.Wait(uploads_->mutex);
    CAIRN_RETURN_IF_ERROR(uploads_->failure);
    uploads_->bytes += std::ssize(upload->bytes);
    uploads_->pending.insert(number);
  }
  store_->StartPutIfAbsent(format::ChunkFileName(number), upload->bytes,
                           [uploads = uploads_, upload](const absl::StatusOr<ObjectInfo>& put) {
                             const MutexLock lock(uploads->mutex);
                             uploads->bytes -= std::ssize(upload->bytes);
                             CAIRN_DCHECK(uploads->bytes >= 0);
                             if (put.ok()) {
                               uploads->pending.erase(upload->number);
                             } else if (absl::IsFailedPrecondition(put.status())) {
                               uploads->taken.push_back(upload);
                             } else if (uploads->failure.ok()) {
                               uploads->failure = put.status();
                             }
                             uploads->done.NotifyAll();
                           });
  return absl::OkStatus();
}

absl::Status ObjectSink::Flush() {
  if (uploads_ == nullptr) return absl::OkStatus();
  const MutexLock lock(uploads_->mutex);
  while (uploads_->bytes > 0) uploads_->done.Wait(uploads_->mutex);
  CAIRN_RETURN_IF_ERROR(uploads_->failure);
  for (; !uploads_->taken.empty(); uploads_->taken.pop_back()) {
    CAIRN_RETURN_IF_ERROR(MakeSureOf(*uploads_->taken.back()));
    uploads_->pending.erase(uploads_->taken.back()->number);
  }
  return absl::OkStatus();
}

bool ObjectSink::IsPending(int64_t entry) const {
  if (uploads_ == nullptr) return false;
  const MutexLock lock(uploads_->mutex);
  return uploads_->pending.contains(entry);
}

// Makes sure that the name has this chunk, whose put was refused. A proxy may have sent the put
// twice, and passed on the second answer only, or may have refused it for a reason of its own.
absl::Status ObjectSink::MakeSureOf(const Upload& upload) {
  const std::string name = format::ChunkFileName(upload.number);
  const absl::StatusOr<ObjectPart> there = store_->Get(name);
  if (there.ok() && there->bytes == upload.bytes) return absl::OkStatus();
  if (absl::IsNotFound(there.status())) {
    const absl::Status put = store_->PutIfAbsent(name, upload.bytes).status();
    if (!absl::IsFailedPrecondition(put)) return put;
  } else if (!there.ok()) {
    return there.status();
  }
  // The lane belongs to this writer, so only a program that breaks these rules can be the other.
  return absl::AbortedError(absl::StrFormat("%s/%s: another writer has put an object of this name",
                                            store_->Describe(), name));
}

void ObjectSink::Keep() {
  staged_.clear();
  staged_bytes_ = 0;
  first_staged_.reset();
}

void ObjectSink::Discard() {
  const bool are_ours = Flush().ok();
  uploads_.reset();
  if (are_ours) {
    // The first object of a lane stays, because it says that the lane is taken.
    std::erase_if(staged_, [](const std::string& name) {
      return format::ParseChunkFileName(name).value_or(0) % kLane == 0;
    });
    if (!staged_.empty()) store_->Delete(staged_).IgnoreError();
  } else {
    // A name may belong to another writer, who may continue in this lane: leave the lane.
    lane_end_ = next_;
  }
  // Objects that stay are collected as garbage.
  Keep();
}

}  // namespace cairn::frame
