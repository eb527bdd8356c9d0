#include "engine/object/parallel_get.h"

#include <memory>
#include <utility>

#include "engine/base/mutex.h"
#include "engine/base/status.h"

namespace cairn::object {

namespace {

// Collects the answers. The last one wakes the waiting thread.
struct Answers {
  explicit Answers(size_t count) : parts(count), missing(count) {}

  Mutex mutex;
  CondVar came;
  std::vector<ObjectPart> parts ABSL_GUARDED_BY(mutex);
  size_t missing ABSL_GUARDED_BY(mutex);
  absl::Status failure ABSL_GUARDED_BY(mutex);
};

}  // namespace

absl::StatusOr<std::vector<ObjectPart>> GetAll(ObjectStore& store,
                                               std::vector<GetRequest> requests) {
  const auto answers = std::make_shared<Answers>(requests.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    GetRequest& request = requests[i];
    store.StartGet(std::move(request.name), request.range, std::move(request.if_match),
                   [answers, i](absl::StatusOr<ObjectPart> part) {
                     const MutexLock lock(answers->mutex);
                     if (part.ok()) {
                       answers->parts[i] = *std::move(part);
                     } else if (answers->failure.ok()) {
                       answers->failure = part.status();
                     }
                     if (--answers->missing == 0) answers->came.NotifyAll();
                   });
  }
  const MutexLock lock(answers->mutex);
  while (answers->missing > 0) answers->came.Wait(answers->mutex);
  CAIRN_RETURN_IF_ERROR(answers->failure);
  return std::move(answers->parts);
}

}  // namespace cairn::object
