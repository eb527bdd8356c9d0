#include "tools/sqlite/vfs/change_counter.h"

#include <cstring>

namespace cairn::sqlite {

namespace {

constexpr size_t kAt = 24;
constexpr size_t kAgainAt = 92;  // repeats the counter of when the header's sizes were right
constexpr size_t kSize = 4;
constexpr size_t kEnd = kChangeCounterEnd;

bool IsSame(Bytes a, Bytes b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}

bool HasCounter(Bytes page) {
  static constexpr char kMagic[] = "SQLite format 3";  // includes the zero at its end
  return page.size() >= kEnd && std::memcmp(page.data(), kMagic, sizeof kMagic) == 0 &&
         IsSame(page.subspan(kAt, kSize), page.subspan(kAgainAt, kSize));
}

}  // namespace

void PutChangeCounter(uint64_t counter, MutableBytes begin) {
  if (!HasCounter(begin)) return;
  for (size_t i = 0; i < kSize; ++i) {
    const auto digit = static_cast<std::byte>(counter >> 8 * (kSize - 1 - i));
    begin[kAt + i] = digit;
    begin[kAgainAt + i] = digit;
  }
}

bool DiffersInChangeCounterAlone(Bytes page, Bytes other) {
  constexpr size_t kBetween = kAt + kSize;
  return HasCounter(page) && HasCounter(other) && IsSame(page.first(kAt), other.first(kAt)) &&
         IsSame(page.subspan(kBetween, kAgainAt - kBetween),
                other.subspan(kBetween, kAgainAt - kBetween)) &&
         IsSame(page.subspan(kEnd), other.subspan(kEnd));
}

}  // namespace cairn::sqlite
