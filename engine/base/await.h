// Waits for functions that call back with their answer.
#ifndef CAIRN_ENGINE_BASE_AWAIT_H_
#define CAIRN_ENGINE_BASE_AWAIT_H_

#include <functional>
#include <future>
#include <memory>
#include <utility>

#include "absl/functional/function_ref.h"

namespace cairn {

// Starts a function that calls back. The future gets the answer.
template <typename Answer>
std::future<Answer> Launch(absl::FunctionRef<void(std::function<void(Answer)>)> start) {
  // Shared with the callback: set_value may still run when the waiting thread has the answer.
  const auto answered = std::make_shared<std::promise<Answer>>();
  std::future<Answer> answer = answered->get_future();
  start([answered](Answer result) { answered->set_value(std::move(result)); });
  return answer;
}

// Starts a function that calls back, and waits for its answer.
template <typename Answer>
Answer Await(absl::FunctionRef<void(std::function<void(Answer)>)> start) {
  return Launch<Answer>(start).get();
}

}  // namespace cairn

#endif  // CAIRN_ENGINE_BASE_AWAIT_H_
