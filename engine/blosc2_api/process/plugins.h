// Registered codecs and filters as plug-ins of Cairn.
#ifndef CAIRN_ENGINE_BLOSC2_API_PROCESS_PLUGINS_H_
#define CAIRN_ENGINE_BLOSC2_API_PROCESS_PLUGINS_H_

#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/statusor.h"

#include "cairn/registry.h"
#include "engine/blosc2_api/process/api.h"

namespace cairn::blosc2_api {

// Returns the plug-ins that a chunk with this codec and these filters needs, or null if it needs
// none. They are called with the parameters of `context`, which must outlive them. What the process
// has not registered is left out, and fails where it is used.
std::shared_ptr<const Registry> PluginsFor(blosc2_context& context, uint8_t codec,
                                           std::span<const uint8_t> filters);

}  // namespace cairn::blosc2_api

#endif  // CAIRN_ENGINE_BLOSC2_API_PROCESS_PLUGINS_H_
