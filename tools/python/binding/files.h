// How the module `cairn._s3` gives a file system to `cairn._engine`, which so needs no libcurl: in
// a capsule of this name. Both modules are of one build.
#ifndef CAIRN_TOOLS_PYTHON_BINDING_FILES_H_
#define CAIRN_TOOLS_PYTHON_BINDING_FILES_H_

namespace cairn::python {

inline constexpr char kFilesCapsule[] = "cairn.FileSystem";  // holds a FileSystem*

}  // namespace cairn::python

#endif  // CAIRN_TOOLS_PYTHON_BINDING_FILES_H_
