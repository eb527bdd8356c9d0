// The locks that keep the checkpoints read through one open file from being reclaimed.
#ifndef CAIRN_ENGINE_FRAME_FILES_GENERATION_LOCKS_H_
#define CAIRN_ENGINE_FRAME_FILES_GENERATION_LOCKS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"

namespace cairn::frame {

// A lock belongs to the open file, so its holders are counted here: the last one to go releases it.
// Thread-safe.
class GenerationLocks {
 public:
  explicit GenerationLocks(std::shared_ptr<File> file) : file_(std::move(file)) {}

  // Shares the lock of the generation for as long as the result lives. Does nothing where the file
  // system has no locks: reading needs none. kUnavailable where it has, and gives none: then a
  // writer could reclaim what is read.
  static absl::StatusOr<std::shared_ptr<const void>> Hold(
      const std::shared_ptr<GenerationLocks>& registry, uint64_t generation);

 private:
  absl::Status Enter(uint64_t generation);
  absl::Status Lock(uint64_t generation) const;
  void Leave(uint64_t generation);

  const std::shared_ptr<File> file_;
  std::mutex mutex_;
  std::map<uint64_t, int64_t> holders_;  // by generation
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_FILES_GENERATION_LOCKS_H_
