// The extension module `cairn._s3`, which opens URIs with libcurl.
#include "cairn/s3.h"

#include <Python.h>
#include <memory>
#include <utility>

#include "cairn/file_system.h"
#include "tools/python/binding/files.h"

namespace cairn::python {

namespace {

PyObject* OpenFiles(PyObject* /*module*/, PyObject* /*none*/) {
  // Never destroyed, because frames, logs and writers may use it at any time, and its threads run
  // until the process ends.
  auto* const remote = new RemoteFiles;
  absl::StatusOr<S3Options> options = S3OptionsFromEnvironment();
  if (options.ok()) {
    options->transport.keep_waiting = [remote](const TransportWait&) {
      return !remote->interrupted.load();
    };
  }
  remote->files = MakeUriFileSystem(std::move(options));
  return PyCapsule_New(remote, kFilesCapsule, nullptr);
}

PyMethodDef methods[] = {
    {"open_files", OpenFiles, METH_NOARGS,
     "open_files() -> object\n\n"
     "A file system with objects, for the calls of `cairn._engine`. It is never freed."},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef_Slot slots[] = {
#ifdef Py_mod_gil
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, nullptr},
};

PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "_s3",
    .m_doc = "Object stores beneath the package cairn.",
    .m_size = 0,
    .m_methods = methods,
    .m_slots = slots,
    .m_traverse = nullptr,
    .m_clear = nullptr,
    .m_free = nullptr,
};

}  // namespace

}  // namespace cairn::python

PyMODINIT_FUNC PyInit__s3() { return PyModuleDef_Init(&cairn::python::definition); }
