#include "engine/collection/write/for_each.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/base/status.h"
#include "engine/frame/sync/background_task.h"
#include "engine/storage/descriptor_room.h"

namespace cairn::collection {

namespace {

// Works on numbers begin to end at the same time, on the last of them in this thread: the work
// waits for the disk.
absl::Status WorkTogether(size_t begin, size_t end, absl::FunctionRef<absl::Status(size_t)> work) {
  std::vector<std::unique_ptr<frame::BackgroundTask>> tasks;
  for (size_t i = begin; i + 1 < end; ++i) {
    tasks.push_back(std::make_unique<frame::BackgroundTask>());
    tasks.back()->Start([i, work] { return work(i); });
  }
  absl::Status status = work(end - 1);
  for (const auto& task : tasks) status.Update(task->Wait());
  return status;
}

}  // namespace

absl::Status ForEachOf(size_t count, absl::FunctionRef<absl::Status(size_t)> work) {
  constexpr size_t kMostTogether = 64;
  constexpr size_t kFilesOfEach = 4;
  size_t together = std::min(count, kMostTogether);
  if (together > 1) {
    const auto files = static_cast<int64_t>(2 * kFilesOfEach * together);
    const auto left = static_cast<size_t>(storage::FindDescriptorRoom(files).left);
    together = std::max<size_t>(left / (2 * kFilesOfEach), 1);
  }
  for (size_t begin = 0; begin < count; begin += together) {
    CAIRN_RETURN_IF_ERROR(WorkTogether(begin, std::min(count, begin + together), work));
  }
  return absl::OkStatus();
}

}  // namespace cairn::collection
