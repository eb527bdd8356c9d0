#include "engine/log/write/delete_request.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/byte_reader.h"
#include "engine/base/byte_writer.h"
#include "engine/base/status.h"
#include "engine/log/write/request_file.h"

namespace cairn::log {

namespace {

constexpr uint32_t kDeletionMagic = 0x44524C43;  // "CLRD"
constexpr uint32_t kDeletionVersion = 1;
constexpr int64_t kMaxDeletion = 1 << 20;  // bytes of a request
constexpr std::string_view kDeletion = "delete";

}  // namespace

std::vector<std::byte> EncodeDeletion(const LogSelection& which) {
  ByteWriter writer;
  writer.Le(kDeletionMagic);
  writer.Le(kDeletionVersion);
  writer.Le(which.times.begin);
  writer.Le(which.times.end);
  writer.Le(which.records.begin);
  writer.Le(which.records.end);
  for (const std::string& filter : which.filters) {
    writer.Le(static_cast<uint32_t>(filter.size()));
    writer.Append(std::as_bytes(std::span(filter)));
  }
  return std::move(writer).Take();
}

absl::StatusOr<LogSelection> ParseDeletion(Bytes content) {
  ByteReader reader(content, "request");
  if (reader.Le<uint32_t>("magic") != kDeletionMagic) reader.Fail("magic", "not that of a request");
  if (reader.Le<uint32_t>("version") != kDeletionVersion) {
    reader.Fail("version", "of a newer Cairn");
  }
  LogSelection which;
  which.times.begin = reader.Le<int64_t>("begin");
  which.times.end = reader.Le<int64_t>("end");
  which.records.begin = reader.Le<int64_t>("first number");
  which.records.end = reader.Le<int64_t>("end of the numbers");
  while (reader.ok() && reader.remaining() > 0) {
    const Bytes text = reader.Take(reader.Le<uint32_t>("length"), "filter");
    which.filters.emplace_back(reinterpret_cast<const char*>(text.data()), text.size());
  }
  CAIRN_RETURN_IF_ERROR(reader.status());
  return which;
}

absl::StatusOr<std::optional<std::vector<std::byte>>> FindDeletion(const LogCore& log) {
  return FindFile(log, kDeletion, kMaxDeletion);
}

absl::Status RemoveDeletion(const LogCore& log, Bytes request) {
  CAIRN_ASSIGN_OR_RETURN(const auto found, FindDeletion(log));
  const bool is_there = found && std::ranges::equal(*found, request);
  return is_there ? RemoveFile(log, kDeletion) : absl::OkStatus();
}

absl::Status LeaveDeletion(const LogCore& log, Bytes request, bool replace) {
  if (std::ssize(request) > kMaxDeletion) {
    return InvalidArgument("log: a selection of %d bytes, at most %d are read", request.size(),
                           kMaxDeletion);
  }
  return LeaveFile(log, kDeletion, request, replace);
}

}  // namespace cairn::log
