#include "engine/object/s3/settings/lookup.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

#include "engine/base/status.h"

namespace cairn::object {

absl::StatusOr<Lookup> Lookup::Read(Variables variables) {
  Lookup read(variables);
  const std::string home = read.Variable({"HOME"});
  const auto path = [&](const char* name, const char* usual) {
    const std::string given = read.Variable({name});
    return given.empty() ? absl::StrCat(home, usual) : given;
  };
  read.files_ = {.credentials = path("AWS_SHARED_CREDENTIALS_FILE", "/.aws/credentials"),
                 .config = path("AWS_CONFIG_FILE", "/.aws/config")};
  CAIRN_ASSIGN_OR_RETURN(read.profiles_, Profiles::Read(read.files_));
  const std::string given = read.Variable({"AWS_PROFILE"});
  read.profile_ = given.empty() ? "default" : given;
  if (!given.empty() && !read.profiles_.Has(given)) {
    return absl::NotFoundError("AWS_PROFILE: no file has the profile " + given);
  }
  read.settings_ = read.profiles_.Of(read.profile_);
  return read;
}

std::string Lookup::Get(std::initializer_list<const char*> names, const char* setting) const {
  std::string value = Variable(names);
  return value.empty() ? Setting(setting) : value;
}

std::string Lookup::Variable(std::initializer_list<const char*> names) const {
  for (const char* const name : names) {
    if (std::string value = variables_(name); !value.empty()) return value;
  }
  return {};
}

std::string Lookup::Setting(const std::string& name) const { return SettingOf(settings_, name); }

absl::StatusOr<bool> Lookup::Flag(const char* variable, const char* setting) const {
  const std::string value = absl::AsciiStrToLower(Get({variable}, setting));
  if (value == "true" || value == "yes" || value == "on" || value == "1") return true;
  if (value.empty() || value == "false" || value == "no" || value == "off" || value == "0") {
    return false;
  }
  return absl::InvalidArgumentError(
      absl::StrCat(variable, ": expected true or false, got ", value));
}

std::string SettingOf(const Settings& settings, const std::string& name) {
  const auto found = settings.find(name);
  return found == settings.end() ? std::string() : found->second;
}

}  // namespace cairn::object
