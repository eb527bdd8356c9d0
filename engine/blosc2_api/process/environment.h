// The variables of the environment that replace parameters.
#ifndef CAIRN_ENGINE_BLOSC2_API_PROCESS_ENVIRONMENT_H_
#define CAIRN_ENGINE_BLOSC2_API_PROCESS_ENVIRONMENT_H_

#include <cstdint>
#include <optional>

namespace cairn::blosc2_api {

// Each of these returns what its variable says, or nothing if it is not set or not understood.
std::optional<int> ShuffleOfEnvironment();        // BLOSC_SHUFFLE: a filter
std::optional<bool> DeltaOfEnvironment();         // BLOSC_DELTA
std::optional<int32_t> TypesizeOfEnvironment();   // BLOSC_TYPESIZE
std::optional<int> ClevelOfEnvironment();         // BLOSC_CLEVEL
std::optional<int32_t> BlocksizeOfEnvironment();  // BLOSC_BLOCKSIZE
std::optional<int16_t> NthreadsOfEnvironment();   // BLOSC_NTHREADS
std::optional<int32_t> SplitmodeOfEnvironment();  // BLOSC_SPLITMODE
const char* CompressorOfEnvironment();            // BLOSC_COMPRESSOR: a name, or null
bool NthreadsIsSet();                             // BLOSC_NTHREADS, to whatever
bool WantsBlosc1();                               // BLOSC_BLOSC1_COMPAT
bool WantsTrace();                                // BLOSC_TRACE
bool WantsLocking();                              // BLOSC_LOCKING, neither empty nor 0
bool WantsJournal();                              // CAIRN_BLOSC2_JOURNAL=1
bool WantsSyncs();                                // unless CAIRN_BLOSC2_SYNC=0

// Puts a shuffle, or none, into the last of the filters, and delta before it. A negative `shuffle`
// leaves the filters as they are.
void PlaceFilters(int shuffle, bool delta, int32_t typesize, uint8_t* filters);

}  // namespace cairn::blosc2_api

#endif  // CAIRN_ENGINE_BLOSC2_API_PROCESS_ENVIRONMENT_H_
