// Bytes as the format's description prints them.
#ifndef CAIRN_TESTS_SUPPORT_HEX_H_
#define CAIRN_TESTS_SUPPORT_HEX_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_format.h"

#include "cairn/types.h"

namespace cairn {

// Converts "05 01 a0" to three bytes. Spaces mean nothing.
inline std::vector<std::byte> Hex(std::string_view text) {
  std::string digits(text);
  std::erase(digits, ' ');
  std::vector<std::byte> bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

// Returns the digits for messages of failed expectations.
inline std::string ToHex(Bytes bytes) {
  std::string text;
  for (const std::byte byte : bytes)
    absl::StrAppendFormat(&text, "%02x", std::to_integer<int>(byte));
  return text;
}

}  // namespace cairn

#endif  // CAIRN_TESTS_SUPPORT_HEX_H_
