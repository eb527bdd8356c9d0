// Checks that an input is a whole number of items.
#ifndef CAIRN_TOOLS_CAIRN_IO_WHOLE_ITEMS_H_
#define CAIRN_TOOLS_CAIRN_IO_WHOLE_ITEMS_H_

#include <cstdint>

#include "absl/status/status.h"
#include <CLI/CLI.hpp>

#include "tools/cairn/io/io.h"

namespace cairn::tool {

// Adds --allow-partial, which accepts an input that is not.
CLI::Option* AddAllowPartial(CLI::App& app, bool& allow_partial);

// The frame ends with `pending` bytes of an item, which the input continues. Errors:
// kInvalidArgument if items of `typesize` bytes do not end where the `size` bytes of the input do.
absl::Status CheckWholeItems(const Input& input, int64_t size, int64_t pending, int64_t typesize);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_IO_WHOLE_ITEMS_H_
