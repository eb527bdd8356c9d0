// Parts that the players of random calls share.
#ifndef CAIRN_TESTS_BLOSC2_API_RANDOM_PLAYER_H_
#define CAIRN_TESTS_BLOSC2_API_RANDOM_PLAYER_H_

#include <blosc2.h>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"

#include "tests/blosc2_api/calls.h"

namespace cairn::blosc2_api {

using Buffer = std::vector<uint8_t>;
using Lines = std::vector<std::string>;

// A line about a read whose result contradicts other reads of the same library.
inline constexpr char kWrongItems[] = "  items: not those of the chunks";

// Numbers that follow from a seed.
class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}
  // Returns a number of at least 0 and less than `end`.
  template <typename T = int>
  T Below(T end) {
    return static_cast<T>(random_() % static_cast<uint64_t>(end));
  }
  bool OneIn(int n) { return Below(n) == 0; }
  uint8_t Byte() { return static_cast<uint8_t>(random_()); }

 private:
  std::mt19937_64 random_;
};

// A record of what a program sees: one line for each call. Lines are written at once, because
// the library may end the program.
class Transcript {
 public:
  explicit Transcript(int file) : file_(file) {}
  template <typename... Args>
  void Say(const absl::FormatSpec<Args...>& format, const Args&... args) {
    Write(absl::StrFormat(format, args...) + "\n");
  }
  // Says what a call returned. All errors are alike.
  void SayCode(const char* call, int64_t code) {
    if (code < 0) {
      Say("%s: error", call);
    } else {
      Say("%s: %d", call, code);
    }
  }
  // Says which bytes there are.
  void SayBytes(const char* what, std::span<const uint8_t> bytes) {
    uint64_t hash = 14695981039346656037U;
    for (const uint8_t byte : bytes) hash = (hash ^ byte) * 1099511628211U;
    Say("%s: %d bytes %016x", what, bytes.size(), hash);
  }

 private:
  void Write(const std::string& line) const;

  int file_;
};

// Returns bytes that codecs gain from more or less.
inline Buffer MakePayload(Dice& dice, size_t size) {
  Buffer payload(size);
  const int kind = dice.Below(5);
  const uint8_t value = dice.Byte();
  for (size_t i = 0; i < size; ++i) {
    if (kind == 0) payload[i] = static_cast<uint8_t>(i / 7 + value);
    if (kind == 1) payload[i] = dice.Byte();
    if (kind == 2) payload[i] = static_cast<uint8_t>(i % 4 == 0 ? i / 64 : value);
    if (kind == 3) payload[i] = value;
  }
  return payload;
}

// Returns parameters that both libraries can keep.
inline blosc2_cparams MakeParameters(Dice& dice) {
  constexpr uint8_t kCodecs[] = {BLOSC_BLOSCLZ, BLOSC_LZ4, BLOSC_LZ4HC, BLOSC_ZLIB, BLOSC_ZSTD};
  constexpr int32_t kTypesizes[] = {1, 2, 3, 4, 8, 16};
  constexpr uint8_t kFilters[] = {BLOSC_NOFILTER, BLOSC_SHUFFLE, BLOSC_BITSHUFFLE};
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.compcode = kCodecs[dice.Below(5)];
  cparams.clevel = static_cast<uint8_t>(dice.Below(6));
  cparams.typesize = kTypesizes[dice.Below(6)];
  cparams.splitmode = 1 + dice.Below(4);
  cparams.filters[BLOSC2_MAX_FILTERS - 1] = kFilters[dice.Below(3)];
  if (dice.OneIn(3)) cparams.blocksize = cparams.typesize * (16 + dice.Below(200));
  return cparams;
}

// Plays random calls, which follow from the seed and from what the library answers, and writes down
// what it sees. Files go into `folder`, and end with their super-chunks. Chunks that the program
// brings are made by `maker`, so that both libraries get the same bytes.
void PlayChunks(const Calls& calls, const Calls& maker, uint64_t seed, const std::string& folder,
                Transcript& transcript);
void PlayArrays(const Calls& calls, uint64_t seed, const std::string& folder,
                Transcript& transcript);

// Says all that a program reads of a super-chunk, and of the array in it.
void SayContent(const Calls& calls, blosc2_schunk* schunk, Transcript& transcript);

// Runs `play` in a child and returns its lines. The last one says how the child ended if that was
// not well: C-Blosc2 does not survive everything.
Lines InChild(const std::function<void(Transcript& transcript)>& play);

}  // namespace cairn::blosc2_api

#endif  // CAIRN_TESTS_BLOSC2_API_RANDOM_PLAYER_H_
