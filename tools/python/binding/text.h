// Converts text as Python's own calls on files do. Names may be any bytes, and those that are not
// UTF-8 become lone surrogates. Include this instead of nanobind's caster of strings.
#ifndef CAIRN_TOOLS_PYTHON_BINDING_TEXT_H_
#define CAIRN_TOOLS_PYTHON_BINDING_TEXT_H_

#include <cstdint>
#include <string>

#include <nanobind/nanobind.h>

namespace nanobind::detail {

template <>
struct type_caster<std::string> {
  NB_TYPE_CASTER(std::string, const_name("str"))

  bool from_python(handle source, uint32_t /*flags*/, cleanup_list* /*cleanup*/) noexcept {
    if (!PyUnicode_Check(source.ptr())) return false;
    PyObject* bytes = PyUnicode_AsEncodedString(source.ptr(), "utf-8", "surrogateescape");
    if (bytes == nullptr) {
      PyErr_Clear();
      return false;
    }
    value.assign(PyBytes_AsString(bytes), static_cast<size_t>(PyBytes_Size(bytes)));
    Py_DECREF(bytes);
    return true;
  }

  static handle from_cpp(const std::string& text, rv_policy /*policy*/,
                         cleanup_list* /*cleanup*/) noexcept {
    return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()),
                                "surrogateescape");
  }
};

}  // namespace nanobind::detail

#endif  // CAIRN_TOOLS_PYTHON_BINDING_TEXT_H_
