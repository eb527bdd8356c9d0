// Calls of the system that fail or take long in this process, whoever makes them. The program has
// to export them: see meson.build.
#ifndef CAIRN_TESTS_SQLITE_FAILING_CALLS_H_
#define CAIRN_TESTS_SQLITE_FAILING_CALLS_H_

namespace cairn::test {

// Lets `good` calls of pwrite, fsync and fdatasync pass, and then fails one or, with
// `all`, all that come after.
class FailingCalls {
 public:
  FailingCalls(int good, int error, bool all = false);
  FailingCalls(const FailingCalls&) = delete;
  FailingCalls& operator=(const FailingCalls&) = delete;
  ~FailingCalls();  // they work again

  // Returns true if a call has failed.
  bool has_failed() const;
};

// While it lives, locks of files that other threads give back take a while.
class SlowUnlocks {
 public:
  SlowUnlocks();
  SlowUnlocks(const SlowUnlocks&) = delete;
  SlowUnlocks& operator=(const SlowUnlocks&) = delete;
  ~SlowUnlocks();

  // Until one has begun.
  void WaitForOne() const;
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SQLITE_FAILING_CALLS_H_
