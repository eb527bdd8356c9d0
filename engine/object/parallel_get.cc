#include "engine/object/parallel_get.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>

#include "engine/base/status.h"

namespace cairn::object {

namespace {

// What the answers are put into; the last one to come wakes who waits.
struct Answers {
  explicit Answers(size_t count) : parts(count), missing(count) {}

  std::mutex mutex;
  std::condition_variable came;
  std::vector<ObjectPart> parts;
  size_t missing;
  absl::Status failure;
};

}  // namespace

absl::StatusOr<std::vector<ObjectPart>> GetAll(ObjectStore& store,
                                               std::vector<GetRequest> requests) {
  const auto answers = std::make_shared<Answers>(requests.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    GetRequest& request = requests[i];
    store.StartGet(std::move(request.name), request.range, std::move(request.if_match),
                   [answers, i](absl::StatusOr<ObjectPart> part) {
                     const std::lock_guard lock(answers->mutex);
                     if (part.ok()) {
                       answers->parts[i] = *std::move(part);
                     } else if (answers->failure.ok()) {
                       answers->failure = part.status();
                     }
                     if (--answers->missing == 0) answers->came.notify_all();
                   });
  }
  std::unique_lock lock(answers->mutex);
  answers->came.wait(lock, [&] { return answers->missing == 0; });
  CAIRN_RETURN_IF_ERROR(answers->failure);
  return std::move(answers->parts);
}

}  // namespace cairn::object
