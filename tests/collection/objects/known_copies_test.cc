// Copies of small objects in the ledger of a collection, which save requests.
#include "engine/collection/objects/known_copies.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/collection.h"
#include "cairn/frame.h"
#include "engine/collection/ledger/ledger.h"
#include "engine/collection/objects/member_store.h"
#include "engine/format/sparse_names.h"
#include "tests/collection/objects/object_collection.h"

namespace cairn::test {
namespace {

class KnownCopiesTest : public ObjectCollectionTest {
 protected:
  // Returns how many copies the last commit has, or nothing after a checkpoint. Each copy in a
  // commit is that of an object in the store.
  std::optional<size_t> CountCopies() const {
    OpenOptions in;
    in.file_system = In().members.file_system;
    const auto frame = Frame::Open("weather/embed.b2e", in);
    EXPECT_TRUE(IsOk(frame));
    const auto ledger = collection::ReadLedger(frame->snapshot(), nullptr);
    EXPECT_TRUE(IsOk(ledger));
    std::optional<size_t> count;
    for (const auto& commit : (*ledger)->commits) {
      count = commit->copies.size();
      for (const collection::ObjectCopy& copy : commit->copies) {
        const std::string object = copy.kind == collection::ObjectCopy::Kind::kIndex
                                       ? collection::IndexObjectName(copy.id, copy.number)
                                       : format::ChunkFileName(static_cast<int64_t>(copy.number));
        const auto there = store_->Get("weather" + copy.member + ".b2nd/" + object);
        EXPECT_TRUE(there.ok() && there->bytes == copy.bytes) << copy.member << " " << object;
      }
    }
    return count;
  }
};

TEST_F(KnownCopiesTest, TheLedgerHasSmallObjects) {
  Content content = {{"/a", Range(0, 250)}, {"/g/b", Range(0, 450)}, {"/still", Range(0, 350)}};
  Make(content);
  int64_t before = store_->stats().requests();
  const auto taken = [&] {
    const int64_t now = store_->stats().requests();
    return now - std::exchange(before, now);
  };
  for (int32_t day = 0; day < 40; ++day) {  // with a checkpoint after each 16 commits
    CollectionWriter writer = OpenWriter();
    for (const char* const name : {"/a", "/g/b"}) {
      Ints& items = content[name];
      ASSERT_TRUE(IsOk(writer.Edit(name)->WriteItems(items.size() - 250, Ints(100, day + 1))));
      std::fill_n(items.end() - 250, 100, day + 1);
      ASSERT_TRUE(IsOk(Stage(writer, name, Range(0, 100))));
      for (const int32_t item : Range(0, 100)) items.push_back(item);
    }
    ASSERT_TRUE(IsOk(writer.Close()));
    // Each member has a chunk that has changed and one that is new. Others were replaced meanwhile.
    EXPECT_EQ(CountCopies().value_or(4), 4U) << day;
    taken();
    const CollectionSnapshot seen = Open().snapshot();
    EXPECT_LE(taken(), 2 + 17) << day;
    EXPECT_EQ(ContentOf(seen), content) << day;
    EXPECT_EQ(taken(), 0) << day;
  }
  ASSERT_TRUE(IsOk(Open().snapshot().Verify()));
  EXPECT_GT(taken(), 80) << "all that the store has is read";
}

TEST_F(KnownCopiesTest, LargeObjectsAreGot) {
  Make();
  CollectionWriter writer = OpenWriter();
  const Ints large = Range(0, 5000);  // whose chunks take more than 8 KiB
  const auto add = [&](const std::string& name, int32_t chunk, const Ints& items) {
    absl::StatusOr<MemberWriter> member = writer.Add(name, Uncompressed(chunk));
    ASSERT_TRUE(IsOk(member));
    ASSERT_TRUE(IsOk(member->AppendSlices(0, items)));
  };
  add("/large", 2500, large);
  ASSERT_TRUE(IsOk(writer.Commit()));
  for (int i = 10; i < 30; ++i) add("/medium" + std::to_string(i), 1500, Range(0, 1500));
  ASSERT_TRUE(IsOk(writer.Commit()));
  const CollectionSnapshot seen = Open().snapshot();
  int64_t before = store_->stats().requests();
  EXPECT_EQ(IntsOf(seen, "/large"), large);
  EXPECT_EQ(store_->stats().requests() - before, 2) << "but not the index";
  before = store_->stats().requests();
  for (int i = 10; i < 30; ++i) {
    EXPECT_EQ(IntsOf(seen, "/medium" + std::to_string(i)), Range(0, 1500));
  }
  // A commit has 64 KiB of copies, which are some ten of these chunks and indexes.
  const int64_t got = store_->stats().requests() - before;
  EXPECT_TRUE(got > 8 && got < 32) << got;
}

TEST(LastCopiesTest, TheLastOfEachObjectStays) {
  using collection::ObjectCopy;
  const auto copy = [](uint64_t number, size_t size, int value) {
    return ObjectCopy{.member = "/a",
                      .id = 1,
                      .kind = ObjectCopy::Kind::kChunk,
                      .number = number,
                      .bytes = std::vector<std::byte>(size, static_cast<std::byte>(value))};
  };
  const collection::ObjectCopies copies = {copy(1, 10, 1), copy(2, 10, 2), copy(1, 5, 3),
                                           copy(3, 30, 4), copy(4, 1, 5)};
  using Copies = collection::ObjectCopies;
  EXPECT_EQ(collection::LastCopies(copies, 100),
            (Copies{copies[1], copies[2], copies[3], copies[4]}));
  EXPECT_EQ(collection::LastCopies(copies, 20), (Copies{copies[1], copies[2], copies[4]}));
  EXPECT_EQ(collection::LastCopies(copies, 6), (Copies{copies[2], copies[4]}));
  EXPECT_EQ(collection::LastCopies(copies, 0), Copies());
}

}  // namespace
}  // namespace cairn::test
