#include "engine/log/schema/zone.h"

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"

#include "engine/base/status.h"

namespace cairn::log {

namespace {

// A name leads to a file of the database, so no name may lead out of its folder.
bool IsZoneName(std::string_view name) {
  const auto fits = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '/' || c == '+' ||
           c == '-';
  };
  return name.size() < 256 && !name.starts_with('/') && std::ranges::all_of(name, fits);
}

}  // namespace

absl::StatusOr<absl::TimeZone> LoadZone(std::string_view name) {
  absl::TimeZone zone = absl::UTCTimeZone();
  if (name.empty()) return zone;
  if (IsZoneName(name) && absl::LoadTimeZone(std::string(name), &zone)) return zone;
  return InvalidArgument(
      "time zone '%s': expected a name such as Europe/Berlin, which the time zones of this system "
      "(tzdata) contain",
      name);
}

absl::Time FirstInstant(const absl::TimeZone& zone, const absl::CivilSecond& local) {
  const absl::TimeZone::TimeInfo found = zone.At(local);
  return found.kind == absl::TimeZone::TimeInfo::SKIPPED ? found.trans : found.pre;
}

}  // namespace cairn::log
