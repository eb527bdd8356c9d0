// Compiled once for all sources of a test program. Each still includes what it uses: builds with
// -Db_pch=false see to it.
#ifndef CAIRN_TESTS_PCH_TEST_H_
#define CAIRN_TESTS_PCH_TEST_H_

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "gtest/gtest.h"

#endif  // CAIRN_TESTS_PCH_TEST_H_
