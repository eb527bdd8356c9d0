// Descriptors that forked children do not get.
#ifndef CAIRN_ENGINE_STORAGE_POSIX_UNSHARED_FD_H_
#define CAIRN_ENGINE_STORAGE_POSIX_UNSHARED_FD_H_

#include "absl/functional/function_ref.h"

#include "engine/storage/posix/fd.h"

namespace cairn::storage {

// A descriptor that a fork closes in the child, before anything else can happen there. So the state
// that the kernel keeps for its open file description, such as locks, ends with this process,
// unless the description has another descriptor or a mapping. Children that the clone system call
// makes without the C library's fork have it until they call exec.
class UnsharedFd {
 public:
  UnsharedFd() = default;
  UnsharedFd(const UnsharedFd&) = delete;
  UnsharedFd& operator=(const UnsharedFd&) = delete;
  ~UnsharedFd() { Release(); }

  bool ok() const { return fd_ >= 0; }
  // Returns -1 if there is no descriptor, as in a child.
  int get() const { return fd_; }
  // Takes the result of `open`. There must be no descriptor yet. The process cannot fork meanwhile,
  // so `open` must be quick, and must not allocate.
  void Open(absl::FunctionRef<UniqueFd()> open);
  // Gives the descriptor to the caller. Children that are forked from here on get it.
  UniqueFd Release();

 private:
  struct Registry;

  int fd_ = -1;
  // Neighbours in the registry's list, if there is a descriptor.
  UnsharedFd* before_ = nullptr;
  UnsharedFd* after_ = nullptr;
};

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_POSIX_UNSHARED_FD_H_
