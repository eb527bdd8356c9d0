// KeyTexts: the texts of a log's key field, whose records hold codes.
#ifndef CAIRN_KEY_TEXTS_H_
#define CAIRN_KEY_TEXTS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/attributes.h"

#include "cairn/types.h"

namespace cairn {

// The dictionary of one field of type kText. A record holds a code, and the dictionary has the text
// of each code. Code 0 is the empty text. A KeyTexts is immutable, cheap to copy and thread-safe.
class CAIRN_EXPORT KeyTexts {
 public:
  // Returns the number of codes. They are 0 to size() - 1.
  [[nodiscard]] int64_t size() const { return size_; }
  // Returns the text of a code, which lives as long as this object. Returns an empty text for a
  // code that the dictionary does not have.
  [[nodiscard]] std::string_view Get(uint32_t code) const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns the dictionary with more texts, whose codes follow.
  [[nodiscard]] KeyTexts With(std::vector<std::string> more) const;

 private:
  // All blocks except the last have the same number of texts. Dictionaries share blocks, so that
  // one with a few texts more is made without a copy of all.
  std::vector<std::shared_ptr<const std::vector<std::string>>> blocks_;
  int64_t size_ = 1;
};

}  // namespace cairn

#endif  // CAIRN_KEY_TEXTS_H_
