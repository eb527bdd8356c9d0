#include "engine/log/write/limits_request.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/byte_reader.h"
#include "engine/base/byte_writer.h"
#include "engine/base/status.h"
#include "engine/log/write/request_file.h"

namespace cairn::log {

namespace {

constexpr uint32_t kRequestMagic = 0x51524C43;  // "CLRQ"
constexpr uint32_t kRequestVersion = 1;

constexpr std::string_view kLimits = "request";

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

absl::Status LeaveRequest(const LogCore& log, LimitsRequest request) {
  for (const int64_t* const limit : LimitsOf(request)) {
    if (*limit < -1) return InvalidArgument("log: limits: expected -1 or more, got %d", *limit);
  }
  if (!log.is_directory() && request.rotation != LimitsRequest{}.rotation) {
    return AtPath(log.path(), FailedPrecondition("a log of one file"));
  }
  absl::StatusOr<std::optional<LimitsRequest>> pending;
  if (TakesRequests(log)) pending = FindRequest(log);
  if (pending.ok() && pending->has_value()) {
    request.retention = Changed((*pending)->retention, request);
    request.rotation = Changed((*pending)->rotation, request);
  }
  return LeaveFile(log, kLimits, EncodeRequest(request), /*replace=*/true);
}

absl::StatusOr<std::optional<LimitsRequest>> FindRequest(const LogCore& log) {
  constexpr int64_t kMaxSize = 64;
  CAIRN_ASSIGN_OR_RETURN(const auto content, FindFile(log, kLimits, kMaxSize));
  if (!content.has_value()) return std::optional<LimitsRequest>();
  absl::StatusOr<LimitsRequest> request = ParseRequest(*content);
  if (!request.ok()) return AtPath(RequestPath(log, kLimits), request.status());
  return std::optional<LimitsRequest>(*request);
}

absl::Status RemoveRequest(const LogCore& log, const LimitsRequest& request) {
  CAIRN_ASSIGN_OR_RETURN(const std::optional<LimitsRequest> newest, FindRequest(log));
  return newest == request ? RemoveFile(log, kLimits) : absl::OkStatus();
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
