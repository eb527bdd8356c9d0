// Converts byte sizes from and to the form that people use.
#ifndef CAIRN_TOOLS_CAIRN_TEXT_UNITS_H_
#define CAIRN_TOOLS_CAIRN_TEXT_UNITS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace cairn::tool {

// Parses "4096", "64KiB" (powers of 1024) or "1MB" (powers of 1000), in any case, up to TiB and TB.
// Errors: kOutOfRange for 2^63 bytes and more.
absl::StatusOr<int64_t> ParseByteSize(std::string_view text);

// Returns a text such as "1.2 GiB", with three digits at most before a unit is passed.
std::string FormatByteSize(int64_t bytes);

// Returns a text such as "x3.56": how many times `large` is `small`.
std::string FormatRatio(int64_t large, int64_t small);

// Returns a text such as "1 chunk" or "2 chunks".
std::string FormatCount(int64_t count, std::string_view noun);

// Returns numbers in ascending order, such as "3, 7-9".
std::string FormatRanges(const std::vector<int64_t>& numbers);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_TEXT_UNITS_H_
