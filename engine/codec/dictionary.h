// Trains dictionaries for zstd.
#ifndef CAIRN_ENGINE_CODEC_DICTIONARY_H_
#define CAIRN_ENGINE_CODEC_DICTIONARY_H_

#include <span>
#include <vector>

#include "cairn/types.h"

namespace cairn::codec {

// A dictionary of at most `capacity` bytes from samples that follow each other in `samples` and
// have the given sizes. Empty when the samples do not suffice: then code without one.
std::vector<std::byte> TrainZstdDictionary(Bytes samples, std::span<const size_t> sample_sizes,
                                           size_t capacity);

}  // namespace cairn::codec

#endif  // CAIRN_ENGINE_CODEC_DICTIONARY_H_
