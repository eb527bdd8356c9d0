// Puts staged chunks into an object store, each as a new object, many at the same time.
#ifndef CAIRN_ENGINE_FRAME_STAGE_OBJECT_SINK_H_
#define CAIRN_ENGINE_FRAME_STAGE_OBJECT_SINK_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/object_store.h"
#include "engine/base/boot_clock.h"
#include "engine/frame/stage/chunk_sink.h"

namespace cairn::frame {

// Writers on many machines number their chunks without asking each other: each takes numbers from a
// lane of its own, 256 in a row, chosen at random, which is its own once it has put the first of
// them. No number is used twice.
class ObjectSink final : public ChunkSink {
 public:
  // Of a frame whose objects have these numbers, in order. `store` has the names of its prefix.
  ObjectSink(std::shared_ptr<ObjectStore> store, std::span<const int64_t> used);
  ~ObjectSink() override;

  // Returns before the chunk is put, unless too many bytes wait for that.
  absl::StatusOr<int64_t> Append(Bytes chunk) override;
  // Waits until all are put. kAborted when another writer has put one of them in spite of all.
  absl::Status Flush() override;
  bool IsPending(int64_t entry) const override;
  absl::StatusOr<std::shared_ptr<const ChunkSource>> Source(const State& base) override {
    return base.chunk_source;
  }

  // When the first of the staged objects was put; they must be committed before they are taken for
  // a dead writer's.
  std::optional<BootClock::time_point> first_staged() const { return first_staged_; }
  int64_t staged_bytes() const { return staged_bytes_; }
  // The staged objects belong to a commit.
  void Keep();
  // Removes the staged objects, which no commit will name, except the first of each lane, which
  // marks the lane as taken. If a put failed, all of them stay and are collected as garbage.
  void Discard();

 private:
  struct Upload;
  struct Uploads;

  absl::StatusOr<int64_t> ClaimLane(Bytes chunk);
  absl::Status BeginUpload(int64_t number, Bytes chunk);
  absl::Status CheckIsThere(const Upload& upload);

  const std::shared_ptr<ObjectStore> store_;
  std::vector<int64_t> used_lanes_;  // in order
  int64_t next_ = 0;
  int64_t lane_end_ = 0;
  std::shared_ptr<Uploads> uploads_;
  std::vector<std::string> staged_;
  int64_t staged_bytes_ = 0;
  std::optional<BootClock::time_point> first_staged_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STAGE_OBJECT_SINK_H_
