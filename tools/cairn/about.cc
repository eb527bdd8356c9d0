#include "tools/cairn/about.h"

#include "absl/strings/str_cat.h"

namespace cairn::tool {

namespace {

bool IsAboutContent(const absl::Status& status) {
  return absl::IsDataLoss(status) || absl::IsUnimplemented(status) || absl::IsOutOfRange(status) ||
         absl::IsUnavailable(status) || absl::IsFailedPrecondition(status);
}

}  // namespace

absl::Status About(const std::string& path, const absl::Status& status) {
  const std::string message(status.message());
  if (!IsAboutContent(status) || message.find(path) != std::string::npos) return status;
  return {status.code(), absl::StrCat(path, ": ", message)};
}

}  // namespace cairn::tool
