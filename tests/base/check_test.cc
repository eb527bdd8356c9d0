#include "engine/base/check.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(CheckTest, ConditionRunsWhereChecksAreOn) {
  int runs = 0;
  CAIRN_DCHECK(++runs > 0);
#ifdef NDEBUG
  EXPECT_EQ(runs, 0);
#else
  EXPECT_EQ(runs, 1);
#endif
}

#ifndef NDEBUG
TEST(CheckDeathTest, WhatDoesNotHoldIsNamed) {
  const int bytes = -1;
  EXPECT_DEATH(CAIRN_DCHECK(bytes >= 0), "check_test.cc:[0-9]+: check failed: bytes >= 0");
}
#endif

}  // namespace
}  // namespace cairn
