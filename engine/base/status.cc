#include "engine/base/status.h"

namespace cairn {

absl::Status Annotate(std::string_view where, const absl::Status& status) {
  if (status.ok()) return status;
  const absl::string_view message = status.message();
  return absl::Status(status.code(), absl::StrFormat("%s: %s", where, message));
}

}  // namespace cairn
