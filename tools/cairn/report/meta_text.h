// The forms in which `cairn meta` shows metadata.
#ifndef CAIRN_TOOLS_CAIRN_REPORT_META_TEXT_H_
#define CAIRN_TOOLS_CAIRN_REPORT_META_TEXT_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cairn/types.h"

namespace cairn::tool {

struct LayerSize {
  bool fixed = false;  // a metalayer; otherwise a vlmetalayer
  std::string name;
  std::optional<size_t> size = {};  // bytes of the content
  std::string error = {};           // reason why the size is not known
};

// The text has a line for each layer. The keys of the object are those that docs/cli.md lists.
std::string TextOfLayerSizes(const std::vector<LayerSize>& layers);
std::string JsonOfLayerSizes(const std::vector<LayerSize>& layers);

// Returns one line for people: text unchanged, msgpack as JSON, everything else as hexadecimal
// digits.
std::string TextOfContent(Bytes content);
// Returns one line for programs: msgpack as JSON, text as a string, everything else as {"bin":
// hex}.
std::string JsonOfContent(Bytes content);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_REPORT_META_TEXT_H_
