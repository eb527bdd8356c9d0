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

// Writers on many machines number their chunks without asking each other. Each takes numbers from
// lanes of its own: a lane is 256 numbers in a row, is chosen at random, and belongs to the writer
// that put its first chunk. No number is used twice.
class ObjectSink final : public ChunkSink {
 public:
  // Puts chunks of a frame whose objects have the numbers `used`, in order. In `store`, names begin
  // after the frame's prefix.
  ObjectSink(std::shared_ptr<ObjectStore> store, std::span<const int64_t> used);
  ~ObjectSink() override;

  // Returns before the chunk is put, unless too many bytes wait for that.
  absl::StatusOr<int64_t> Append(Bytes chunk) override;
  // Waits until all chunks are put. Errors: that of the first put that failed; kAborted if another
  // writer has put an object under the name of a chunk.
  absl::Status Flush() override;
  bool IsPending(int64_t entry) const override;
  absl::StatusOr<std::shared_ptr<const ChunkSource>> Source(const State& base) override {
    return base.chunk_source;
  }

  // Returns when the first of the staged objects was put. They must be committed before other
  // processes take them for the objects of a dead writer.
  std::optional<BootClock::time_point> first_staged() const { return first_staged_; }
  int64_t staged_bytes() const { return staged_bytes_; }
  // Keeps the staged objects, which belong to a commit.
  void Keep();
  // Removes the staged objects, which no commit will name, except the first of each lane, which
  // marks the lane as taken. If a put failed, all of them stay and are collected as garbage.
  void Discard();

 private:
  struct Upload;
  struct Uploads;

  absl::StatusOr<int64_t> ClaimLane(Bytes chunk);
  absl::Status BeginUpload(int64_t number, Bytes chunk);
  absl::Status MakeSureOf(const Upload& upload);

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
