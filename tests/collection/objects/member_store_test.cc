// The objects of a member, as its readers and writers see them.
#include "engine/collection/objects/member_store.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "engine/object/memory_object_store.h"
#include "engine/object/object_names.h"
#include "tests/support/status.h"

namespace cairn::collection {
namespace {

using Puts = MemberStore::Puts;
using StatusCode = absl::StatusCode;

constexpr char kIndex[] = "chunks.b2frame";

std::string TextOf(const absl::StatusOr<ObjectPart>& part) {
  return part.ok() ? std::string(AsText(part->bytes)) : part.status().ToString();
}

class MemberStoreTest : public testing::Test {
 protected:
  MemberStoreTest() { EXPECT_TRUE(IsOk(below_->PutIfAbsent(name_, AsBytes("an index")))); }

  const std::string record_ = object::JournalObjectName(1000);
  const std::string name_ = IndexObjectName(7, 3);
  std::shared_ptr<object::MemoryObjectStore> below_ = std::make_shared<object::MemoryObjectStore>();
  MemberStore store_{below_, name_};
};

TEST(IndexObjectTest, NamesSayIdAndGeneration) {
  const std::string name = IndexObjectName(0xFEDC'BA98'7654'3210, 26);
  EXPECT_EQ(name, "index/fedcba9876543210.000000000000001a");
  const auto parsed = ParseIndexObjectName(name);
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->id, 0xFEDC'BA98'7654'3210);
  EXPECT_EQ(parsed->generation, 26U);
  for (const char* const other :
       {"", "index/", "index/fedcba9876543210", "index/fedcba9876543210.000000000000001",
        "index/fedcba9876543210.000000000000001g", "index/fedcba9876543210-000000000000001a",
        "index/+edcba9876543210.000000000000001a", "index/fedcba9876543210.000000000000001a.",
        "x/fedcba9876543210.000000000000001a"}) {
    EXPECT_FALSE(ParseIndexObjectName(other).has_value()) << other;
  }
}

TEST_F(MemberStoreTest, TheIndexIsGotOnceAndReplacedInMemory) {
  const auto part = store_.Get(kIndex, {.offset = 0, .size = 2});
  EXPECT_EQ(TextOf(part), "an");
  EXPECT_EQ(part->object.size, 8);
  EXPECT_EQ(TextOf(store_.Get(kIndex, {.offset = 3, .size = 99}, part->object.etag)), "index");
  EXPECT_EQ(store_.Head(kIndex)->etag, part->object.etag);
  EXPECT_EQ(below_->stats().requests(), 1 + 1);
  EXPECT_TRUE(Fails(store_.PutIfAbsent(kIndex, AsBytes("b")), StatusCode::kFailedPrecondition, ""));
  EXPECT_TRUE(
      Fails(store_.PutIfMatch(kIndex, "x", AsBytes("b")), StatusCode::kFailedPrecondition, ""));
  ASSERT_TRUE(IsOk(store_.PutIfMatch(kIndex, part->object.etag, AsBytes("newer"))));
  EXPECT_EQ(TextOf(store_.Get(kIndex)), "newer");
  EXPECT_TRUE(
      Fails(store_.Get(kIndex, {}, part->object.etag), StatusCode::kFailedPrecondition, ""));
  EXPECT_EQ(AsText(store_.index()), "newer");
  EXPECT_EQ(TextOf(below_->Get(name_)), "an index");
}

TEST_F(MemberStoreTest, ANewMemberHasNoIndexUntilItIsPut) {
  MemberStore made(below_, "");
  EXPECT_TRUE(Fails(made.Get(kIndex), StatusCode::kNotFound, ""));
  ASSERT_TRUE(IsOk(made.PutIfAbsent(kIndex, AsBytes("first"))));
  EXPECT_EQ(TextOf(made.Get(kIndex)), "first");
  EXPECT_TRUE(Fails(made.PutIfAbsent(kIndex, AsBytes("b")), StatusCode::kFailedPrecondition, ""));
}

TEST_F(MemberStoreTest, ARecordThatIsAskedForIsNotThereYet) {
  store_.Set(Puts::kAsked);
  EXPECT_TRUE(Fails(store_.PutIfAbsent(record_, AsBytes("r")), StatusCode::kUnavailable, ""));
  EXPECT_TRUE(Fails(store_.Get(record_), StatusCode::kNotFound, ""));
  const std::vector<FilePatch> records = store_.records_put();
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0], (FilePatch{1000, ToVector(AsBytes("r"))}));
  store_.AddRecords(records);
  EXPECT_EQ(TextOf(store_.Get(record_)), "r");
  EXPECT_TRUE(
      Fails(store_.PutIfAbsent(record_, AsBytes("r")), StatusCode::kFailedPrecondition, ""));
  EXPECT_TRUE(Fails(below_->Get(record_), StatusCode::kNotFound, ""));
}

TEST_F(MemberStoreTest, ARecordThatIsTakenIsThere) {
  store_.Set(Puts::kTaken);
  ASSERT_TRUE(IsOk(store_.PutIfAbsent(record_, AsBytes("r"))));
  ASSERT_TRUE(IsOk(store_.PutIfAbsent(object::JournalObjectName(1001), AsBytes("s"))));
  EXPECT_EQ(TextOf(store_.Get(record_)), "r");
  EXPECT_EQ(store_.records_put().size(), 2U);
  store_.Set(Puts::kAsked);
  EXPECT_TRUE(store_.records_put().empty());
}

TEST_F(MemberStoreTest, ChunksAreThoseOfTheStore) {
  const std::string chunk = "0000001A.chunk";
  ASSERT_TRUE(IsOk(store_.PutIfAbsent(chunk, AsBytes("c"))));
  EXPECT_EQ(TextOf(below_->Get(chunk)), "c");
  EXPECT_TRUE(Fails(store_.List("", "", 10), StatusCode::kUnimplemented, ""));
  store_.Set(Puts::kAbandoned);
  ASSERT_TRUE(IsOk(store_.Delete({&chunk, 1})));
  EXPECT_TRUE(IsOk(below_->Head(chunk)));
  store_.Set(Puts::kAsked);
  ASSERT_TRUE(IsOk(store_.Delete({&chunk, 1})));
  EXPECT_FALSE(IsOk(below_->Head(chunk)));
}

}  // namespace
}  // namespace cairn::collection
