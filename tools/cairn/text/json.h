// JSON whose members keep their order.
#ifndef CAIRN_TOOLS_CAIRN_TEXT_JSON_H_
#define CAIRN_TOOLS_CAIRN_TEXT_JSON_H_

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace cairn::tool {

using Json = nlohmann::ordered_json;

// Lines are indented by `indent` spaces; -1 writes one line. Paths and names may be no UTF-8: the
// bytes that are not get a replacement character. All control characters are escaped, those too
// that JSON lets stand.
std::string Dump(const Json& json, int indent);

// A name for JSON: as it is when it is UTF-8 without backslashes, else with the escapes of C. No
// two names become the same.
std::string JsonName(const std::string& name);

// Whether bytes are UTF-8.
bool IsUtf8(std::string_view text);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_TEXT_JSON_H_
