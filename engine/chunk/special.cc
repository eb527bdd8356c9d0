#include "engine/chunk/special.h"

#include <algorithm>
#include <array>

#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/base/status.h"

namespace cairn::chunk {

namespace {

// Repeats `pattern`, beginning inside it at `phase`.
void FillPattern(Bytes pattern, size_t phase, MutableBytes dst) {
  size_t done = 0;
  while (done < dst.size() && done < pattern.size()) {  // one period, byte by byte
    dst[done++] = pattern[phase];
    phase = phase + 1 == pattern.size() ? 0 : phase + 1;
  }
  while (done < dst.size()) {  // then double what is there
    const size_t n = std::min(done, dst.size() - done);
    CopyBytes(dst.first(n), dst.subspan(done, n));
    done += n;
  }
}

}  // namespace

absl::Status FillSpecial(const SpecialContent& content, int64_t begin, MutableBytes dst) {
  std::array<std::byte, 8> nan{};
  Bytes pattern;
  switch (content.kind) {
    case SpecialValue::kNone:
    case SpecialValue::kZeros:
    case SpecialValue::kUninit:
      FillBytes(dst, std::byte{0});
      return absl::OkStatus();
    case SpecialValue::kNans:
      if (content.typesize == 4) {
        StoreLe<uint32_t>(nan.data(), 0x7FC00000);
        pattern = Bytes(nan).first(4);
      } else if (content.typesize == 8) {
        StoreLe<uint64_t>(nan.data(), 0x7FF8000000000000);
        pattern = nan;
      } else {
        return DataLoss("chunk of NaNs: typesize: expected 4 or 8, got %d", content.typesize);
      }
      break;
    case SpecialValue::kRepeat:
      pattern = content.value;
      break;
  }
  if (pattern.empty()) return DataLoss("chunk of a repeated value: the value is empty");
  FillPattern(pattern, static_cast<size_t>(begin) % pattern.size(), dst);
  return absl::OkStatus();
}

}  // namespace cairn::chunk
