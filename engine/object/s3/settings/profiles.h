// The profiles in the two files of S3 clients, taken together.
#ifndef CAIRN_ENGINE_OBJECT_S3_SETTINGS_PROFILES_H_
#define CAIRN_ENGINE_OBJECT_S3_SETTINGS_PROFILES_H_

#include <string>

#include "absl/status/statusor.h"

#include "engine/object/s3/settings/profile.h"

namespace cairn::object {

// Paths of the two files.
struct ProfileFiles {
  std::string credentials;
  std::string config;
};

class Profiles {
 public:
  // A file that does not exist has no profiles.
  static absl::StatusOr<Profiles> Read(const ProfileFiles& files);

  bool Has(const std::string& name) const;
  // Returns all settings of a profile. Those in the file of credentials come before those of the
  // other file, and before those of the services that profiles share.
  Settings Of(const std::string& name) const;
  // Returns the settings of a session of single sign-on.
  Settings SignOnSession(const std::string& name) const;

 private:
  Settings InConfig(const std::string& title) const;

  Sections credentials_;
  Sections config_;
};

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_SETTINGS_PROFILES_H_
