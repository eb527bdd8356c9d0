// Writes errors on standard error.
#ifndef CAIRN_TOOLS_CAIRN_TEXT_COMPLAIN_H_
#define CAIRN_TOOLS_CAIRN_TEXT_COMPLAIN_H_

#include <string_view>

namespace cairn::tool {

// Reports an error in one line.
void Complain(std::string_view message);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_TEXT_COMPLAIN_H_
