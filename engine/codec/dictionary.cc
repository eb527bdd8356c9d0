#include "engine/codec/dictionary.h"

#include <climits>
#include <zdict.h>

namespace cairn::codec {

namespace {

bool AllInside(std::span<const size_t> sizes, size_t limit) {
  for (const size_t size : sizes) {
    if (size > limit) return false;
    limit -= size;
  }
  return true;
}

}  // namespace

std::vector<std::byte> TrainZstdDictionary(Bytes samples, std::span<const size_t> sample_sizes,
                                           size_t capacity) {
  if (sample_sizes.size() > UINT_MAX || !AllInside(sample_sizes, samples.size())) return {};
  std::vector<std::byte> dict(capacity);
  const size_t size =
      ZDICT_trainFromBuffer(dict.data(), capacity, samples.data(), sample_sizes.data(),
                            static_cast<unsigned>(sample_sizes.size()));
  dict.resize(ZDICT_isError(size) ? 0 : size);
  return dict;
}

}  // namespace cairn::codec
