// Tells writers which checkpoints are read through one open file.
#ifndef CAIRN_ENGINE_FRAME_READER_REGISTRY_H_
#define CAIRN_ENGINE_FRAME_READER_REGISTRY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "cairn/file_system.h"

namespace cairn::frame {

// A lock belongs to the open file, so its holders are counted here: the last one to go releases it.
// Thread-safe.
class ReaderRegistry {
 public:
  explicit ReaderRegistry(std::shared_ptr<File> file) : file_(std::move(file)) {}

  // Shares the lock of the generation for as long as the result lives. Where the file system has no
  // locks this does nothing, for nobody has to be able to lock in order to read.
  static std::shared_ptr<const void> Hold(const std::shared_ptr<ReaderRegistry>& registry,
                                          uint64_t generation);

 private:
  void Enter(uint64_t generation);
  void Leave(uint64_t generation);

  const std::shared_ptr<File> file_;
  std::mutex mutex_;
  std::map<uint64_t, int64_t> holders_;  // by generation
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_READER_REGISTRY_H_
