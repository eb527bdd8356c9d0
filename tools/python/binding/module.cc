// The extension module `cairn._engine`, which offers the C++ API as plain calls on bytes. The
// package around it makes it look like NumPy.
#include <cstdint>
#include <string>

#include <nanobind/nanobind.h>

#include "cairn/error.h"
#include "cairn/version.h"
#include "tools/python/binding/calls.h"
#include "tools/python/binding/handles.h"
#include "tools/python/binding/log_handles.h"
#include "tools/python/binding/text.h"

namespace cairn::python {

NB_MODULE(_engine, module) {
  nb::set_leak_warnings(false);  // at the end of a program whose threads read
  module.doc() = "The engine beneath the package cairn: calls on bytes, without NumPy.";
  module.attr("VERSION") = nb::str(kVersion.data(), kVersion.size());
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const StatusError& error) {
      const ErrorDetails details = DetailsOf(error.status);
      nb::list numbers;
      for (const int64_t number : details.numbers) numbers.append(number);
      const nb::object raised = nb::module_::import_("cairn.errors")
                                    .attr("of_status")(static_cast<int>(error.status.code()),
                                                       std::string(error.status.message()),
                                                       details.section, nb::tuple(numbers));
      PyErr_SetObject(raised.type().ptr(), raised.ptr());
    }
  });
  BindChunk(module);
  BindSnapshot(module);
  BindWriter(module);
  BindFrame(module);
  BindCollection(module);
  BindLogSnapshot(module);
  BindLogWriter(module);
  BindLog(module);
  BindPlot(module);
}

}  // namespace cairn::python
