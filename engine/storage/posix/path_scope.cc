#include "engine/storage/posix/path_scope.h"

#include <cerrno>
#include <optional>
#include <sys/stat.h>

#include "absl/strings/str_cat.h"

#include "engine/base/status.h"
#include "engine/storage/errors.h"
#include "engine/storage/posix/attributes.h"

namespace cairn::storage {

absl::Status PathScope::Check(const std::string& path) const {
  if (!is_opened()) return absl::OkStatus();
  constexpr std::string_view kNotInNames("/\0", 2);
  if (path.empty() || path == "." || path == ".." ||
      path.find_first_of(kNotInNames) != std::string::npos) {
    return InvalidArgument("\"%s\" is not a plain name in %s", path, path_);
  }
  return absl::OkStatus();
}

std::string PathScope::Shown(const std::string& path) const {
  if (!is_opened()) return path;
  return path == "." ? path_ : absl::StrCat(path_, "/", path);
}

absl::Status PathScope::Failure(int error, const std::string& path, std::string_view action) const {
  // The kernel returns ENOTDIR for a link if it was asked for a directory.
  if ((error == ELOOP || error == ENOTDIR) && is_opened() && IsLink(path))
    return LinkIsDamage(path);
  return ErrnoStatus(error, Shown(path), action);
}

bool PathScope::IsLink(const std::string& path) const {
  const std::optional<PosixStat> info = StatAt(at(), path.c_str(), AT_SYMLINK_NOFOLLOW);
  return info.has_value() && S_ISLNK(info->mode);
}

absl::Status PathScope::LinkIsDamage(const std::string& path) const {
  const std::optional<PosixStat> info = StatAt(at(), path.c_str(), AT_SYMLINK_NOFOLLOW);
  return DataLoss("%s is %s", Shown(path), info ? Described(*info) : "a symbolic link");
}

absl::Status PathScope::WithOwner(const absl::Status& status, const std::string& path) const {
  // A link is named already. That the process has too many open files is no matter of the owner.
  if (absl::IsDataLoss(status) || absl::IsResourceExhausted(status)) return status;
  std::optional<PosixStat> info = StatAt(at(), path.c_str(), is_opened() ? AT_SYMLINK_NOFOLLOW : 0);
  if (!info.has_value()) info = StatAt(at(), path.c_str(), AT_SYMLINK_NOFOLLOW);  // leads nowhere
  if (!info.has_value()) return status;
  return {status.code(), absl::StrCat(status.message(), "; it is ", Described(*info))};
}

absl::StatusOr<PosixStat> PathScope::LookAt(const std::string& path) const {
  const int flags = is_opened() ? AT_SYMLINK_NOFOLLOW : 0;
  const std::optional<PosixStat> info = StatAt(at(), path.c_str(), flags);
  if (!info.has_value()) return Failure(errno, path, "look at");
  if (S_ISLNK(info->mode)) return LinkIsDamage(path);
  return *info;
}

absl::StatusOr<UniqueFd> PathScope::OpenFile(const std::string& path, FileMode mode,
                                             mode_t permissions) const {
  const int flags = OpenFlags(mode) | open_flags();
  UniqueFd fd = OpenAt(at(), path, flags, permissions);
  if (fd.ok()) return fd;
  if (mode == FileMode::kCreateNew) return Failure(errno, path, "create");
  return WithOwner(Failure(errno, path, "open"), path);
}

absl::StatusOr<UniqueFd> PathScope::OpenDirectory(const std::string& path) const {
  const int flags = open_flags() | O_RDONLY | O_DIRECTORY;
  UniqueFd fd = OpenAt(at(), path, flags);
  if (fd.ok()) return fd;
  const int error = errno;
  const absl::Status status = Failure(error, path, "open the directory");
  return error == EACCES || error == ELOOP ? WithOwner(status, path) : status;
}

}  // namespace cairn::storage
