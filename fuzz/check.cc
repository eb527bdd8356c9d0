#include "fuzz/check.h"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace cairn::fuzz {

void Fail(std::string_view claim, std::string_view detail) {
  std::fprintf(stderr, "does not hold: %.*s: %.*s\n", static_cast<int>(claim.size()), claim.data(),
               static_cast<int>(detail.size()), detail.data());
  std::abort();
}

void CheckOk(const absl::Status& status, std::string_view claim) {
  Check(status.ok(), claim, status.ToString());
}

bool IsAnswer(const absl::Status& status) {
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
