#include "engine/log/write/request_file.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_format.h"

#include "cairn/file_system.h"
#include "engine/base/random.h"
#include "engine/base/status.h"

namespace cairn::log {

namespace {

// Returns the identity of a request if somebody made it who may change the log, because it may ask
// to drop all records.
absl::StatusOr<FileIdentity> IdentityOf(const LogCore& log, const std::string& request) {
  return log.files().IdentityOfLeft(request, log.newest().file.path);
}

// The writer may be another user. Users who may read the log may read the request, unless this user
// may not give a file the attributes of the log.
absl::Status WriteFile(const LogCore& log, const std::string& path, Bytes content) {
  absl::StatusOr<std::unique_ptr<File>> file = log.files().CreateFor(path, log.newest().file.path);
  if (absl::IsFailedPrecondition(file.status())) {
    file = log.files().Open(path, FileMode::kCreateNew);
  }
  CAIRN_RETURN_IF_ERROR(file.status());
  CAIRN_RETURN_IF_ERROR((*file)->WriteAt(0, content));
  return (*file)->Sync(SyncMode::kData);
}

// Bytes of a random number and the rest of a temporary name.
constexpr size_t kTemporaryBytes = 1 + 16 + 4;

// Returns an error if a file next to the log cannot have the name of a request. A longer one that
// is made first has `more` bytes more.
absl::Status CheckName(const std::string& path, std::string_view kind, size_t more) {
  constexpr size_t kMaxName = 255;
  const size_t after = kind.size() + 1 + more;
  const size_t size = path.size() - (path.rfind('/') + 1) + more;
  if (size <= kMaxName) return absl::OkStatus();
  return FailedPrecondition(
      "log: name: too long for a request to the writer: expected at most %d bytes, got %d",
      kMaxName - after, size - after);
}

}  // namespace

bool TakesRequests(const LogCore& log) {
  return log.files().ObjectsIn(log.path()).store == nullptr;
}

std::string RequestPath(const LogCore& log, std::string_view kind) {
  if (log.is_directory()) return absl::StrFormat("%s/log.%s", log.path(), kind);
  // Programs that open the log by a link and by its own name have to look in the same place.
  return absl::StrFormat("%s.%s", log.files().Resolve(log.path()), kind);
}

absl::Status LeaveFile(const LogCore& log, std::string_view kind, Bytes content, bool replace) {
  if (!TakesRequests(log)) return Unimplemented("%s: a request to its writer", log.path());
  const std::string path = RequestPath(log, kind);
  if (!log.is_directory()) CAIRN_RETURN_IF_ERROR(CheckName(path, kind, kTemporaryBytes));
  FileSystem& files = log.files();
  // A file that replaces another one may become its owner's.
  if (absl::IsPermissionDenied(IdentityOf(log, path).status())) {
    CAIRN_RETURN_IF_ERROR(files.Remove(path));
  }
  const std::string temporary = absl::StrFormat("%s.%016x.tmp", path, RandomNumber());
  absl::Status status = WriteFile(log, temporary, content);
  if (status.ok()) status = IdentityOf(log, temporary).status();
  if (status.ok()) status = files.Rename(temporary, path, replace);
  if (status.ok()) return files.SyncDirectoryOf(path);
  files.Remove(temporary).IgnoreError();
  return status;
}

absl::StatusOr<std::optional<std::vector<std::byte>>> FindFile(const LogCore& log,
                                                               std::string_view kind,
                                                               int64_t max_size) {
  const std::string path = RequestPath(log, kind);
  if (!log.is_directory() && !CheckName(path, kind, 0).ok()) return std::nullopt;
  const absl::StatusOr<FileIdentity> identity = IdentityOf(log, path);
  if (absl::IsNotFound(identity.status())) return std::nullopt;
  CAIRN_RETURN_IF_ERROR(identity.status());
  const absl::StatusOr<std::unique_ptr<File>> file = log.files().Open(path, FileMode::kRead);
  if (absl::IsNotFound(file.status())) return std::nullopt;
  CAIRN_RETURN_IF_ERROR(file.status());
  CAIRN_ASSIGN_OR_RETURN(const FileIdentity opened, (*file)->Identity());
  if (opened != *identity) return AtPath(path, absl::UnavailableError("it was just replaced"));
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, (*file)->Size());
  std::vector<std::byte> content(static_cast<size_t>(std::min(size, max_size)));
  CAIRN_RETURN_IF_ERROR((*file)->ReadAt(0, content));
  return content;
}

absl::Status RemoveFile(const LogCore& log, std::string_view kind) {
  const std::string path = RequestPath(log, kind);
  if (!log.is_directory() && !CheckName(path, kind, 0).ok()) return absl::OkStatus();
  const absl::Status removed = log.files().Remove(path);
  if (absl::IsNotFound(removed)) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(removed);
  // Without this sync the request could come back after a power cut, and undo later requests.
  return log.files().SyncDirectoryOf(path);
}

}  // namespace cairn::log
