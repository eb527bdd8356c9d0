// The state that the interface of C-Blosc2 keeps for a process: what programs register, and the
// parameters of calls without a context.
#ifndef CAIRN_ENGINE_BLOSC2_API_PROCESS_PROCESS_STATE_H_
#define CAIRN_ENGINE_BLOSC2_API_PROCESS_PROCESS_STATE_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "cairn/executor.h"
#include "engine/base/mutex.h"
#include "engine/blosc2_api/process/api.h"
#include "engine/blosc2_api/process/threads.h"

namespace cairn::blosc2_api {

// The parameters of calls without a context.
struct GlobalParams {
  int codec = BLOSC_BLOSCLZ;
  int delta = 0;
  int16_t nthreads = 1;
  int32_t blocksize = 0;
  int splitmode = BLOSC_FORWARD_COMPAT_SPLIT;
};

// A registered thing does not move while the process lives. Thread-safe. There is one object in a
// process, because the interface has no handle to keep it in.
class ProcessState {
 public:
  // Returns the object of this process, which is never destroyed: programs call the library from
  // destructors that run at the very end.
  static ProcessState& Get();

  // Registers the codecs and filters that the format names, once.
  void Initialize() ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns true if Initialize was called after the last Finish.
  bool initialized() const ABSL_LOCKS_EXCLUDED(mutex_);
  void Finish() ABSL_LOCKS_EXCLUDED(mutex_);

  // Register a copy. Return 0, also if the id has that name already, or an error code.
  int Add(const blosc2_codec& codec) ABSL_LOCKS_EXCLUDED(mutex_);
  int Add(const blosc2_filter& filter) ABSL_LOCKS_EXCLUDED(mutex_);
  int Add(const blosc2_io_cb& functions) ABSL_LOCKS_EXCLUDED(mutex_);

  // Return what has the id, or nothing. If only a name was registered, FindCodec and FindFilter
  // load the library of that name for the functions. They return nothing if that fails.
  std::optional<blosc2_codec> FindCodec(uint8_t id) ABSL_LOCKS_EXCLUDED(mutex_);
  std::optional<blosc2_filter> FindFilter(uint8_t id) ABSL_LOCKS_EXCLUDED(mutex_);

  // Returns the functions with the id, or null. They stay where they are.
  blosc2_io_cb* FindFunctions(uint8_t id) ABSL_LOCKS_EXCLUDED(mutex_);

  // Return the name of a registered codec or null, and its id or -1. They load nothing.
  const char* NameOfCodec(int id) const ABSL_LOCKS_EXCLUDED(mutex_);
  const char* NameOfLibrary(int complib) const ABSL_LOCKS_EXCLUDED(mutex_);
  int CodecOfName(std::string_view name) const ABSL_LOCKS_EXCLUDED(mutex_);
  int LibraryOfName(std::string_view name) const ABSL_LOCKS_EXCLUDED(mutex_);

  GlobalParams params() const ABSL_LOCKS_EXCLUDED(mutex_);
  void set_params(const GlobalParams& params) ABSL_LOCKS_EXCLUDED(mutex_);
  void set_threads_callback(ThreadsCallback callback) ABSL_LOCKS_EXCLUDED(mutex_);

  // Returns an executor of at most this many threads, or null for one thread.
  std::shared_ptr<Executor> ExecutorOf(int nthreads) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  ProcessState() = default;

  mutable Mutex mutex_;
  bool initialized_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<blosc2_codec> codecs_ ABSL_GUARDED_BY(mutex_);
  std::deque<blosc2_filter> filters_ ABSL_GUARDED_BY(mutex_);
  std::deque<blosc2_io_cb> functions_ ABSL_GUARDED_BY(mutex_);
  std::set<std::string> names_ ABSL_GUARDED_BY(mutex_);  // of all that was ever registered
  GlobalParams params_ ABSL_GUARDED_BY(mutex_);
  ThreadsCallback callback_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<Executor> executor_ ABSL_GUARDED_BY(mutex_);
  int executor_threads_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t executor_process_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace cairn::blosc2_api

#endif  // CAIRN_ENGINE_BLOSC2_API_PROCESS_PROCESS_STATE_H_
