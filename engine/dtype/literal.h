// Parses the literals of Python in which a NumPy dtype is written.
#ifndef CAIRN_ENGINE_DTYPE_LITERAL_H_
#define CAIRN_ENGINE_DTYPE_LITERAL_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace cairn::dtype {

struct Literal {
  enum class Kind : uint8_t { kText, kNumber, kList, kTuple, kDict };
  Kind kind = Kind::kText;
  std::string text = {};
  int64_t number = 0;               // True and False are 1 and 0
  std::vector<Literal> items = {};  // of a dictionary: a key, its value, the next key, ...

  // Returns the value of a dictionary's key. Returns null if there is none.
  const Literal* At(std::string_view key) const;
};

// Errors: kInvalidArgument, with the position, if the text is not a literal or is nested more
// deeply than dtypes are.
absl::StatusOr<Literal> ParseLiteral(std::string_view text);

}  // namespace cairn::dtype

#endif  // CAIRN_ENGINE_DTYPE_LITERAL_H_
