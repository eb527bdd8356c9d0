#include "tools/members/place.h"

#include <filesystem>
#include <system_error>

namespace cairn::members {

namespace {

bool Exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

bool IsDirectory(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

}  // namespace

std::optional<CollectionPlace> FindInCollection(const std::string& path) {
  std::string whole = path;
  while (whole.size() > 1 && whole.ends_with('/')) whole.pop_back();
  const bool is_directory = IsDirectory(whole);
  if (!is_directory && Exists(whole)) return std::nullopt;
  for (size_t end = whole.size(); end != std::string::npos && end > 0;
       end = whole.rfind('/', end - 1)) {
    const std::string collection = whole.substr(0, end);
    if (Exists(collection + "/chunks.b2frame")) return std::nullopt;  // a sparse frame
    if (!Exists(collection + kLedger)) continue;
    return CollectionPlace{
        .collection = collection, .name = whole.substr(end), .is_member = !is_directory};
  }
  return std::nullopt;
}

}  // namespace cairn::members
