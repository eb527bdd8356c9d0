#include "tools/cairn/complain.h"

#include <cstdio>

namespace cairn::tool {

void Complain(std::string message) {
  for (char& c : message) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  std::fprintf(stderr, "cairn: %s\n", message.c_str());
}

}  // namespace cairn::tool
