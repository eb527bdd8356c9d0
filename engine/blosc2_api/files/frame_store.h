// The store of a super-chunk whose chunks are in a frame: a file, a directory, or a buffer.
#ifndef CAIRN_ENGINE_BLOSC2_API_FILES_FRAME_STORE_H_
#define CAIRN_ENGINE_BLOSC2_API_FILES_FRAME_STORE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/chunk.h"
#include "cairn/snapshot.h"
#include "cairn/types.h"
#include "engine/base/mutex.h"
#include "engine/blosc2_api/process/api.h"

namespace cairn::blosc2_api {

// A state that a call reads. While `lock` lives, programs of C-Blosc2 do not overwrite chunks of
// it, if they use its locking and this handle does.
struct PinnedState {
  Snapshot state;
  std::shared_ptr<const void> lock;
};

// The states of a frame before and after others have changed it.
struct FrameChange {
  Snapshot before;
  Snapshot now;
};

}  // namespace cairn::blosc2_api

// The numbers of chunks are checked by the caller. The fields of the super-chunk that the store
// belongs to are the caller's to change. Reads are thread-safe.
struct blosc2_frame_s {
  blosc2_frame_s() = default;
  blosc2_frame_s(const blosc2_frame_s&) = delete;
  blosc2_frame_s& operator=(const blosc2_frame_s&) = delete;
  virtual ~blosc2_frame_s() = default;

  // See FieldsLock.
  cairn::Mutex fields;

  // Returns a chunk, whose bytes stay valid as long as the returned object.
  virtual absl::StatusOr<cairn::Chunk> Get(int64_t nchunk) = 0;

  // Returns true if the bytes that Get returned stay where they are without the object, until an
  // edit.
  virtual bool Keeps(int64_t nchunk, const cairn::Chunk& chunk) const = 0;

  // Returns the state that Get reads from, or nothing if the chunks are in memory. If `news` is not
  // null, that is the newest state, and `news` says what others have changed since the last call of
  // that kind. The caller takes that over.
  virtual absl::StatusOr<std::optional<cairn::blosc2_api::PinnedState>> Pin(
      std::optional<cairn::blosc2_api::FrameChange>* /*news*/) {
    return std::optional<cairn::blosc2_api::PinnedState>();
  }

  // Insert a chunk before another one or at the end; replace, delete and reorder chunks.
  virtual absl::Status Insert(int64_t nchunk, cairn::Chunk chunk) = 0;
  virtual absl::Status Update(int64_t nchunk, cairn::Chunk chunk) = 0;
  virtual absl::Status Delete(int64_t nchunk) = 0;
  virtual absl::Status Reorder(std::span<const int64_t> order) = 0;
  // Takes over a metalayer or a vlmetalayer that the caller has changed, or removed if `content` is
  // null.
  virtual absl::Status SetMetalayer(const char* name, const cairn::Bytes* content) = 0;
  virtual absl::Status SetVlmetalayer(const char* name, const cairn::Bytes* content) = 0;

  // Returns the frame as the bytes of one buffer, or the number of these bytes.
  virtual absl::StatusOr<cairn::MutableBytes> Cframe() = 0;
  virtual absl::StatusOr<int64_t> Length() = 0;
  // Returns the state of the frame, as it would be read now.
  virtual absl::StatusOr<cairn::Snapshot> State() = 0;
  // Says whether the buffer that Cframe returned is freed with the store.
  virtual void KeepCframe(bool keep) = 0;

  // Begin a sequence of edits that others see at once, when as many sequences have ended.
  virtual absl::Status Begin() { return absl::OkStatus(); }
  virtual absl::Status End() { return absl::OkStatus(); }
  // Stores what the last edit has changed, after the super-chunk has taken it over too.
  virtual absl::Status Settle() { return absl::OkStatus(); }

  // Returns true if chunks come from a file, so that callers get copies of them.
  virtual bool on_disk() const = 0;
};

namespace cairn::blosc2_api {

// Returns true if the chunks are in a file or a directory.
inline bool IsOnDisk(const blosc2_schunk& schunk) {
  return schunk.frame != nullptr && schunk.frame->on_disk();
}

// Keeps the fields of a super-chunk in a file, and of its array, as they are. Several threads may
// read one handle, and each of them brings these fields up to date with the file.
class FieldsLock {
 public:
  explicit FieldsLock(const blosc2_schunk& schunk) {
    if (IsOnDisk(schunk)) lock_.emplace(schunk.frame->fields);
  }

 private:
  std::optional<MutexLock> lock_;
};

}  // namespace cairn::blosc2_api

#endif  // CAIRN_ENGINE_BLOSC2_API_FILES_FRAME_STORE_H_
