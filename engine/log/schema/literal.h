// Literals of Python, as a NumPy dtype is written down in.
#ifndef CAIRN_ENGINE_LOG_SCHEMA_LITERAL_H_
#define CAIRN_ENGINE_LOG_SCHEMA_LITERAL_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace cairn::log {

struct Literal {
  enum class Kind : uint8_t { kText, kNumber, kWord, kList, kTuple, kDict };
  Kind kind = Kind::kNumber;
  std::string text = {};  // of a text; of a word such as True
  int64_t number = 0;
  std::vector<Literal> items = {};  // of a dictionary key, value, key, value …

  // The value of a dictionary's key; null when there is none.
  const Literal* At(std::string_view key) const;
};

// kInvalidArgument with the position for anything that is no literal, or nests deeper than a dtype
// does.
absl::StatusOr<Literal> ParseLiteral(std::string_view text);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_SCHEMA_LITERAL_H_
