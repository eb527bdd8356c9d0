// The names of codecs and filters in messages.
#ifndef CAIRN_ENGINE_BASE_NAMES_H_
#define CAIRN_ENGINE_BASE_NAMES_H_

#include <string>
#include <string_view>

#include "cairn/types.h"

namespace cairn {

// Return the name, such as "zfp_acc" or "trunc_prec". A codec or a filter of a program's own has
// none here.
std::string_view NameOf(Codec codec);
std::string_view NameOf(Filter filter);

// Return the name as it follows an id in a message: " (zfp_acc)" after "codec id 33". Where there
// is no name, they return nothing.
std::string ShownName(Codec codec);
std::string ShownName(Filter filter);

}  // namespace cairn

#endif  // CAIRN_ENGINE_BASE_NAMES_H_
