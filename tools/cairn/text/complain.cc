#include "tools/cairn/text/complain.h"

#include <cstdio>

#include "tools/cairn/text/controls.h"

namespace cairn::tool {

void Complain(std::string_view message) {
  std::fprintf(stderr, "cairn: %s\n", OneLine(HideQueries(message)).c_str());
}

}  // namespace cairn::tool
