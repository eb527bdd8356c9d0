// The smallest frames of each format before today's, made by hand.
#ifndef CAIRN_TESTS_FORMAT_LEGACY_FRAMES_H_
#define CAIRN_TESTS_FORMAT_LEGACY_FRAMES_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "cairn/types.h"

namespace cairn::test {

// All of these frames hold this, with typesize 4, in a chunk of 8 bytes and one of 4.
inline constexpr std::string_view kLegacyContent = "0102030405060708090a0b0c";

std::vector<std::byte> Frame2019();
// Has the metalayer m = "ab".
std::vector<std::byte> Frame2019WithLayer();

enum class BetaTrailerForm { kBeta2, kBeta4 };
// Has usermeta "user".
std::vector<std::byte> BetaFrame(BetaTrailerForm form);

// The content of a chunk of nine one-byte items, bitshuffled. The rule of Blosc 1 leaves them as
// they are.
inline constexpr std::string_view kWholeBlockContent = "aaaaccccf0f00f0f11";
std::vector<std::byte> BitshuffledFrame2019();
std::vector<std::byte> BitshuffledBetaFrame(BetaTrailerForm form);

struct PackedParts {
  std::vector<std::vector<std::byte>> data;
  std::vector<std::byte> reference = {};  // of additive DELTA; empty: no DELTA
  std::vector<std::byte> metadata = {};
  std::vector<std::byte> userdata = {};
};
std::vector<std::byte> MakePacked(const PackedParts& parts);
// Has metadata "meta" and userdata "user".
std::vector<std::byte> PackedFrame();
// Has that content too, coded against a reference of six bytes.
std::vector<std::byte> PackedDeltaFrame();

}  // namespace cairn::test

#endif  // CAIRN_TESTS_FORMAT_LEGACY_FRAMES_H_
