#include "tests/support/bytes.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <span>

namespace cairn::test {

Buffer MakeItems(size_t size, uint64_t seed) {
  std::mt19937_64 random(seed);
  Buffer items(size);
  for (size_t i = 0; i < size; ++i) items[i] = static_cast<std::byte>(1 + i % 64 + random() % 3);
  return items;
}

Buffer MakeNoise(size_t size, uint64_t seed) {
  std::mt19937_64 random(seed);
  Buffer items(size);
  for (auto to = std::span(items); !to.empty();) {
    const uint64_t word = random();
    const size_t some = std::min(to.size(), sizeof word);
    std::memcpy(to.data(), &word, some);
    to = to.subspan(some);
  }
  return items;
}

Buffer Repeated(Bytes value, size_t size) {
  Buffer all(size);
  for (size_t i = 0; i < size; ++i) all[i] = value[i % value.size()];
  return all;
}

void AddTo(Buffer& all, Bytes more) { all.insert(all.end(), more.begin(), more.end()); }

Buffer Concatenated(std::initializer_list<Buffer> parts) {
  Buffer all;
  for (const Buffer& part : parts) AddTo(all, part);
  return all;
}

Buffer FieldOf(Bytes items, size_t item_size, const FieldSpan& field) {
  Buffer values;
  for (size_t at = 0; at < items.size(); at += item_size) {
    AddTo(values,
          items.subspan(at + static_cast<size_t>(field.offset), static_cast<size_t>(field.size)));
  }
  return values;
}

}  // namespace cairn::test
