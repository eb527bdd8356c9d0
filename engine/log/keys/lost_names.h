// The vlmetalayers that a salvaged frame of a log has lost.
#ifndef CAIRN_ENGINE_LOG_KEYS_LOST_NAMES_H_
#define CAIRN_ENGINE_LOG_KEYS_LOST_NAMES_H_

#include <string_view>

#include "absl/status/status.h"

#include "cairn/snapshot.h"
#include "cairn/writer.h"

namespace cairn::log {

// The vlmetalayer that names the vlmetalayers which Salvage did not find, or found in an older
// state: a msgpack text such as "cairn.log.keys0, unit". A "*" stands for others.
inline constexpr std::string_view kLostMetalayersLayer = "lost_metalayers";

// Returns true if Salvage says that texts of the keys may be lost.
bool SaysThatKeysAreLost(const Snapshot& snapshot);
// Stages that the frame has a text for each code of its records.
absl::Status StageHasKeys(const Snapshot& snapshot, Writer& writer);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_KEYS_LOST_NAMES_H_
