// Mutexes that clang checks. A field names the mutex that guards it (ABSL_GUARDED_BY), and a
// function names the mutex that its callers hold (ABSL_EXCLUSIVE_LOCKS_REQUIRED). Clang's
// -Wthread-safety refuses a use without that mutex; see tools/check-locks.sh. It does not look into
// constructors and destructors. In a forked child no mutex is locked; see ForkGate.
#ifndef CAIRN_ENGINE_BASE_MUTEX_H_
#define CAIRN_ENGINE_BASE_MUTEX_H_

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <pthread.h>
#include <shared_mutex>

#include "absl/base/thread_annotations.h"

#include "engine/base/fork_gate.h"

namespace cairn {

// Wraps a std::mutex.
class ABSL_LOCKABLE Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() {
    ForkGate::Enter();
    mutex_.lock();
  }
  bool TryLock() ABSL_EXCLUSIVE_TRYLOCK_FUNCTION(true) {
    ForkGate::Enter();
    if (mutex_.try_lock()) return true;
    ForkGate::Leave();
    return false;
  }
  void Unlock() ABSL_UNLOCK_FUNCTION() {
    mutex_.unlock();
    ForkGate::Leave();
  }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

// Holds a mutex for as long as it lives.
class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) {
    mutex_.Lock();
  }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// Holds a mutex only if `is_needed`. A forked child needs none: a thread that the child does not
// have may hold it. Clang takes it for held in any case.
class ABSL_SCOPED_LOCKABLE MutexLockIf {
 public:
  MutexLockIf(bool is_needed, Mutex& mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex)
      : held_(is_needed ? &mutex : nullptr) {
    if (held_ != nullptr) held_->Lock();
  }
  ~MutexLockIf() ABSL_UNLOCK_FUNCTION() {
    if (held_ != nullptr) held_->Unlock();
  }
  MutexLockIf(const MutexLockIf&) = delete;
  MutexLockIf& operator=(const MutexLockIf&) = delete;

  bool is_held() const { return held_ != nullptr; }

 private:
  Mutex* const held_;
};

// Wraps a std::condition_variable. A fork does not wait for threads that wait here, and may find
// their mutex locked when they wake up. No wait takes a predicate, because clang does not know
// which locks are held where a lambda runs: write `while (!ready_) changed_.Wait(mutex_);`.
class CondVar {
 public:
  void Wait(Mutex& mutex) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    ForkGate::Leave();
    // GCC 12's std::condition_variable::wait would need a libstdc++ that RHEL 9 does not have.
    pthread_cond_wait(changed_.native_handle(), mutex.mutex_.native_handle());
    ForkGate::Enter();
  }
  // Returns false if the time has come.
  bool WaitUntil(Mutex& mutex, std::chrono::steady_clock::time_point time)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    ForkGate::Leave();
    std::unique_lock lock(mutex.mutex_, std::adopt_lock);
    const bool was_told = changed_.wait_until(lock, time) == std::cv_status::no_timeout;
    lock.release();
    ForkGate::Enter();
    return was_told;
  }
  void NotifyOne() { changed_.notify_one(); }
  void NotifyAll() { changed_.notify_all(); }

 private:
  std::condition_variable changed_;
};

// Wraps a std::shared_mutex.
class ABSL_LOCKABLE SharedMutex {
 public:
  SharedMutex() = default;
  SharedMutex(const SharedMutex&) = delete;
  SharedMutex& operator=(const SharedMutex&) = delete;

  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() {
    ForkGate::Enter();
    mutex_.lock();
  }
  void Unlock() ABSL_UNLOCK_FUNCTION() {
    mutex_.unlock();
    ForkGate::Leave();
  }
  void LockShared() ABSL_SHARED_LOCK_FUNCTION() {
    ForkGate::Enter();
    mutex_.lock_shared();
  }
  void UnlockShared() ABSL_UNLOCK_FUNCTION() {
    mutex_.unlock_shared();
    ForkGate::Leave();
  }

 private:
  std::shared_mutex mutex_;
};

// Holds a shared mutex for its caller alone, as a writer does.
class ABSL_SCOPED_LOCKABLE WriterLock {
 public:
  explicit WriterLock(SharedMutex& mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) {
    mutex_.Lock();
  }
  ~WriterLock() ABSL_UNLOCK_FUNCTION() { mutex_.Unlock(); }
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

 private:
  SharedMutex& mutex_;
};

// Holds a shared mutex together with other readers.
class ABSL_SCOPED_LOCKABLE ReaderLock {
 public:
  explicit ReaderLock(SharedMutex& mutex) ABSL_SHARED_LOCK_FUNCTION(mutex) : mutex_(mutex) {
    mutex_.LockShared();
  }
  ~ReaderLock() ABSL_UNLOCK_FUNCTION() { mutex_.UnlockShared(); }
  ReaderLock(const ReaderLock&) = delete;
  ReaderLock& operator=(const ReaderLock&) = delete;

 private:
  SharedMutex& mutex_;
};

}  // namespace cairn

#endif  // CAIRN_ENGINE_BASE_MUTEX_H_
