#include "tools/cairn/text/suggestion.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "absl/strings/str_format.h"

namespace cairn::tool {

namespace {

// Returns how many letters must be inserted, deleted or replaced to get from one word to the other.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);  // distances from the beginning of `a` so far
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

std::string_view WithoutDashes(std::string_view word) {
  return word.substr(std::min(word.find_first_not_of('-'), word.size()));
}

}  // namespace

std::string SuggestOneOf(const std::vector<std::string>& words, std::string_view word) {
  const std::string_view typed = WithoutDashes(word);
  size_t least = (typed.size() + 2) / 3 + 1;
  std::string_view nearest;
  for (const std::string& candidate : words) {
    const std::string_view meant = WithoutDashes(candidate);
    // First letters are rarely mistyped: a user who asks to unpack does not want to pack.
    if (typed.empty() || !meant.starts_with(typed.front())) continue;
    const size_t distance = meant.starts_with(typed) ? 1 : EditDistance(typed, meant);
    if (distance >= least) continue;
    least = distance;
    nearest = candidate;
  }
  return nearest.empty() ? "" : absl::StrFormat(" (did you mean '%s'?)", nearest);
}

}  // namespace cairn::tool
