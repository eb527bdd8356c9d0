// The calls that wait.
#include "cairn/object_store.h"

#include <future>
#include <utility>

#include "absl/functional/function_ref.h"

namespace cairn {

namespace {

// Starts a request and waits for its answer.
template <typename Answer>
Answer Await(absl::FunctionRef<void(std::function<void(Answer)>)> start) {
  // Shared: set_value may still be at work when the answer is there.
  const auto answered = std::make_shared<std::promise<Answer>>();
  std::future<Answer> answer = answered->get_future();
  start([answered](Answer result) { answered->set_value(std::move(result)); });
  return answer.get();
}

}  // namespace

absl::StatusOr<ObjectPart> ObjectStore::Get(std::string name, ObjectRange range,
                                            std::optional<std::string> if_match) {
  return Await<absl::StatusOr<ObjectPart>>([&](GetDone done) {
    StartGet(std::move(name), range, std::move(if_match), std::move(done));
  });
}

absl::StatusOr<ObjectInfo> ObjectStore::PutIfAbsent(std::string name, Bytes bytes) {
  return Await<absl::StatusOr<ObjectInfo>>(
      [&](PutDone done) { StartPutIfAbsent(std::move(name), bytes, std::move(done)); });
}

absl::StatusOr<ObjectInfo> ObjectStore::PutIfMatch(std::string name, std::string etag,
                                                   Bytes bytes) {
  return Await<absl::StatusOr<ObjectInfo>>([&](PutDone done) {
    StartPutIfMatch(std::move(name), std::move(etag), bytes, std::move(done));
  });
}

}  // namespace cairn
