// Paths as messages name them.
#ifndef CAIRN_ENGINE_BASE_SHOWN_PATH_H_
#define CAIRN_ENGINE_BASE_SHOWN_PATH_H_

#include <string_view>

namespace cairn {

// Returns a path without the query of a URL, which may be a secret.
inline std::string_view ShownPath(std::string_view path) {
  const bool is_url = path.starts_with("https://") || path.starts_with("http://");
  return is_url ? path.substr(0, path.find('?')) : path;
}

}  // namespace cairn

#endif  // CAIRN_ENGINE_BASE_SHOWN_PATH_H_
