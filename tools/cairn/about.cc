#include "tools/cairn/about.h"

#include <string_view>

#include "absl/strings/str_cat.h"

namespace cairn::tool {

namespace {

bool IsAboutContent(const absl::Status& status) {
  return absl::IsDataLoss(status) || absl::IsUnimplemented(status) || absl::IsOutOfRange(status) ||
         absl::IsUnavailable(status) || absl::IsFailedPrecondition(status);
}

// Whether a message begins with its file, as the engine's do: "PATH: cannot read", "PATH is held by
// another writer", "PATH/00000003.chunk: …" of a sparse frame.
bool IsNamed(std::string_view path, std::string_view message) {
  if (!message.starts_with(path)) return false;
  message.remove_prefix(path.size());
  return message.starts_with(": ") || message.starts_with(" is ") || message.starts_with('/');
}

}  // namespace

absl::Status About(const std::string& path, const absl::Status& status) {
  const std::string message(status.message());
  if (!IsAboutContent(status) || IsNamed(path, message)) return status;
  return {status.code(), absl::StrCat(path, ": ", message)};
}

}  // namespace cairn::tool
