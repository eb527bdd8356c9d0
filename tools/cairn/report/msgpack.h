// Shows the values that Python programs keep in metadata.
#ifndef CAIRN_TOOLS_CAIRN_REPORT_MSGPACK_H_
#define CAIRN_TOOLS_CAIRN_REPORT_MSGPACK_H_

#include <optional>
#include <string>

#include "cairn/types.h"

namespace cairn::tool {

// Returns JSON, in one line, of the one msgpack value that fills `content`. Binary data is {"bin":
// hex}, and an extension is {"ext": type, "bin": hex}. Returns nothing if the content is not such a
// value, if it nests deeper than 64 levels, or if a map has keys that are not strings.
std::optional<std::string> MsgpackToJson(Bytes content);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_REPORT_MSGPACK_H_
