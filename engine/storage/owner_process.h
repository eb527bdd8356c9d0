// Which process something belongs to.
#ifndef CAIRN_ENGINE_STORAGE_OWNER_PROCESS_H_
#define CAIRN_ENGINE_STORAGE_OWNER_PROCESS_H_

#include <sys/types.h>
#include <unistd.h>

namespace cairn::storage {

// The process that made it. A forked child has copies of its parent's objects, but not the right to
// end what the parent goes on with.
class OwnerProcess {
 public:
  OwnerProcess() : pid_(::getpid()) {}
  bool is_here() const { return ::getpid() == pid_; }

 private:
  pid_t pid_;
};

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_OWNER_PROCESS_H_
