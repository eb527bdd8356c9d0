// The values that Python programs keep in metadata.
#ifndef CAIRN_TOOLS_CAIRN_REPORT_MSGPACK_H_
#define CAIRN_TOOLS_CAIRN_REPORT_MSGPACK_H_

#include <optional>
#include <string>

#include "cairn/types.h"

namespace cairn::tool {

// JSON, in one line, of the one msgpack value that fills `content`; binary data is {"bin": hex},
// an extension {"ext": type, "bin": hex}. Nothing when content is no such value, when it nests
// deeper than 64 levels, or when a map has keys that are no strings.
std::optional<std::string> MsgpackToJson(Bytes content);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_REPORT_MSGPACK_H_
