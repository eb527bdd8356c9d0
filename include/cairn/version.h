// The version of Cairn that a program is compiled against: major.minor.patch.
#ifndef CAIRN_VERSION_H_
#define CAIRN_VERSION_H_

// For the preprocessor: `#if CAIRN_VERSION_MAJOR > 0 || CAIRN_VERSION_MINOR >= 2`.
#define CAIRN_VERSION_MAJOR 0
#define CAIRN_VERSION_MINOR 1
#define CAIRN_VERSION_PATCH 0

#if defined(__cplusplus) && __cplusplus >= 201703L
#include <string_view>

namespace cairn {

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace cairn
#endif

#endif  // CAIRN_VERSION_H_
