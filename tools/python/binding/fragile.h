// A writer of the engine, which does not survive a lack of memory.
#ifndef CAIRN_TOOLS_PYTHON_BINDING_FRAGILE_H_
#define CAIRN_TOOLS_PYTHON_BINDING_FRAGILE_H_

#include <memory>
#include <new>
#include <utility>

#include "absl/status/status.h"

#include "tools/python/binding/calls.h"

namespace cairn::python {

// Holds a writer until one of its calls runs out of memory. The engine is compiled without
// exceptions, so std::bad_alloc leaves a writer in the middle of a change and with its locks held.
// Nobody may call or destroy it after that: it stays as it is until the process ends.
template <typename Writer>
class Fragile {
 public:
  explicit Fragile(Writer writer) : writer_(std::make_unique<Writer>(std::move(writer))) {}

  // Runs call(writer).
  template <typename Call>
  auto Use(Call&& call) {
    if (writer_ == nullptr) {
      throw StatusError{absl::FailedPreconditionError(
          "the writer stopped for lack of memory, and holds its lock until this process ends")};
    }
    try {
      return call(*writer_);
    } catch (const std::bad_alloc&) {
      static_cast<void>(writer_.release());
      throw;
    }
  }

 private:
  std::unique_ptr<Writer> writer_;
};

}  // namespace cairn::python

#endif  // CAIRN_TOOLS_PYTHON_BINDING_FRAGILE_H_
