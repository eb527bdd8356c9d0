// Small functions on spans of bytes.
#ifndef CAIRN_ENGINE_BASE_BYTES_H_
#define CAIRN_ENGINE_BASE_BYTES_H_

#include <cstddef>
#include <cstring>
#include <string_view>
#include <vector>

#include "cairn/types.h"
#include "engine/base/check.h"

namespace cairn {

// Copies all of `from` to the start of `to`, which is as long or longer.
inline void CopyBytes(Bytes from, MutableBytes to) {
  CAIRN_DCHECK(from.size() <= to.size());
  if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
}

inline void FillBytes(MutableBytes to, std::byte value) {
  if (!to.empty()) std::memset(to.data(), std::to_integer<int>(value), to.size());
}

inline Bytes AsBytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

inline std::string_view AsText(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline std::vector<std::byte> ToVector(Bytes bytes) { return {bytes.begin(), bytes.end()}; }

// Compares many bytes at a time, as std::ranges::equal does not.
inline bool AreEqual(Bytes a, Bytes b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

// Returns true if every byte equals the first one: a run equals itself shifted by one. Returns
// false for an empty span. The comparison of two bytes comes first because it rules out most spans
// that are not runs.
inline bool IsRun(Bytes bytes) {
  return !bytes.empty() && bytes.front() == bytes.back() &&
         std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

// Returns true if every byte is zero. Returns false for an empty span.
inline bool IsRunOfZeros(Bytes bytes) { return IsRun(bytes) && bytes[0] == std::byte{0}; }

}  // namespace cairn

#endif  // CAIRN_ENGINE_BASE_BYTES_H_
