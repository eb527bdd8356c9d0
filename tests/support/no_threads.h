// A system that gives no threads.
#ifndef CAIRN_TESTS_SUPPORT_NO_THREADS_H_
#define CAIRN_TESTS_SUPPORT_NO_THREADS_H_

#include <cstddef>
#include <pthread.h>

namespace cairn::test {

// As long as it lives, no thread begins in this process: its stack would be larger than memory is.
class NoThreads {
 public:
  NoThreads() {
    ::pthread_getattr_default_np(&before_);
    pthread_attr_t large;
    ::pthread_attr_init(&large);
    ::pthread_attr_setstacksize(&large, size_t{1} << 50);
    ::pthread_setattr_default_np(&large);
    ::pthread_attr_destroy(&large);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;
  ~NoThreads() {
    ::pthread_setattr_default_np(&before_);
    ::pthread_attr_destroy(&before_);
  }

 private:
  pthread_attr_t before_;
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SUPPORT_NO_THREADS_H_
