#include "tests/interop/data.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace cairn::interop {
namespace {

constexpr std::array<std::string_view, 16> kWords = {
    "stone",  "river ", "north ", "wind, ", "hundred ", "path ", "of ",   "and ",
    "seven ", "moor ",  "the ",   "quartz", " lantern", " a ",   "heath", "granite\n"};

// The low bytes of `value`, padded with zeros or cut to the item's size.
void PutInteger(uint64_t value, MutableBytes item) {
  std::memcpy(item.data(), &value, std::min(item.size(), sizeof value));
}

void PutFloat(double value, MutableBytes item) {
  const auto narrow = static_cast<float>(value);
  if (item.size() >= sizeof value) return void(std::memcpy(item.data(), &value, sizeof value));
  std::memcpy(item.data(), &narrow, std::min(item.size(), sizeof narrow));
}

// A record: a counter, a small number, a float, then constant bytes.
void PutRecord(size_t index, Random& random, MutableBytes item) {
  std::ranges::fill(item, std::byte{0x20});
  PutInteger(index, item.first(std::min<size_t>(item.size(), 4)));
  if (item.size() >= 8) PutInteger(random() % 10, item.subspan(4, 2));
  if (item.size() >= 12) PutFloat(std::sqrt(static_cast<double>(index)), item.subspan(8, 4));
}

void FillText(MutableBytes bytes, Random& random) {
  for (size_t done = 0; done < bytes.size();) {
    const std::string_view word = Pick(random, kWords);
    const size_t count = std::min(word.size(), bytes.size() - done);
    std::memcpy(bytes.data() + done, word.data(), count);
    done += count;
  }
}

void PutItem(DataKind kind, size_t index, uint64_t* state, Random& random, MutableBytes item) {
  switch (kind) {
    case DataKind::kWalk:
      *state += random() % 7;
      return PutInteger(*state, item);
    case DataKind::kSine:
      return PutFloat(100 * std::sin(static_cast<double>(index) / 200), item);
    case DataKind::kSparse:
      return PutInteger(random() % 20 == 0 ? random() : 0, item);
    case DataKind::kRecords:
      return PutRecord(index, random, item);
    default:
      return PutInteger(random(), item);
  }
}

}  // namespace

std::string_view ToString(DataKind kind) {
  constexpr std::string_view kNames[] = {"zeros", "constant", "random", "walk",
                                         "sine",  "text",     "sparse", "records"};
  return kNames[static_cast<size_t>(kind)];
}

Buffer MakeData(DataKind kind, size_t size, int32_t typesize, Random& random) {
  Buffer data(size);
  if (kind == DataKind::kZeros) return data;
  if (kind == DataKind::kConstant) {
    std::ranges::fill(data, static_cast<std::byte>(random() % 255 + 1));
    return data;
  }
  if (kind == DataKind::kText) {
    FillText(data, random);
    return data;
  }
  // Random data is random in every byte, whatever the item's size.
  const size_t step = kind == DataKind::kRandom ? 8 : static_cast<size_t>(typesize);
  uint64_t state = random() % 1000;
  for (size_t i = 0; i * step < size; ++i) {
    PutItem(kind, i, &state, random,
            MutableBytes(data).subspan(i * step, std::min(step, size - i * step)));
  }
  return data;
}

int64_t Between(Random& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

}  // namespace cairn::interop
