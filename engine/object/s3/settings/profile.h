// Reads the files in which S3 clients keep their settings.
#ifndef CAIRN_ENGINE_OBJECT_S3_SETTINGS_PROFILE_H_
#define CAIRN_ENGINE_OBJECT_S3_SETTINGS_PROFILE_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"

namespace cairn::object {

// Sections are in brackets, with lines "name = value". The name of a setting that is indented below
// another one is "outer.name".
using Settings = std::map<std::string, std::string>;
using Sections = std::map<std::string, Settings>;

// Errors: kInvalidArgument, with the line, if the text cannot be parsed.
absl::StatusOr<Sections> ParseSections(const std::string& text);

// Returns no sections if the file does not exist.
absl::StatusOr<Sections> ReadSections(const std::string& path);

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_SETTINGS_PROFILE_H_
