// The engine's handles in the form that Python holds, each with the threads that it uses.
#ifndef CAIRN_TOOLS_PYTHON_BINDING_HANDLES_H_
#define CAIRN_TOOLS_PYTHON_BINDING_HANDLES_H_

#include <chrono>
#include <memory>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include <nanobind/nanobind.h>

#include "cairn/executor.h"
#include "cairn/file_system.h"
#include "cairn/frame.h"
#include "cairn/options.h"
#include "cairn/snapshot.h"
#include "cairn/writer.h"
#include "engine/base/mutex.h"
#include "tools/python/binding/calls.h"
#include "tools/python/binding/files.h"
#include "tools/python/binding/fragile.h"

namespace cairn::python {

// Returns what `cairn._s3` gave, or null, which means the operating system's files, for None.
inline RemoteFiles* ToRemote(nanobind::handle capsule) {
  if (capsule.is_none()) return nullptr;
  void* const remote = PyCapsule_GetPointer(capsule.ptr(), kFilesCapsule);
  if (remote == nullptr) throw nanobind::python_error();
  return static_cast<RemoteFiles*>(remote);
}

// The threads and files that the calls of a handle use.
struct Context {
  std::shared_ptr<Executor> executor;  // null: the calling thread
  RemoteFiles* remote = nullptr;       // null: the operating system's files

  std::shared_ptr<FileSystem> files() const { return remote == nullptr ? nullptr : remote->files; }
};

inline Context MakeContext(int threads, nanobind::handle files) {
  if (threads < 0) Check(absl::InvalidArgumentError(absl::StrCat("threads: ", threads)));
  return {.executor = threads == 1 ? nullptr : MakeThreadExecutor(threads),
          .remote = ToRemote(files)};
}

// Limits in the order of their members.
using LimitValues = std::tuple<int64_t, int64_t, int64_t, int64_t>;

inline OpenOptions MakeOpenOptions(const Context& context, bool durable_only, bool mmap, int verify,
                                   const LimitValues& limits) {
  OpenOptions options;
  options.durable_only = durable_only;
  options.use_mmap = mmap;
  options.verify = static_cast<VerifyPolicy>(verify);
  const auto& [max_chunk_nbytes, max_metadata_nbytes, max_nchunks, max_decode_memory] = limits;
  options.limits = {.max_chunk_nbytes = max_chunk_nbytes,
                    .max_metadata_nbytes = max_metadata_nbytes,
                    .max_nchunks = max_nchunks,
                    .max_decode_memory = max_decode_memory};
  options.executor = context.executor;
  options.file_system = context.files();
  return options;
}

struct FrameHandle {
  Context context;
  Frame frame;
};

struct SnapshotHandle {
  Context context;
  Snapshot snapshot;
};

// A writer that Python's threads use in turn.
class WriterHandle {
 public:
  WriterHandle(Context context, Writer writer)
      : context_(std::move(context)), writer_(std::move(writer)) {}

  const Context& context() const { return context_; }

  // Runs call(writer) without the GIL, because a thread that waits for another must not hold it.
  template <typename Call>
  auto With(Call&& call) {
    return WithoutGil(context_.remote, [&] {
      const MutexLock lock(mutex_);
      return writer_.Use(call);
    });
  }

  // Calls call(writer, time), which waits for the frame up to this time, in turns with looks at
  // signals, until it returns another status than kUnavailable or the milliseconds are over.
  template <typename Call>
  absl::Status WaitWith(int64_t milliseconds, Call call) {
    return WaitWithoutGil(
        context_.remote, milliseconds,
        [&](std::chrono::milliseconds part) {
          const MutexLock lock(mutex_);
          return writer_.Use([&](Writer& writer) { return call(writer, part); });
        },
        [](const absl::Status& status) { return !absl::IsUnavailable(status); });
  }

 private:
  Context context_;
  Mutex mutex_;
  Fragile<Writer> writer_ ABSL_GUARDED_BY(mutex_);
};

void BindChunk(nanobind::module_& module);
void BindCollection(nanobind::module_& module);
void BindFrame(nanobind::module_& module);
void BindSnapshot(nanobind::module_& module);
void BindWriter(nanobind::module_& module);

}  // namespace cairn::python

#endif  // CAIRN_TOOLS_PYTHON_BINDING_HANDLES_H_
