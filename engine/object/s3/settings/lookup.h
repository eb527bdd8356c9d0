// Looks settings up in variables, and after them in the profile that they name.
#ifndef CAIRN_ENGINE_OBJECT_S3_SETTINGS_LOOKUP_H_
#define CAIRN_ENGINE_OBJECT_S3_SETTINGS_LOOKUP_H_

#include <initializer_list>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

#include "engine/object/s3/settings/profiles.h"

namespace cairn::object {

// Returns the value of a variable, or an empty text if it is not set.
using Variables = absl::FunctionRef<std::string(const char* name)>;

class Lookup {
 public:
  // Errors: kNotFound if no file has the profile that a variable names.
  static absl::StatusOr<Lookup> Read(Variables variables);

  // Returns the first of these variables that is set, or else the setting.
  std::string Get(std::initializer_list<const char*> names, const char* setting) const;
  std::string Variable(std::initializer_list<const char*> names) const;
  std::string Setting(const std::string& name) const;
  // Returns true if the value means yes. Errors: kInvalidArgument if it means neither yes nor no.
  absl::StatusOr<bool> Flag(const char* variable, const char* setting) const;

  const std::string& profile() const { return profile_; }
  const ProfileFiles& files() const { return files_; }
  const Profiles& profiles() const { return profiles_; }

 private:
  explicit Lookup(Variables variables) : variables_(variables) {}

  Variables variables_;
  ProfileFiles files_;
  Profiles profiles_;
  std::string profile_;
  Settings settings_;
};

// Returns an empty text if there is no such setting.
std::string SettingOf(const Settings& settings, const std::string& name);

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_SETTINGS_LOOKUP_H_
