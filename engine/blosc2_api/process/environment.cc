#include "engine/blosc2_api/process/environment.h"

#include <cstdlib>
#include <string_view>

#include "engine/blosc2_api/process/api.h"

namespace cairn::blosc2_api {

namespace {

std::optional<std::string_view> Variable(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  return value;
}

// Returns a number of at least `least`. What is no number counts as 0, as in C-Blosc2.
template <typename T>
std::optional<T> NumberOf(const char* name, long least) {
  const char* const value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  const long number = std::strtol(value, nullptr, 10);
  if (number < least) return std::nullopt;
  return static_cast<T>(number);
}

}  // namespace

std::optional<int> ShuffleOfEnvironment() {
  const std::optional<std::string_view> value = Variable("BLOSC_SHUFFLE");
  if (value == "NOSHUFFLE") return BLOSC_NOSHUFFLE;
  if (value == "SHUFFLE") return BLOSC_SHUFFLE;
  if (value == "BITSHUFFLE") return BLOSC_BITSHUFFLE;
  return std::nullopt;
}

std::optional<bool> DeltaOfEnvironment() {
  const std::optional<std::string_view> value = Variable("BLOSC_DELTA");
  if (value == "1") return true;
  if (value == "0") return false;
  return std::nullopt;
}

std::optional<int32_t> SplitmodeOfEnvironment() {
  const std::optional<std::string_view> value = Variable("BLOSC_SPLITMODE");
  if (value == "ALWAYS") return BLOSC_ALWAYS_SPLIT;
  if (value == "NEVER") return BLOSC_NEVER_SPLIT;
  if (value == "AUTO") return BLOSC_AUTO_SPLIT;
  if (value == "FORWARD_COMPAT") return BLOSC_FORWARD_COMPAT_SPLIT;
  return std::nullopt;
}

std::optional<int32_t> TypesizeOfEnvironment() { return NumberOf<int32_t>("BLOSC_TYPESIZE", 1); }
std::optional<int> ClevelOfEnvironment() { return NumberOf<int>("BLOSC_CLEVEL", 0); }
std::optional<int32_t> BlocksizeOfEnvironment() { return NumberOf<int32_t>("BLOSC_BLOCKSIZE", 1); }
std::optional<int16_t> NthreadsOfEnvironment() { return NumberOf<int16_t>("BLOSC_NTHREADS", 1); }
const char* CompressorOfEnvironment() { return std::getenv("BLOSC_COMPRESSOR"); }
bool NthreadsIsSet() { return Variable("BLOSC_NTHREADS").has_value(); }
bool WantsBlosc1() { return Variable("BLOSC_BLOSC1_COMPAT").has_value(); }
bool WantsJournal() { return Variable("CAIRN_BLOSC2_JOURNAL") == "1"; }
bool WantsSyncs() { return Variable("CAIRN_BLOSC2_SYNC") != "0"; }
bool WantsLocking() {
  const std::string_view value = Variable("BLOSC_LOCKING").value_or("");
  return !value.empty() && value != "0";
}
bool WantsTrace() { return Variable("BLOSC_TRACE").has_value(); }

void PlaceFilters(int shuffle, bool delta, int32_t typesize, uint8_t* filters) {
  if (shuffle == BLOSC_SHUFFLE && typesize > 1) filters[BLOSC2_MAX_FILTERS - 1] = BLOSC_SHUFFLE;
  if (shuffle == BLOSC_BITSHUFFLE || shuffle == BLOSC_NOSHUFFLE) {
    filters[BLOSC2_MAX_FILTERS - 1] = static_cast<uint8_t>(shuffle);
  }
  if (delta) filters[BLOSC2_MAX_FILTERS - 2] = BLOSC_DELTA;
}

}  // namespace cairn::blosc2_api
