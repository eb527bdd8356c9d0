// The engine's handles as Python holds them, each with the threads that it uses.
#ifndef CAIRN_TOOLS_PYTHON_BINDING_HANDLES_H_
#define CAIRN_TOOLS_PYTHON_BINDING_HANDLES_H_

#include <memory>
#include <mutex>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include <nanobind/nanobind.h>

#include "cairn/executor.h"
#include "cairn/frame.h"
#include "cairn/snapshot.h"
#include "cairn/writer.h"
#include "tools/python/binding/calls.h"

namespace cairn::python {

using SharedExecutor = std::shared_ptr<Executor>;  // null: the calling thread

inline SharedExecutor MakeExecutor(int threads) {
  if (threads < 0) Check(absl::InvalidArgumentError(absl::StrCat("threads: ", threads)));
  return threads == 1 ? nullptr : SharedExecutor(MakeThreadExecutor(threads));
}

struct FrameHandle {
  SharedExecutor executor;
  Frame frame;
};

struct SnapshotHandle {
  SharedExecutor executor;
  Snapshot snapshot;
};

// Threads of Python take turns.
class WriterHandle {
 public:
  WriterHandle(SharedExecutor executor, Writer writer)
      : executor_(std::move(executor)), writer_(std::move(writer)) {}

  const SharedExecutor& executor() const { return executor_; }

  // call(writer), without the GIL: a thread that waits for another must not hold it.
  template <typename Call>
  auto With(Call&& call) {
    const nanobind::gil_scoped_release release;
    const std::lock_guard lock(mutex_);
    return call(writer_);
  }

 private:
  SharedExecutor executor_;
  std::mutex mutex_;
  Writer writer_;
};

void BindFrame(nanobind::module_& module);
void BindSnapshot(nanobind::module_& module);
void BindWriter(nanobind::module_& module);

}  // namespace cairn::python

#endif  // CAIRN_TOOLS_PYTHON_BINDING_HANDLES_H_
