// DetailsOf: gives a program the section and the numbers of an error message as values.
#ifndef CAIRN_ERROR_H_
#define CAIRN_ERROR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"

#include "cairn/types.h"

namespace cairn {

// Holds what the message of an error says, for programs.
struct ErrorDetails {
  // Section of the frame, or argument, that the message names first, such as "frame header",
  // "index", "trailer", "journal" or "chunk". Empty if the message names none.
  std::string section;
  // Numbers of the message, in the order of the message. In the section "chunk", the first number
  // is that of the chunk. A fingerprint is the number that its 64 bits stand for.
  std::vector<int64_t> numbers;
  bool operator==(const ErrorDetails&) const = default;
};

// Returns the details of an error that a call of this library returned.
ErrorDetails CAIRN_EXPORT DetailsOf(const absl::Status& status);

}  // namespace cairn

#endif  // CAIRN_ERROR_H_
