#include "tools/cairn/complain.h"

#include <cstdio>

#include "tools/cairn/controls.h"

namespace cairn::tool {

void Complain(std::string_view message) {
  std::fprintf(stderr, "cairn: %s\n", OneLine(message).c_str());
}

}  // namespace cairn::tool
