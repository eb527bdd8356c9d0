// Checks compression options and brings them into the form of a chunk header.
#ifndef CAIRN_ENGINE_CHUNK_ENCODE_OPTIONS_H_
#define CAIRN_ENGINE_CHUNK_ENCODE_OPTIONS_H_

#include <array>
#include <cstdint>

#include "absl/status/status.h"

#include "cairn/options.h"
#include "cairn/types.h"

namespace cairn::chunk {

// kInvalidArgument naming the option that cannot be, kUnimplemented for a filter that Cairn only
// decodes.
absl::Status CheckOptions(const CompressionOptions& options);

// The filters at the end of the six slots, where every Blosc puts them.
std::array<FilterStage, kMaxFilters> SlotsOf(const CompressionOptions& options);

// The typesize that a chunk header can hold: above 255 it is 1.
uint8_t HeaderTypesize(int32_t typesize);

}  // namespace cairn::chunk

#endif  // CAIRN_ENGINE_CHUNK_ENCODE_OPTIONS_H_
