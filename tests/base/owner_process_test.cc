#include "engine/base/owner_process.h"

#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/support/child_process.h"

namespace cairn {
namespace {

using test::ResultOfChild;

TEST(OwnerProcessTest, ThisProcessIsWhatTheSystemTells) {
  EXPECT_EQ(ThisProcess(), ::getpid());
  EXPECT_EQ(ThisProcess(), ::getpid());
}

TEST(OwnerProcessTest, ForkedChildIsAnotherProcess) {
  EXPECT_EQ(ThisProcess(), ::getpid());  // so that the child could have it from here
  EXPECT_EQ(ResultOfChild([] { return ThisProcess() == ::getpid() ? 0 : 1; }), 0);
}

TEST(OwnerProcessTest, WhatTheParentMadeIsNotTheChilds) {
  const OwnerProcess owner;
  EXPECT_TRUE(owner.is_here());
  EXPECT_EQ(ResultOfChild([&] { return owner.is_here() ? 1 : 0; }), 0);
}

TEST(OwnerProcessTest, WhatTheChildMadeIsNotItsChilds) {
  const int result = ResultOfChild([] {
    const OwnerProcess owner;
    if (!owner.is_here()) return 1;
    return ResultOfChild([&] { return owner.is_here() ? 2 : 0; });
  });
  EXPECT_EQ(result, 0);
}

}  // namespace
}  // namespace cairn
