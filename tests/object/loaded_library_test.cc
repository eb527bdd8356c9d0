#include "engine/object/s3/http/loaded_library.h"

#include <cstddef>

#include <gtest/gtest.h>

#include "tests/support/status.h"

namespace cairn::object {
namespace {

constexpr auto kMissing = absl::StatusCode::kUnimplemented;

TEST(LoadedLibraryTest, FunctionsAreFoundByName) {
  LoadedLibrary library("libc.so.6", "libc6");
  size_t (*length)(const char*) = nullptr;
  library.Find("strlen", length);
  ASSERT_TRUE(IsOk(library.status()));
  EXPECT_EQ(length("four"), 4U);
}

TEST(LoadedLibraryTest, MissingLibraryIsNamed) {
  LoadedLibrary library("libcairn_of_nobody.so.1", "libcairn-of-nobody1");
  void (*function)() = nullptr;
  library.Find("anything", function);
  EXPECT_EQ(function, nullptr);
  EXPECT_TRUE(Fails(library.status(), kMissing, "libcairn_of_nobody.so.1"));
  EXPECT_TRUE(Fails(library.status(), kMissing, "apt install libcairn-of-nobody1"));
}

TEST(LoadedLibraryTest, FirstMissingFunctionIsNamed) {
  LoadedLibrary library("libc.so.6", "libc6");
  void (*function)() = nullptr;
  library.Find("no_such_function", function);
  library.Find("nor_this_one", function);
  EXPECT_EQ(function, nullptr);
  EXPECT_TRUE(Fails(library.status(), kMissing, "no_such_function"));
}

}  // namespace
}  // namespace cairn::object
