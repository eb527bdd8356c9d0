// Compiled once for all sources of the engine. Each still includes what it uses: builds with
// -Db_pch=false see to it.
#ifndef CAIRN_ENGINE_PCH_ENGINE_H_
#define CAIRN_ENGINE_PCH_ENGINE_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <concepts>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"

#endif  // CAIRN_ENGINE_PCH_ENGINE_H_
