#include "engine/storage/buffer_mapping.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/bytes.h"

namespace cairn::storage {
namespace {

TEST(BufferMappingTest, BorrowedBytesAreTheCallersOwn) {
  const std::string text = "abc";
  const auto mapping = BorrowBytes(AsBytes(text));
  EXPECT_EQ(static_cast<const void*>(mapping->bytes().data()), text.data());
  EXPECT_EQ(mapping->bytes().size(), 3);
}

TEST(BufferMappingTest, OwnedBytesAreNotCopied) {
  std::vector<std::byte> bytes = ToVector(AsBytes("abc"));
  const std::byte* const place = bytes.data();
  const auto mapping = OwnBytes(std::move(bytes));
  EXPECT_EQ(mapping->bytes().data(), place);
  EXPECT_EQ(AsText(mapping->bytes()), "abc");
}

TEST(BufferMappingTest, SharedBytesLiveAsLongAsTheMapping) {
  auto owner = std::make_shared<const std::string>("abc");
  const std::weak_ptr<const std::string> watch = owner;
  const Bytes bytes = AsBytes(*owner);
  auto mapping = ShareBytes(bytes, std::move(owner));
  EXPECT_FALSE(watch.expired());
  mapping.reset();
  EXPECT_TRUE(watch.expired());
}

}  // namespace
}  // namespace cairn::storage
