// Which process something belongs to.
#ifndef CAIRN_ENGINE_BASE_OWNER_PROCESS_H_
#define CAIRN_ENGINE_BASE_OWNER_PROCESS_H_

#include <sys/types.h>

namespace cairn {

// What getpid tells. Only the first call in a process is one of the system, where the kernel can
// keep a page from a forked child (Linux 4.14).
pid_t ThisProcess();

// The process that made it. A forked child has copies of its parent's objects, but not the right to
// end what the parent goes on with.
class OwnerProcess {
 public:
  OwnerProcess() : pid_(ThisProcess()) {}
  bool is_here() const { return ThisProcess() == pid_; }

 private:
  pid_t pid_;
};

// For what has threads, or threads that wait for it: its destructor would wait in a forked child
// for what is not there, so a child leaves its parent's alone.
template <typename T>
struct DeleteHere {
  OwnerProcess owner;
  void operator()(T* made) const {
    if (owner.is_here()) delete made;
  }
};

}  // namespace cairn

#endif  // CAIRN_ENGINE_BASE_OWNER_PROCESS_H_
