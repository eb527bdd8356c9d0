// Tells which process an object belongs to.
#ifndef CAIRN_ENGINE_BASE_OWNER_PROCESS_H_
#define CAIRN_ENGINE_BASE_OWNER_PROCESS_H_

#include <sys/types.h>

namespace cairn {

// Returns the same number as getpid. Where the kernel can keep a page from a forked child (Linux
// 4.14), only the first call in a process is a system call.
pid_t ThisProcess();

// Remembers the process that made the object. A forked child has copies of its parent's objects,
// but must not end what its parent still uses.
class OwnerProcess {
 public:
  OwnerProcess() : pid_(ThisProcess()) {}
  bool is_here() const { return ThisProcess() == pid_; }

 private:
  pid_t pid_;
};

// Deletes an object only in the process that made it. The destructor of an object with threads, or
// with threads that wait for it, would wait in a forked child for threads that the child does not
// have. So a child leaves such objects alone.
template <typename T>
struct DeleteHere {
  OwnerProcess owner;
  void operator()(T* made) const {
    if (owner.is_here()) delete made;
  }
};

}  // namespace cairn

#endif  // CAIRN_ENGINE_BASE_OWNER_PROCESS_H_
