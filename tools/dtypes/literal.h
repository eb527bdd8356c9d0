// Literals of Python, as the names of NumPy's types are written.
#ifndef CAIRN_TOOLS_DTYPES_LITERAL_H_
#define CAIRN_TOOLS_DTYPES_LITERAL_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace cairn::dtypes {

struct Literal {
  enum class Kind : uint8_t { kText, kNumber, kList, kTuple, kDict } kind = Kind::kText;
  std::string text = {};
  int64_t number = 0;               // True and False are 1 and 0
  std::vector<Literal> items = {};  // of a dictionary a key, its value, a key, ...

  // The value of a key; null: none.
  const Literal* At(std::string_view key) const;
};

// kInvalidArgument.
absl::StatusOr<Literal> ParseLiteral(std::string_view text);

}  // namespace cairn::dtypes

#endif  // CAIRN_TOOLS_DTYPES_LITERAL_H_
