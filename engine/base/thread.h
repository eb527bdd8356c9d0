// Starts threads, which a system may refuse.
#ifndef CAIRN_ENGINE_BASE_THREAD_H_
#define CAIRN_ENGINE_BASE_THREAD_H_

#include <csignal>
#include <optional>
#include <pthread.h>

namespace cairn {

// Starts a thread that calls `run` with `argument` and gets none of the program's signals. Returns
// nothing if the system refuses a thread, as at a limit of processes; std::thread would end the
// program. The caller joins or detaches it.
inline std::optional<pthread_t> StartThread(void* (*run)(void*), void* argument) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread{};
  const int error = ::pthread_create(&thread, nullptr, run, argument);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) return std::nullopt;
  return thread;
}

// Starts a thread that calls `kRun`, a member function, of `object`.
template <auto kRun, typename T>
std::optional<pthread_t> StartThread(T* object) {
  return StartThread(
      [](void* self) -> void* {
        (static_cast<T*>(self)->*kRun)();
        return nullptr;
      },
      object);
}

}  // namespace cairn

#endif  // CAIRN_ENGINE_BASE_THREAD_H_
