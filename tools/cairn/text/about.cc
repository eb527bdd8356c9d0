#include "tools/cairn/text/about.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

#include "tools/cairn/text/exit.h"

namespace cairn::tool {

namespace {

bool IsAboutContent(const absl::Status& status) {
  return absl::IsDataLoss(status) || absl::IsUnimplemented(status) || absl::IsOutOfRange(status) ||
         absl::IsUnavailable(status) || absl::IsFailedPrecondition(status);
}

// Returns true if a message begins with its file, as the engine's do: "PATH: cannot read", "PATH is
// held by another writer", "PATH/00000003.chunk: …" for a sparse frame, "PATH.b2nd: …" for a member
// of a collection.
bool IsNamed(std::string_view path, std::string_view message) {
  if (!message.starts_with(path)) return false;
  message.remove_prefix(path.size());
  return message.starts_with(": ") || message.starts_with(" is ") || message.starts_with(" was ") ||
         message.starts_with('/') || message.starts_with(".b2nd: ") ||
         message.starts_with(".b2f: ");
}

// Replaces absolute paths, which the engine makes, by the path that the user typed, and "log",
// which the engine says where it does not know the path.
std::string AsTyped(const std::string& path, std::string message) {
  constexpr std::string_view kLog = "log: ";
  if (message.starts_with(kLog)) return absl::StrCat(path, ": ", message.substr(kLog.size()));
  std::error_code error;
  const std::string absolute = std::filesystem::absolute(path, error).string();
  if (!error && absolute != path && message.starts_with(absolute)) {
    message.replace(0, absolute.size(), path);
  }
  return message;
}

// Returns what helps who names a store that is no path of a file, or an empty text. It is told only
// where there is no such file.
std::string AdviceOnStore(std::string_view path, const absl::Status& status) {
  const std::string_view scheme = path.substr(0, std::min(path.find("://"), path.size()));
  const bool is_store = absl::IsNotFound(status) && scheme.size() < path.size() &&
                        std::ranges::all_of(scheme, absl::ascii_isalpha);
  if (!is_store || scheme == "s3" || scheme == "https" || scheme == "http") return "";
  if (scheme != "gs") return "; stores are named by s3://, https:// or http://";
  return absl::StrCat(
      "; for Google's store, set AWS_ENDPOINT_URL_S3=https://storage.googleapis.com and its HMAC "
      "key, or give --anonymous, and name s3",
      std::string(path.substr(scheme.size())));
}

}  // namespace

absl::Status About(const std::string& path, const absl::Status& status) {
  if (status.ok()) return status;
  const std::string message = AsTyped(path, std::string(status.message()));
  const bool named = !IsAboutContent(status) || IsNamed(path, message);
  const absl::Status about(status.code(), absl::StrCat(named ? std::string() : path + ": ", message,
                                                       AdviceOnStore(path, status)));
  return IsPrinted(status) ? Printed(about) : about;
}

}  // namespace cairn::tool
