#include "tools/cairn/io/whole_items.h"

#include <string>

#include "absl/strings/str_format.h"

#include "tools/cairn/text/units.h"

namespace cairn::tool {

CLI::Option* AddAllowPartial(CLI::App& app, bool& allow_partial) {
  return app.add_flag("--allow-partial", allow_partial,
                      "Accept an input with an incomplete last item");
}

absl::Status CheckWholeItems(const Input& input, int64_t size, int64_t pending, int64_t typesize) {
  if ((pending + size % typesize) % typesize == 0) return absl::OkStatus();
  const std::string after =
      pending == 0 ? "" : absl::StrFormat(", after %d of the frame's last item,", pending);
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s: %s%s are not a whole number of items of %d bytes; --allow-partial accepts them",
      input.name(), FormatCount(size, "byte"), after, typesize));
}

}  // namespace cairn::tool
