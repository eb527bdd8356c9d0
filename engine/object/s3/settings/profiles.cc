#include "engine/object/s3/settings/profiles.h"

#include <utility>

#include "engine/base/status.h"

namespace cairn::object {

namespace {

std::string TitleOf(const std::string& name) {
  return name == "default" ? name : "profile " + name;
}

Settings Section(const Sections& sections, const std::string& title) {
  const auto found = sections.find(title);
  return found == sections.end() ? Settings() : found->second;
}

}  // namespace

absl::StatusOr<Profiles> Profiles::Read(const ProfileFiles& files) {
  Profiles read;
  CAIRN_ASSIGN_OR_RETURN(read.credentials_, ReadSections(files.credentials));
  CAIRN_ASSIGN_OR_RETURN(read.config_, ReadSections(files.config));
  return read;
}

bool Profiles::Has(const std::string& name) const {
  return credentials_.contains(name) || config_.contains(TitleOf(name));
}

Settings Profiles::Of(const std::string& name) const {
  Settings settings = Section(credentials_, name);
  settings.merge(InConfig(TitleOf(name)));
  if (const auto services = settings.find("services"); services != settings.end()) {
    settings.merge(InConfig("services " + services->second));
  }
  return settings;
}

Settings Profiles::SignOnSession(const std::string& name) const {
  return InConfig("sso-session " + name);
}

Settings Profiles::InConfig(const std::string& title) const { return Section(config_, title); }

}  // namespace cairn::object
