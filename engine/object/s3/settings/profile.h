// The files in which S3 clients keep their settings.
#ifndef CAIRN_ENGINE_OBJECT_S3_SETTINGS_PROFILE_H_
#define CAIRN_ENGINE_OBJECT_S3_SETTINGS_PROFILE_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"

namespace cairn::object {

// Sections in brackets, "name = value" in them. The name of a setting that stands indented below
// another one is "outer.name".
using Settings = std::map<std::string, std::string>;
using Sections = std::map<std::string, Settings>;

// kInvalidArgument with the line.
absl::StatusOr<Sections> ParseSections(const std::string& text);

// Of a file that is not there, none.
absl::StatusOr<Sections> ReadSections(const std::string& path);

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_SETTINGS_PROFILE_H_
