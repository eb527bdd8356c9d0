// Threads that a program provides.
#ifndef CAIRN_ENGINE_BLOSC2_API_PROCESS_THREADS_H_
#define CAIRN_ENGINE_BLOSC2_API_PROCESS_THREADS_H_

#include <memory>

#include "cairn/executor.h"
#include "engine/blosc2_api/process/api.h"

namespace cairn::blosc2_api {

struct ThreadsCallback {
  blosc_threads_callback run = nullptr;  // null: the library's own threads
  void* data = nullptr;
};

// Makes an executor that hands at most `nthreads` jobs at a time to the program's callback.
std::shared_ptr<Executor> MakeCallbackExecutor(const ThreadsCallback& callback, int nthreads);

}  // namespace cairn::blosc2_api

#endif  // CAIRN_ENGINE_BLOSC2_API_PROCESS_THREADS_H_
