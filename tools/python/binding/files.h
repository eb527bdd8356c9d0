// Passes a file system from the module `cairn._s3` to `cairn._engine`, which therefore needs no
// libcurl. It is in a capsule of this name. Both modules are of one build.
#ifndef CAIRN_TOOLS_PYTHON_BINDING_FILES_H_
#define CAIRN_TOOLS_PYTHON_BINDING_FILES_H_

#include <atomic>
#include <memory>

#include "cairn/file_system.h"

namespace cairn::python {

inline constexpr char kFilesCapsule[] = "cairn.RemoteFiles";  // holds a RemoteFiles*

struct RemoteFiles {
  std::shared_ptr<FileSystem> files = nullptr;
  // While it is true, requests of these files end at once with kCancelled.
  std::atomic<bool> interrupted = false;
};

}  // namespace cairn::python

#endif  // CAIRN_TOOLS_PYTHON_BINDING_FILES_H_
