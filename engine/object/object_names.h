// The names of a frame's objects, within its prefix.
#ifndef CAIRN_ENGINE_OBJECT_OBJECT_NAMES_H_
#define CAIRN_ENGINE_OBJECT_OBJECT_NAMES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cairn::object {

// Each commit has an object, which is named after the position in the frame at which its record
// begins.
inline constexpr std::string_view kJournalPrefix = "journal/";
std::string JournalObjectName(int64_t position);
// Returns the position of a name, or nothing for any other name.
std::optional<int64_t> ParseJournalObjectName(std::string_view name);

// Lists of objects that no state names. Each is named after the second in which it was made.
inline constexpr std::string_view kGarbagePrefix = "garbage/";
std::string GarbageObjectName(int64_t seconds, uint64_t nonce);
std::optional<int64_t> ParseGarbageObjectName(std::string_view name);

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_OBJECT_NAMES_H_
