#include "engine/log/state/log_files.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "absl/strings/str_format.h"

#include "engine/base/status.h"

namespace cairn::log {

namespace {

constexpr std::string_view kPrefix = "log.";
constexpr std::string_view kSuffix = ".b2frame";

std::optional<int64_t> NumberOf(std::string_view name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return std::nullopt;
  if (name.size() < kPrefix.size() + kSuffix.size() + 6) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  name.remove_suffix(kSuffix.size());
  int64_t number = 0;
  const auto [stop, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || stop != name.data() + name.size() || number < 0) return std::nullopt;
  return number;
}

}  // namespace

LogFile FileOf(const std::string& directory, int64_t number) {
  return {.number = number, .path = absl::StrFormat("%s/log.%06d.b2frame", directory, number)};
}

absl::StatusOr<bool> IsDirectory(FileSystem& files, const std::string& path) {
  const absl::StatusOr<std::shared_ptr<FileSystem>> directory = files.OpenDirectory(path);
  // Opening a file says better what is missing.
  if (absl::IsFailedPrecondition(directory.status()) || absl::IsUnimplemented(directory.status()) ||
      absl::IsNotFound(directory.status())) {
    return false;
  }
  CAIRN_RETURN_IF_ERROR(directory.status());
  return absl::IsNotFound((*directory)->Identity("chunks.b2frame").status());
}

absl::Status MakeLogDirectory(FileSystem& files, const std::string& path) {
  const absl::Status made = files.MakeDirectory(path);
  if (absl::IsAlreadyExists(made)) {
    // A crash right after this call leaves an empty directory.
    const absl::StatusOr<std::vector<std::string>> names = files.List(path);
    if (!names.ok() || !names->empty()) return made;
  } else if (!made.ok()) {
    return made;
  }
  return files.SyncDirectoryOf(path);
}

absl::StatusOr<std::vector<LogFile>> ListFiles(FileSystem& files, const std::string& directory) {
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::string> names, files.List(directory));
  std::vector<LogFile> found;
  for (const std::string& name : names) {
    if (const std::optional<int64_t> number = NumberOf(name)) {
      found.push_back(FileOf(directory, *number));
    }
  }
  if (found.empty()) return AtPath(directory, NotFound("no file of a log"));
  std::ranges::sort(found, {}, &LogFile::number);
  return found;
}

absl::StatusOr<std::vector<LogFile>> ListUnfinished(FileSystem& files,
                                                    const std::string& directory) {
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::string> names, files.List(directory));
  std::vector<LogFile> found;
  for (const std::string& name : names) {
    const size_t end = name.find(kSuffix);
    if (end == std::string::npos || !name.ends_with(".tmp")) continue;
    if (const std::optional<int64_t> number = NumberOf(name.substr(0, end + kSuffix.size()))) {
      found.push_back(FileOf(directory, *number));
    }
  }
  return found;
}

absl::Status CheckConsecutive(const std::string& directory, std::span<const LogFile> files) {
  for (size_t i = 1; i < files.size(); ++i) {
    if (files[i].number != files[i - 1].number + 1) {
      return AtPath(directory, DataLoss("file %d of the log is missing", files[i - 1].number + 1));
    }
  }
  return absl::OkStatus();
}

}  // namespace cairn::log
