// Plug-ins that are known by name, and loaded when they are first needed.
#ifndef CAIRN_ENGINE_BLOSC2_API_PROCESS_PLUGIN_LIBRARY_H_
#define CAIRN_ENGINE_BLOSC2_API_PROCESS_PLUGIN_LIBRARY_H_

#include "engine/blosc2_api/process/api.h"

namespace cairn::blosc2_api {

// Set the functions of a codec or a filter from the library libblosc2_NAME.so, which the dynamic
// loader finds, or a Python package blosc2_NAME. Return false if there is none, or if it lacks the
// functions. A library that has them is never unloaded.
bool LoadCodec(blosc2_codec& codec);
bool LoadFilter(blosc2_filter& filter);

}  // namespace cairn::blosc2_api

#endif  // CAIRN_ENGINE_BLOSC2_API_PROCESS_PLUGIN_LIBRARY_H_
