#include "engine/c_api/result.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "absl/status/status.h"

#include "cairn/cairn.h"
#include "cairn/error.h"
#include "cairn/version.h"

namespace cairn::c_api {
namespace {

bool ContinuesCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Returns the longest start of `text` of at most `most` bytes that ends between characters.
std::string_view Cut(std::string_view text, size_t most) {
  while (most > 0 && ContinuesCharacter(text[most])) --most;
  return text.substr(0, most);
}

void CopyText(std::string_view text, std::span<char> to) {
  constexpr std::string_view kEllipsis = "...";
  std::string_view end;
  if (text.size() >= to.size()) {
    text = Cut(text, to.size() - 1 - kEllipsis.size());
    end = kEllipsis;
  }
  *std::ranges::copy(end, std::ranges::copy(text, to.begin()).out).out = '\0';
}

}  // namespace

cairn_code Report(const absl::Status& status, cairn_status* out) {
  const auto code = static_cast<cairn_code>(status.code());
  if (out == nullptr) return code;
  const ErrorDetails details = DetailsOf(status);
  out->code = code;
  CopyText({status.message().data(), status.message().size()}, out->message);
  CopyText(details.section, out->section);
  const size_t count = std::min<size_t>(details.numbers.size(), CAIRN_MAX_NUMBERS);
  out->nnumbers = static_cast<int32_t>(count);
  const std::span numbers(out->numbers);
  std::ranges::fill(numbers, 0);
  std::ranges::copy_n(details.numbers.begin(), out->nnumbers, numbers.begin());
  return code;
}

}  // namespace cairn::c_api

const char* cairn_code_name(cairn_code code) {
  switch (code) {
    case CAIRN_OK:
      return "OK";
    case CAIRN_CANCELLED:
      return "CANCELLED";
    case CAIRN_INVALID_ARGUMENT:
      return "INVALID_ARGUMENT";
    case CAIRN_DEADLINE_EXCEEDED:
      return "DEADLINE_EXCEEDED";
    case CAIRN_NOT_FOUND:
      return "NOT_FOUND";
    case CAIRN_ALREADY_EXISTS:
      return "ALREADY_EXISTS";
    case CAIRN_PERMISSION_DENIED:
      return "PERMISSION_DENIED";
    case CAIRN_RESOURCE_EXHAUSTED:
      return "RESOURCE_EXHAUSTED";
    case CAIRN_FAILED_PRECONDITION:
      return "FAILED_PRECONDITION";
    case CAIRN_ABORTED:
      return "ABORTED";
    case CAIRN_OUT_OF_RANGE:
      return "OUT_OF_RANGE";
    case CAIRN_UNIMPLEMENTED:
      return "UNIMPLEMENTED";
    case CAIRN_INTERNAL:
      return "INTERNAL";
    case CAIRN_UNAVAILABLE:
      return "UNAVAILABLE";
    case CAIRN_DATA_LOSS:
      return "DATA_LOSS";
    case CAIRN_UNAUTHENTICATED:
      return "UNAUTHENTICATED";
    default:
      return "UNKNOWN";
  }
}

const char* cairn_version() { return cairn::kVersion.data(); }
