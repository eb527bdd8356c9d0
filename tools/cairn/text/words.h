// The words that flags, text and JSON use for the numbers of the format.
#ifndef CAIRN_TOOLS_CAIRN_TEXT_WORDS_H_
#define CAIRN_TOOLS_CAIRN_TEXT_WORDS_H_

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"

#include "cairn/types.h"

namespace cairn::tool {

template <typename T>
struct Word {
  T value;
  std::string_view name;
};

inline constexpr std::array<Word<Codec>, 12> kCodecWords = {{
    {Codec::kBloscLz, "blosclz"},
    {Codec::kLz4, "lz4"},
    {Codec::kLz4Hc, "lz4hc"},
    {Codec::kZlib, "zlib"},
    {Codec::kZstd, "zstd"},
    {Codec::kNdlz, "ndlz"},
    {Codec::kZfpAccuracy, "zfp_acc"},
    {Codec::kZfpPrecision, "zfp_prec"},
    {Codec::kZfpRate, "zfp_rate"},
    {Codec::kPco, "pco"},
    {Codec::kBitpack, "bitpack"},
    {Codec::kAuto, "auto"},
}};

inline constexpr std::array<Word<Filter>, 10> kFilterWords = {{
    {Filter::kNone, "none"},
    {Filter::kShuffle, "shuffle"},
    {Filter::kBitShuffle, "bitshuffle"},
    {Filter::kDelta, "delta"},
    {Filter::kTruncPrec, "trunc_prec"},
    {Filter::kNdCell, "ndcell"},
    {Filter::kNdMean, "ndmean"},
    {Filter::kByteDeltaBuggy, "bytedelta_buggy"},
    {Filter::kByteDelta, "bytedelta"},
    {Filter::kIntTrunc, "int_trunc"},
}};

inline constexpr std::array<Word<SplitMode>, 4> kSplitModeWords = {{
    {SplitMode::kAlways, "always"},
    {SplitMode::kNever, "never"},
    {SplitMode::kAuto, "auto"},
    {SplitMode::kForwardCompat, "forward"},
}};

inline constexpr std::array<Word<Era>, 4> kEraWords = {{
    {Era::kPacked2015, "packed-2015"},
    {Era::kFrame2019, "2019"},
    {Era::kBeta, "beta"},
    {Era::kCurrent, "current"},
}};

inline constexpr std::array<Word<FingerprintType>, 4> kFingerprintWords = {{
    {FingerprintType::kNone, "none"},
    {FingerprintType::k32Bit, "xxh32"},
    {FingerprintType::k64Bit, "xxh3-64"},
    {FingerprintType::k128Bit, "xxh3-128"},
}};

inline constexpr std::array<Word<SpecialValue>, 5> kSpecialWords = {{
    {SpecialValue::kNone, "none"},
    {SpecialValue::kZeros, "zeros"},
    {SpecialValue::kNans, "nans"},
    {SpecialValue::kRepeat, "repeat"},
    {SpecialValue::kUninit, "uninit"},
}};

inline constexpr std::array<Word<Durability>, 2> kDurabilityWords = {{
    {Durability::kProcess, "process"},
    {Durability::kMachine, "machine"},
}};

template <typename T, size_t N>
std::optional<T> FindWord(const std::array<Word<T>, N>& words, std::string_view name) {
  for (const Word<T>& word : words) {
    if (word.name == name) return word.value;
  }
  return std::nullopt;
}

// Returns the number itself if it has no name.
template <typename T, size_t N>
std::string NameOf(const std::array<Word<T>, N>& words, T value) {
  for (const Word<T>& word : words) {
    if (word.value == value) return std::string(word.name);
  }
  return absl::StrCat(static_cast<int>(value));
}

template <typename T, size_t N>
std::vector<std::string> NamesOf(const std::array<Word<T>, N>& words) {
  std::vector<std::string> names;
  for (const Word<T>& word : words) names.emplace_back(word.name);
  return names;
}

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_TEXT_WORDS_H_
