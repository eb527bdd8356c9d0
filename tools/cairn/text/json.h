// JSON whose members keep their order.
#ifndef CAIRN_TOOLS_CAIRN_TEXT_JSON_H_
#define CAIRN_TOOLS_CAIRN_TEXT_JSON_H_

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace cairn::tool {

using Json = nlohmann::ordered_json;

// Returns JSON whose lines are indented by `indent` spaces; -1 writes one line. Paths and names may
// not be UTF-8: the bytes that are not get a replacement character. All control characters are
// escaped, even those that JSON allows.
std::string Dump(const Json& json, int indent);

// Returns a name for JSON: unchanged if it is UTF-8 without backslashes, otherwise with the escapes
// of C. No two names become equal.
std::string JsonName(const std::string& name);

// Returns true if the bytes are UTF-8.
bool IsUtf8(std::string_view text);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_TEXT_JSON_H_
