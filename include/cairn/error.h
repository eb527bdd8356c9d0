// Gives as values what the message of an error says in words.
#ifndef CAIRN_ERROR_H_
#define CAIRN_ERROR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"

#include "cairn/types.h"

namespace cairn {

struct ErrorDetails {
  // "frame header", "index", "trailer", "journal", "chunk", ...: the section of the frame, or the
  // argument, that the message names first; empty when it names none.
  std::string section;
  // The numbers of the message, in its order. For the section "chunk" the first one is the chunk's.
  // A fingerprint counts as the number that its 64 bits are.
  std::vector<int64_t> numbers;
  bool operator==(const ErrorDetails&) const = default;
};

// Returns the details of an error that a call of this library returned.
ErrorDetails CAIRN_EXPORT DetailsOf(const absl::Status& status);

}  // namespace cairn

#endif  // CAIRN_ERROR_H_
