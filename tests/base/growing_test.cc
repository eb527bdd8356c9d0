#include "engine/base/growing.h"

#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/bytes.h"

namespace cairn {
namespace {

using GrowingBytes = SharedAppendVector<std::byte>;

std::string TextOf(const GrowingBytes& bytes) { return std::string(AsText(bytes.span())); }

TEST(GrowingTest, BeginsEmpty) {
  const GrowingBytes bytes;
  EXPECT_TRUE(bytes.empty());
  EXPECT_TRUE(bytes.span().empty());
}

TEST(GrowingTest, CopyKeepsWhatItHadWhileTheOtherGoesOn) {
  GrowingBytes bytes;
  bytes.Append(AsBytes("one"));
  const GrowingBytes before = bytes;
  bytes.Append(AsBytes(" two"));
  EXPECT_EQ(TextOf(before), "one");
  EXPECT_EQ(TextOf(bytes), "one two");
  EXPECT_EQ(before.span().data(), bytes.span().data());  // nothing was copied
}

TEST(GrowingTest, TwoCopiesThatGoOnDoNotSeeEachOther) {
  GrowingBytes first;
  first.Append(AsBytes("root"));
  GrowingBytes second = first;
  first.Append(AsBytes(" one"));
  second.Append(AsBytes(" two"));
  EXPECT_EQ(TextOf(first), "root one");
  EXPECT_EQ(TextOf(second), "root two");
}

TEST(GrowingTest, GrowsAcrossItsFirstBuffer) {
  GrowingBytes bytes;
  std::string expected;
  for (int i = 0; i < 1000; ++i) {
    const std::string part = std::to_string(i);
    bytes.Append(AsBytes(part));
    expected += part;
  }
  EXPECT_EQ(TextOf(bytes), expected);
}

TEST(GrowingTest, WhatIsDroppedStaysInCopies) {
  GrowingBytes bytes;
  bytes.Append(AsBytes("abc"));
  const GrowingBytes before = bytes;
  bytes.DropLast();
  bytes.Append(AsBytes("x"));
  EXPECT_EQ(TextOf(before), "abc");
  EXPECT_EQ(TextOf(bytes), "abx");
}

TEST(GrowingTest, CopiesGoOnInThreadsOfTheirOwn) {
  GrowingBytes root;
  root.Append(AsBytes("root"));
  std::vector<GrowingBytes> copies(4, root);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < copies.size(); ++i) {
    threads.emplace_back([&copy = copies[i], i] {
      const std::string part(10, static_cast<char>('a' + i));
      for (int n = 0; n < 100; ++n) copy.Append(AsBytes(part));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < copies.size(); ++i) {
    EXPECT_EQ(TextOf(copies[i]), "root" + std::string(1000, static_cast<char>('a' + i)));
  }
}

}  // namespace
}  // namespace cairn
