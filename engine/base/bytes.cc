#include "engine/base/bytes.h"

namespace cairn {

bool IsRun(Bytes bytes) {
  // A span is a run exactly when it equals itself shifted by one.
  return !bytes.empty() && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

}  // namespace cairn
