#include "engine/log/write/limits_request.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/byte_reader.h"
#include "engine/base/byte_writer.h"
#include "engine/base/random.h"
#include "engine/base/status.h"

namespace cairn::log {

namespace {

constexpr uint32_t kRequestMagic = 0x51524C43;  // "CLRQ"
constexpr uint32_t kRequestVersion = 1;

std::string RequestPath(const LogCore& log) {
  return log.is_directory() ? log.path() + "/log.request" : log.path() + ".request";
}

// Returns the identity of a request if somebody made it who may change the log, because it may ask
// to drop all records.
absl::StatusOr<FileIdentity> IdentityOf(const LogCore& log, const std::string& request) {
  return log.files().IdentityOfLeft(request, log.newest().file.path);
}

std::array<int64_t*, 5> LimitsOf(LimitsRequest& request) {
  return {&request.retention.max_age, &request.retention.max_records, &request.retention.max_bytes,
          &request.rotation.max_bytes, &request.rotation.period};
}

}  // namespace

std::vector<std::byte> EncodeRequest(LimitsRequest request) {
  ByteWriter writer;
  writer.Le(kRequestMagic);
  writer.Le(kRequestVersion);
  for (const int64_t* const limit : LimitsOf(request)) writer.Le(*limit);
  return std::move(writer).Take();
}

absl::StatusOr<LimitsRequest> ParseRequest(Bytes content) {
  ByteReader reader(content, "request");
  if (reader.Le<uint32_t>("magic") != kRequestMagic) reader.Fail("magic", "not that of a request");
  if (reader.Le<uint32_t>("version") != kRequestVersion) {
    reader.Fail("version", "of a newer Cairn");
  }
  LimitsRequest request;
  for (int64_t* const limit : LimitsOf(request)) {
    *limit = reader.Le<int64_t>("limit");
    if (*limit < -1) reader.Fail("limit", "less than -1");
  }
  if (reader.remaining() > 0) reader.Fail("limit", "bytes after the last");
  CAIRN_RETURN_IF_ERROR(reader.status());
  return request;
}

bool TakesRequests(const LogCore& log) {
  return log.files().ObjectsIn(log.path()).store == nullptr;
}

absl::Status LeaveRequest(const LogCore& log, LimitsRequest request) {
  for (const int64_t* const limit : LimitsOf(request)) {
    if (*limit < -1) return InvalidArgument("log: limits: expected -1 or more, got %d", *limit);
  }
  if (!log.is_directory() && request.rotation != LimitsRequest{}.rotation) {
    return AtPath(log.path(), FailedPrecondition("a log of one file"));
  }
  if (!TakesRequests(log)) return Unimplemented("%s: a request to its writer", log.path());
  const std::string path = RequestPath(log);
  const absl::StatusOr<std::optional<LimitsRequest>> pending = FindRequest(log);
  if (pending.ok() && pending->has_value()) {
    request.retention = Changed((*pending)->retention, request);
    request.rotation = Changed((*pending)->rotation, request);
  }
  FileSystem& files = log.files();
  // A file that replaces another one may become its owner's.
  if (absl::IsPermissionDenied(pending.status())) CAIRN_RETURN_IF_ERROR(files.Remove(path));
  const std::string temporary = absl::StrFormat("%s.%016x.tmp", path, RandomNumber());
  {
    // The writer may be another user. Users who may read the log may read the request, unless this
    // user may not give a file the attributes of the log.
    absl::StatusOr<std::unique_ptr<File>> file = files.CreateFor(temporary, log.newest().file.path);
    if (absl::IsFailedPrecondition(file.status())) {
      file = files.Open(temporary, FileMode::kCreateNew);
    }
    CAIRN_RETURN_IF_ERROR(file.status());
    CAIRN_RETURN_IF_ERROR((*file)->WriteAt(0, EncodeRequest(request)));
    CAIRN_RETURN_IF_ERROR((*file)->Sync(SyncMode::kData));
  }
  if (const auto left = IdentityOf(log, temporary); !left.ok()) {
    files.Remove(temporary).IgnoreError();
    return left.status();
  }
  CAIRN_RETURN_IF_ERROR(files.Rename(temporary, path, true));
  return files.SyncDirectoryOf(path);
}

absl::StatusOr<std::optional<LimitsRequest>> FindRequest(const LogCore& log) {
  const std::string path = RequestPath(log);
  const absl::StatusOr<FileIdentity> identity = IdentityOf(log, path);
  if (absl::IsNotFound(identity.status())) return std::optional<LimitsRequest>();
  CAIRN_RETURN_IF_ERROR(identity.status());
  const absl::StatusOr<std::unique_ptr<File>> file = log.files().Open(path, FileMode::kRead);
  if (absl::IsNotFound(file.status())) return std::optional<LimitsRequest>();
  CAIRN_RETURN_IF_ERROR(file.status());
  CAIRN_ASSIGN_OR_RETURN(const FileIdentity opened, (*file)->Identity());
  if (opened != *identity) return AtPath(path, absl::UnavailableError("it was just replaced"));
  constexpr int64_t kMaxSize = 64;
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, (*file)->Size());
  std::vector<std::byte> content(static_cast<size_t>(std::min(size, kMaxSize)));
  CAIRN_RETURN_IF_ERROR((*file)->ReadAt(0, content));
  absl::StatusOr<LimitsRequest> request = ParseRequest(content);
  if (!request.ok()) return AtPath(path, request.status());
  return std::optional<LimitsRequest>(*request);
}

absl::Status RemoveRequest(const LogCore& log, const LimitsRequest& request) {
  CAIRN_ASSIGN_OR_RETURN(const std::optional<LimitsRequest> newest, FindRequest(log));
  if (newest != request) return absl::OkStatus();
  const std::string path = RequestPath(log);
  const absl::Status removed = log.files().Remove(path);
  if (absl::IsNotFound(removed)) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(removed);
  // Without this sync the request could come back after a power cut, and undo later requests.
  return log.files().SyncDirectoryOf(path);
}

Retention Changed(Retention retention, const LimitsRequest& request) {
  const Retention& asked = request.retention;
  if (asked.max_age >= 0) retention.max_age = asked.max_age;
  if (asked.max_records >= 0) retention.max_records = asked.max_records;
  if (asked.max_bytes >= 0) retention.max_bytes = asked.max_bytes;
  return retention;
}

Rotation Changed(Rotation rotation, const LimitsRequest& request) {
  if (request.rotation.max_bytes >= 0) rotation.max_bytes = request.rotation.max_bytes;
  if (request.rotation.period >= 0) rotation.period = request.rotation.period;
  return rotation;
}

}  // namespace cairn::log
