// Waiting for what answers later.
#ifndef CAIRN_ENGINE_OBJECT_S3_WAIT_H_
#define CAIRN_ENGINE_OBJECT_S3_WAIT_H_

#include <functional>
#include <future>
#include <memory>
#include <utility>

#include "absl/functional/function_ref.h"

namespace cairn::object {

// Starts something and waits until it calls back.
template <typename Answer>
Answer Await(absl::FunctionRef<void(std::function<void(Answer)>)> start) {
  // Shared: set_value may still be at work when the answer is there.
  const auto answered = std::make_shared<std::promise<Answer>>();
  std::future<Answer> answer = answered->get_future();
  start([answered](Answer result) { answered->set_value(std::move(result)); });
  return answer.get();
}

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_WAIT_H_
