// Guesses the word that a mistyped word was meant to be.
#ifndef CAIRN_TOOLS_CAIRN_TEXT_SUGGESTION_H_
#define CAIRN_TOOLS_CAIRN_TEXT_SUGGESTION_H_

#include <string>
#include <string_view>
#include <vector>

namespace cairn::tool {

// Returns " (did you mean 'verify'?)" if one of `words` is near `word`, else nothing.
std::string SuggestOneOf(const std::vector<std::string>& words, std::string_view word);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_TEXT_SUGGESTION_H_
