// The names of codecs and filters in messages.
#ifndef CAIRN_ENGINE_BASE_NAMES_H_
#define CAIRN_ENGINE_BASE_NAMES_H_

#include <string>
#include <string_view>

#include "cairn/types.h"

namespace cairn {

// Returns "zfp_acc", or nothing for a codec of a program's own.
std::string_view NameOf(Codec codec);

// Returns " (zfp_acc)", which follows "codec id 33" in a message. It is empty for a codec of a
// program's own.
std::string ShownName(Codec codec);
// Does so for a filter: " (trunc_prec)" follows "filter id 4".
std::string ShownName(Filter filter);

}  // namespace cairn

#endif  // CAIRN_ENGINE_BASE_NAMES_H_
