// The options of a new frame in the form that Python fills in.
#ifndef CAIRN_TOOLS_PYTHON_BINDING_RECIPE_H_
#define CAIRN_TOOLS_PYTHON_BINDING_RECIPE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>

#include "cairn/options.h"
#include "cairn/types.h"
#include "tools/python/binding/calls.h"

namespace cairn::python {

// Describes how to make a frame. The members are those of CreateOptions, side by side.
struct Recipe {
  CreateOptions options;

  void SetFilters(const std::vector<std::pair<int, int>>& stages) {
    options.compression.filters.clear();
    for (const auto& [filter, meta] : stages) {
      options.compression.filters.push_back(
          {.filter = static_cast<Filter>(filter), .meta = static_cast<uint8_t>(meta)});
    }
  }
  void SetArray(const std::vector<int64_t>& shape, const std::vector<int32_t>& chunkshape,
                const std::vector<int32_t>& blockshape, const std::string& dtype) {
    options.array = ArrayInfo{
        .shape = shape, .chunkshape = chunkshape, .blockshape = blockshape, .dtype = dtype};
  }
  void AddMetalayer(const std::string& name, nb::handle object) {
    const Buffer content(object, Buffer::kRead);
    options.metalayers.push_back(
        {.name = name, .content = {content.bytes().begin(), content.bytes().end()}});
  }
};

}  // namespace cairn::python

#endif  // CAIRN_TOOLS_PYTHON_BINDING_RECIPE_H_
