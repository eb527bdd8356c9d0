// Helpers of every binding: statuses as exceptions, buffers of Python objects, calls without the
// GIL.
#ifndef CAIRN_TOOLS_PYTHON_BINDING_CALLS_H_
#define CAIRN_TOOLS_PYTHON_BINDING_CALLS_H_

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cxxabi.h>
#include <exception>
#include <functional>
#include <future>
#include <span>
#include <system_error>
#include <type_traits>
#include <unistd.h>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include <nanobind/nanobind.h>

#include "cairn/types.h"
#include "tools/python/binding/files.h"

namespace cairn::python {

namespace nb = nanobind;

// Becomes an exception of `cairn.errors`.
struct StatusError {
  absl::Status status;
};

inline void Check(absl::Status status) {
  if (!status.ok()) throw StatusError{std::move(status)};
}

template <typename T>
T Check(absl::StatusOr<T> result) {
  if (!result.ok()) throw StatusError{std::move(result).status()};
  return *std::move(result);
}

// Lets other threads run Python.
class GilRelease {
 public:
  GilRelease() : state_(PyEval_SaveThread()) {}
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;
  // When the program ends, Python stops threads that want to go on, by unwinding their stacks. That
  // would abort the program here, so the thread waits for the end of the process instead.
  ~GilRelease() {
    try {
      PyEval_RestoreThread(state_);
    } catch (const abi::__forced_unwind&) {
      for (;;) ::pause();
    }
  }

 private:
  PyThreadState* const state_;
};

// Runs work on data while other threads run Python. It may use no Python object.
template <typename Call>
auto WithoutGil(Call&& call) {
  const GilRelease release;
  return call();
}

// The time between two looks at signals, which Python handles in its main thread only.
inline constexpr std::chrono::milliseconds kLookAtSignals{100};

inline bool IsMainThread() { return ::gettid() == ::getpid(); }

// Runs work that may wait for an object store, unless `remote` is null. A signal whose handler
// raises, as that of Ctrl-C does, ends the wait. The main thread looks at signals. It holds no lock
// of the engine meanwhile, so another thread makes the call.
template <typename Call>
auto WithoutGil(RemoteFiles* remote, Call&& call) {
  if (remote == nullptr || !IsMainThread()) return WithoutGil(std::forward<Call>(call));
  std::future<std::invoke_result_t<Call>> result;
  try {
    result = std::async(std::launch::async, std::ref(call));
  } catch (const std::system_error&) {  // no thread could be started
    return WithoutGil(std::forward<Call>(call));
  }
  bool raised = false;
  {
    const GilRelease release;
    while (!raised && result.wait_for(kLookAtSignals) != std::future_status::ready) {
      const nb::gil_scoped_acquire acquire;
      raised = PyErr_CheckSignals() != 0;
    }
    remote->interrupted = raised;
    result.wait();
    remote->interrupted = false;
  }
  if (raised) throw nb::python_error();
  return result.get();
}

// Waits in parts, between which a signal is handled. Calls `attempt` with the time that it may
// wait, until `has_ended` of its result is true or the time is over. Returns the last result.
template <typename Attempt, typename HasEnded>
auto WaitWithoutGil(RemoteFiles* remote, int64_t milliseconds, Attempt attempt,
                    HasEnded has_ended) {
  const auto begin = std::chrono::steady_clock::now();
  const std::chrono::milliseconds wait(milliseconds);
  for (;;) {
    const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - begin);
    const auto left = std::max(wait - passed, std::chrono::milliseconds(0));
    auto result = WithoutGil(remote, [&] { return attempt(std::min(left, kLookAtSignals)); });
    if (has_ended(result) || left <= kLookAtSignals) return result;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
}

// The contiguous bytes of a Python object, which can neither disappear nor move meanwhile.
class Buffer {
 public:
  enum Access { kRead = PyBUF_SIMPLE, kWrite = PyBUF_WRITABLE };

  Buffer(nb::handle object, Access access) {
    if (PyObject_GetBuffer(object.ptr(), &view_, access) != 0) throw nb::python_error();
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { PyBuffer_Release(&view_); }

  Bytes bytes() const {
    return {static_cast<const std::byte*>(view_.buf), static_cast<size_t>(view_.len)};
  }
  MutableBytes mutable_bytes() {
    return {static_cast<std::byte*>(view_.buf), static_cast<size_t>(view_.len)};
  }
  std::span<const int64_t> numbers() const {
    return {static_cast<const int64_t*>(view_.buf), static_cast<size_t>(view_.len) / 8};
  }

 private:
  Py_buffer view_;
};

inline nb::bytes ToPython(Bytes bytes) { return nb::bytes(bytes.data(), bytes.size()); }

// Calls a Python function, or None, as the engine makes progress. An exception of it, or a signal,
// stops the engine's call and is raised after that.
class Progress {
 public:
  explicit Progress(nb::object function) : function_(std::move(function)) {}

  // Called without the GIL.
  bool Report(int64_t done) {
    const nb::gil_scoped_acquire acquire;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (!function_.is_none()) function_(done);
      return true;
    } catch (...) {
      error_ = std::current_exception();
      return false;
    }
  }
  void RaiseError() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  nb::object function_;
  std::exception_ptr error_;
};

}  // namespace cairn::python

#endif  // CAIRN_TOOLS_PYTHON_BINDING_CALLS_H_
