#include "fuzz/check.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"

namespace cairn::fuzz {

void Fail(std::string_view claim, std::string_view detail) {
  std::fprintf(stderr, "does not hold: %.*s: %.*s\n", static_cast<int>(claim.size()), claim.data(),
               static_cast<int>(detail.size()), detail.data());
  std::abort();
}

void CheckSame(Bytes got, Bytes expected, std::string_view claim) {
  if (std::ranges::equal(got, expected)) return;
  const auto [a, b] = std::ranges::mismatch(got, expected);
  Fail(claim, absl::StrFormat("%d and %d bytes differ from byte %d on", got.size(), expected.size(),
                              a - got.begin()));
}

void CheckOk(const absl::Status& status, std::string_view claim) {
  Check(status.ok(), claim, status.ToString());
}

bool IsAnswer(const absl::Status& status) {
  if (absl::IsInvalidArgument(status) && absl::EndsWith(status.message(), "not a Blosc2 frame")) {
    return false;
  }
  switch (status.code()) {
    case absl::StatusCode::kOk:
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kUnimplemented:
    case absl::StatusCode::kResourceExhausted:
      return status.ok();
    default:
      Fail("bytes are refused as what they are", status.ToString());
  }
}

}  // namespace cairn::fuzz
