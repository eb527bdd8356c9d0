// Arrays of python-blosc2 that are computed when they are read. Their chunks hold no data.
#ifndef CAIRN_ENGINE_FORMAT_RECIPE_H_
#define CAIRN_ENGINE_FORMAT_RECIPE_H_

#include <string>
#include <vector>

#include "cairn/types.h"

namespace cairn::format {

// Returns the kind of recipe that the metalayers name, such as "LazyExpr" or "Proxy". Returns an
// empty string for a frame whose chunks hold its data.
std::string RecipeOf(const std::vector<Metalayer>& metalayers);

}  // namespace cairn::format

#endif  // CAIRN_ENGINE_FORMAT_RECIPE_H_
