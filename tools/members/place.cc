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

constexpr char kPacked[] = ".b2z";

}  // namespace

bool IsStoreFile(const std::string& path) {
  std::error_code error;
  return (path.ends_with(kPacked) || path.ends_with(".b2e")) &&
         std::filesystem::is_regular_file(path, error);
}

std::optional<CollectionPlace> FindInCollection(const std::string& path) {
  std::string whole = path;
  while (whole.size() > 1 && whole.ends_with('/')) whole.pop_back();
  const bool is_directory = IsDirectory(whole);
  if (!is_directory && Exists(whole)) {
    if (!whole.ends_with(kPacked) || !IsStoreFile(whole)) return std::nullopt;
    return CollectionPlace{.collection = whole, .name = {}};
  }
  for (size_t end = whole.size(); end != std::string::npos && end > 0;
       end = whole.rfind('/', end - 1)) {
    const std::string collection = whole.substr(0, end);
    if (Exists(collection + "/chunks.b2frame")) return std::nullopt;  // a sparse frame
    if (!IsStoreFile(collection) && !Exists(collection + kLedger)) continue;
    return CollectionPlace{
        .collection = collection, .name = whole.substr(end), .is_member = !is_directory};
  }
  return std::nullopt;
}

}  // namespace cairn::members
