// Descriptors that forked children do not get.
#ifndef CAIRN_ENGINE_STORAGE_POSIX_UNSHARED_FD_H_
#define CAIRN_ENGINE_STORAGE_POSIX_UNSHARED_FD_H_

#include "absl/functional/function_ref.h"

#include "engine/storage/posix/fd.h"

namespace cairn::storage {

// A fork closes it in the child, before anything else can happen there. So what the kernel keeps
// for its open file description, such as locks, ends with this process, unless the description has
// another descriptor or a map. Children that the clone system call makes without the C library's
// fork have it until they call exec.
class UnsharedFd {
 public:
  UnsharedFd() = default;
  UnsharedFd(const UnsharedFd&) = delete;
  UnsharedFd& operator=(const UnsharedFd&) = delete;
  ~UnsharedFd() { Release(); }

  bool ok() const { return fd_ >= 0; }
  // -1 where there is none, as in a child.
  int get() const { return fd_; }
  // Takes what `open` gives, in place of none. The process cannot fork meanwhile, so `open` must be
  // quick, and must not allocate.
  void Open(absl::FunctionRef<UniqueFd()> open);
  // Children that are forked from here on get it.
  UniqueFd Release();

 private:
  struct Registry;

  int fd_ = -1;
  // In the registry's list, where there is a descriptor.
  UnsharedFd* before_ = nullptr;
  UnsharedFd* after_ = nullptr;
};

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_POSIX_UNSHARED_FD_H_
