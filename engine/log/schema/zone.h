// Time zones of the IANA database, by their names.
#ifndef CAIRN_ENGINE_LOG_SCHEMA_ZONE_H_
#define CAIRN_ENGINE_LOG_SCHEMA_ZONE_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"

namespace cairn::log {

// Returns the zone with a name such as "Europe/Berlin". An empty name means UTC.
// Errors: kInvalidArgument, which names the zone, if the database of the system does not have it.
absl::StatusOr<absl::TimeZone> LoadZone(std::string_view name);

// Returns when the clocks of a zone first show a time. If they jump over it, returns when they
// jump.
absl::Time FirstInstant(const absl::TimeZone& zone, const absl::CivilSecond& local);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_SCHEMA_ZONE_H_
