// Copies of members and of whole collections, attributes of groups, and members without items,
// whose checkpoints are copies, too.
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/collection.h"
#include "cairn/frame.h"
#include "tests/collection/ints.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

Bytes AttributeBytes(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string AttributeOf(const absl::StatusOr<Snapshot>& frame, std::string_view name) {
  if (!IsOk(frame)) return frame.status().ToString();
  const absl::StatusOr<std::vector<std::byte>> layer = frame->GetVlmetalayer(name);
  if (!layer.ok()) return layer.status().ToString();
  return {reinterpret_cast<const char*>(layer->data()), layer->size()};
}

class CollectionCopiesTest : public testing::Test {
 protected:
  CollectionCopiesTest() {
    EXPECT_TRUE(IsOk(Collection::Create(path_)));
    collection_.emplace_back(Collection::Open(path_).value());
  }

  CollectionWriter OpenWriter() { return collection_[0].OpenWriter().value(); }
  CollectionSnapshot Newest() { return collection_[0].Refresh().value(); }
  static void Add(CollectionWriter& writer, const std::string& name, const Ints& numbers) {
    CreateOptions options;
    options.compression.typesize = 4;
    options.array = {.shape = {0}, .chunkshape = {1000}, .dtype = "<i4"};
    absl::StatusOr<MemberWriter> member = writer.Add(name, options);
    ASSERT_TRUE(IsOk(member));
    if (numbers.empty()) return;
    ASSERT_TRUE(IsOk(member->AppendSlices(0, numbers)));
  }
  static void Append(CollectionWriter& writer, const std::string& name, const Ints& numbers) {
    ASSERT_TRUE(IsOk(writer.Edit(name)->AppendSlices(0, numbers)));
  }

  TempDir dir_;
  const std::string path_ = dir_.Path("c.b2d");
  std::vector<Collection> collection_;
};

TEST_F(CollectionCopiesTest, CopiesAreNoMoreOpenThanTheMember) {
  namespace fs = std::filesystem;
  constexpr fs::perms kOwnerAlone = fs::perms::owner_read | fs::perms::owner_write;
  CollectionWriter writer = OpenWriter();
  Add(writer, "/a", {1, 2});
  ASSERT_TRUE(IsOk(writer.Commit()));
  fs::permissions(path_ + "/a.b2nd", kOwnerAlone);
  ASSERT_TRUE(IsOk(writer.Copy("/a", "/b")));
  ASSERT_TRUE(IsOk(writer.Compact("/a")));
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_EQ(fs::status(path_ + "/a.b2nd").permissions(), kOwnerAlone);
  EXPECT_EQ(fs::status(path_ + "/b.b2nd").permissions(), kOwnerAlone);
}

TEST_F(CollectionCopiesTest, MovedMemberHasItsNewNameOnly) {
  CollectionWriter writer = OpenWriter();
  Add(writer, "/g/a", {1, 2});
  ASSERT_TRUE(IsOk(writer.Commit()));
  Append(writer, "/g/a", {3});
  ASSERT_TRUE(IsOk(writer.Commit()));
  const CollectionSnapshot before = Newest();
  ASSERT_TRUE(IsOk(writer.Move("/g/a", "/b")));
  EXPECT_EQ(Newest().Members(), std::vector<std::string>{"/g/a"}) << "nothing is committed";
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_EQ(Newest().Members(), std::vector<std::string>{"/b"});
  EXPECT_EQ(IntsOf(Newest(), "/b"), (Ints{1, 2, 3}));
  EXPECT_EQ(IntsOf(before, "/g/a"), (Ints{1, 2, 3}));
  Append(writer, "/b", {4});
  ASSERT_TRUE(IsOk(writer.Close()));
  EXPECT_EQ(IntsOf(Newest(), "/b"), (Ints{1, 2, 3, 4}));
}

TEST_F(CollectionCopiesTest, CompactedMemberIsShorterAndKeepsItsContent) {
  CollectionWriter writer = OpenWriter();
  const auto numbers = [](int32_t seed) {
    Ints made(100'000);
    for (size_t i = 0; i < made.size(); ++i) made[i] = static_cast<int32_t>(i * i) * seed;
    return made;
  };
  Add(writer, "/a", numbers(1));
  Add(writer, "/b", {1});
  ASSERT_TRUE(IsOk(writer.Commit()));
  const CollectionSnapshot before = Newest();  // it keeps what is replaced after it
  for (int32_t seed = 2; seed < 6; ++seed) {
    ASSERT_TRUE(IsOk(writer.Edit("/a")->WriteItems(0, numbers(seed))));
    ASSERT_TRUE(IsOk(writer.Commit()));
  }
  const std::string file = path_ + "/a.b2nd";
  const auto size = std::filesystem::file_size(file);
  ASSERT_TRUE(IsOk(writer.Compact("/a")));
  Append(writer, "/b", {2});
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_LT(std::filesystem::file_size(file), size / 2);
  EXPECT_EQ(IntsOf(Newest(), "/a"), numbers(5));
  EXPECT_EQ(IntsOf(Newest(), "/b"), (Ints{1, 2}));
  EXPECT_EQ(IntsOf(before, "/a"), numbers(1));
  Append(writer, "/a", {6});
  ASSERT_TRUE(IsOk(writer.Close()));
  EXPECT_EQ(IntsOf(Newest(), "/a").size(), 100'001u);
}

TEST_F(CollectionCopiesTest, CompactionIsRolledBackOrRemovedAsAnyEdit) {
  CollectionWriter writer = OpenWriter();
  Add(writer, "/a", {1});
  Add(writer, "/b", {2});
  ASSERT_TRUE(IsOk(writer.Commit()));
  ASSERT_TRUE(IsOk(writer.Compact("/a")));
  writer.Rollback();
  EXPECT_EQ(writer.Commit().value(), 1u);
  ASSERT_TRUE(IsOk(writer.Compact("/a")));
  ASSERT_TRUE(IsOk(writer.Compact("/b")));
  Append(writer, "/b", {3});
  ASSERT_TRUE(IsOk(writer.Remove("/a")));
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_EQ(Newest().Members(), std::vector<std::string>{"/b"});
  EXPECT_EQ(IntsOf(Newest(), "/b"), (Ints{2, 3}));
  EXPECT_TRUE(Fails(writer.Compact("/a"), absl::StatusCode::kNotFound, "/a"));
  EXPECT_TRUE(Fails(writer.Copy("/b", "/b"), absl::StatusCode::kAlreadyExists, "/b"));
  Append(writer, "/b", {4});
  EXPECT_TRUE(Fails(writer.Compact("/b"), absl::StatusCode::kFailedPrecondition, "staged"));
}

TEST_F(CollectionCopiesTest, CopyChangesByItself) {
  CollectionWriter writer = OpenWriter();
  Add(writer, "/a", {1, 2});
  ASSERT_TRUE(IsOk(writer.Commit()));
  ASSERT_TRUE(IsOk(writer.Copy("/a", "/g/b")));
  Append(writer, "/g/b", {3});
  ASSERT_TRUE(IsOk(writer.Commit()));
  Append(writer, "/a", {9});
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_EQ(IntsOf(Newest(), "/a"), (Ints{1, 2, 9}));
  EXPECT_EQ(IntsOf(Newest(), "/g/b"), (Ints{1, 2, 3}));
}

TEST_F(CollectionCopiesTest, RollbackDropsAMove) {
  CollectionWriter writer = OpenWriter();
  Add(writer, "/a", {1});
  ASSERT_TRUE(IsOk(writer.Commit()));
  ASSERT_TRUE(IsOk(writer.Move("/a", "/g/b")));
  writer.Rollback();
  EXPECT_FALSE(std::filesystem::exists(path_ + "/g"));
  Append(writer, "/a", {2});
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_EQ(IntsOf(Newest(), "/a"), (Ints{1, 2}));
}

TEST_F(CollectionCopiesTest, CopiesThatCannotBeAreRefused) {
  CollectionWriter writer = OpenWriter();
  Add(writer, "/a", {1});
  Add(writer, "/b", {1});
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_TRUE(Fails(writer.Move("/c", "/d"), absl::StatusCode::kNotFound, "/c"));
  EXPECT_TRUE(Fails(writer.Move("/a", "/b"), absl::StatusCode::kAlreadyExists, "/b"));
  EXPECT_TRUE(Fails(writer.Move("/a", "b"), absl::StatusCode::kInvalidArgument, "slash"));
  Append(writer, "/a", {2});
  EXPECT_TRUE(Fails(writer.Copy("/a", "/d"), absl::StatusCode::kFailedPrecondition, "staged"));
  Add(writer, "/new", {2});
  EXPECT_TRUE(Fails(writer.Move("/new", "/d"), absl::StatusCode::kFailedPrecondition, "staged"));
  ASSERT_TRUE(IsOk(writer.Remove("/b")));
  EXPECT_TRUE(Fails(writer.Copy("/b", "/d"), absl::StatusCode::kNotFound, "/b"));
}

TEST_F(CollectionCopiesTest, MemberWithoutItemsKeepsItsStates) {
  CollectionWriter writer = OpenWriter();
  Add(writer, "/a", {});
  ASSERT_TRUE(IsOk(writer.Commit()));
  std::vector<CollectionSnapshot> snapshots;
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(IsOk(writer.Edit("/a")->SetVlmetalayer("n", AttributeBytes(std::to_string(i)))));
    ASSERT_TRUE(IsOk(writer.Commit()));
    snapshots.push_back(Newest());
    if (i % 2 == 1) continue;
    ASSERT_TRUE(IsOk(writer.Close()));
    snapshots.push_back(Newest());
    writer = OpenWriter();
  }
  const char* const expected[] = {"0", "0", "1", "2", "2", "3"};
  for (size_t i = 0; i < snapshots.size(); ++i) {
    EXPECT_EQ(AttributeOf(snapshots[i].OpenMember("/a"), "n"), expected[i]) << i;
  }
  ASSERT_TRUE(IsOk(writer.Close()));
  const Frame alone = Frame::Open(path_ + "/a.b2nd").value();
  EXPECT_EQ(alone.snapshot().info().journal_size, 0) << "every Blosc2 sees the last commit";
  EXPECT_EQ(AttributeOf(alone.snapshot(), "n"), "3");
}

TEST_F(CollectionCopiesTest, MemberThatLosesItsItemsKeepsItsStates) {
  CollectionWriter writer = OpenWriter();
  Add(writer, "/a", {1, 2, 3});
  ASSERT_TRUE(IsOk(writer.Commit()));
  const CollectionSnapshot before = Newest();
  const int64_t nothing[] = {0};
  ASSERT_TRUE(IsOk(writer.Edit("/a")->ResizeArray(nothing)));
  ASSERT_TRUE(IsOk(writer.Close()));
  EXPECT_EQ(IntsOf(before, "/a"), (Ints{1, 2, 3}));
  EXPECT_EQ(IntsOf(Newest(), "/a"), Ints());
}

TEST_F(CollectionCopiesTest, GroupsHaveAttributes) {
  CollectionWriter writer = OpenWriter();
  Add(writer, "/day/temp", {1});
  ASSERT_TRUE(IsOk(writer.EditAttributes("/")->SetVlmetalayer("title", AttributeBytes("weather"))));
  ASSERT_TRUE(IsOk(writer.EditAttributes("/day")->SetVlmetalayer("hours", AttributeBytes("24"))));
  ASSERT_TRUE(IsOk(writer.Commit()));
  const CollectionSnapshot before = Newest();
  ASSERT_TRUE(IsOk(writer.EditAttributes("/day")->SetVlmetalayer("hours", AttributeBytes("12"))));
  ASSERT_TRUE(IsOk(writer.Close()));
  const CollectionSnapshot now = Newest();
  EXPECT_EQ(now.Members(), std::vector<std::string>{"/day/temp"});
  EXPECT_EQ(now.Groups(), (std::vector<std::string>{"/", "/day"}));
  EXPECT_EQ(AttributeOf(now.OpenAttributes("/"), "title"), "weather");
  EXPECT_EQ(AttributeOf(now.OpenAttributes("/day"), "hours"), "12");
  EXPECT_EQ(AttributeOf(before.OpenAttributes("/day"), "hours"), "24");
  EXPECT_TRUE(Fails(now.OpenAttributes("/night"), absl::StatusCode::kNotFound, "/night"));
  EXPECT_TRUE(std::filesystem::exists(path_ + "/day/__vlmeta__.b2f"));
  writer = OpenWriter();
  EXPECT_TRUE(Fails(writer.Add("/day/__vlmeta__", {}), absl::StatusCode::kInvalidArgument,
                    "are edited as attributes"));
}

TEST_F(CollectionCopiesTest, CopyOfACollectionIsOneState) {
  CollectionWriter writer = OpenWriter();
  Add(writer, "/g/a", {1});
  Add(writer, "/b", {2});
  ASSERT_TRUE(IsOk(writer.EditAttributes("/g")->SetVlmetalayer("n", AttributeBytes("x"))));
  ASSERT_TRUE(IsOk(writer.Commit()));
  const CollectionSnapshot state = Newest();
  Append(writer, "/b", {3});
  ASSERT_TRUE(IsOk(writer.Remove("/g/a")));
  ASSERT_TRUE(IsOk(writer.Commit()));
  const std::string copy = dir_.Path("copy.b2d");
  ASSERT_TRUE(IsOk(state.CopyTo(copy)));
  Collection copied = Collection::Open(copy).value();
  EXPECT_EQ(copied.snapshot().number(), state.number());
  EXPECT_EQ(copied.snapshot().Members(), (std::vector<std::string>{"/b", "/g/a"}));
  EXPECT_EQ(IntsOf(copied.snapshot(), "/b"), Ints{2});
  EXPECT_EQ(IntsOf(copied.snapshot(), "/g/a"), Ints{1});
  EXPECT_EQ(AttributeOf(copied.snapshot().OpenAttributes("/g"), "n"), "x");
  CollectionWriter other = copied.OpenWriter().value();
  Append(other, "/b", {7});
  ASSERT_TRUE(IsOk(other.Close()));
  EXPECT_EQ(IntsOf(copied.Refresh().value(), "/b"), (Ints{2, 7}));
  EXPECT_EQ(IntsOf(Newest(), "/b"), (Ints{2, 3}));
  EXPECT_TRUE(Fails(state.CopyTo(copy), absl::StatusCode::kAlreadyExists, "copy.b2d"));
}

TEST_F(CollectionCopiesTest, CopyThatFailsLeavesNothing) {
  CollectionWriter writer = OpenWriter();
  Add(writer, "/g/a", {1});
  Add(writer, "/h/b", {2});
  ASSERT_TRUE(IsOk(writer.Close()));
  std::filesystem::remove(path_ + "/h/b.b2nd");
  EXPECT_TRUE(IsDamage(Newest().CopyTo(dir_.Path("copy")), "b.b2nd: member: the file is missing"));
  EXPECT_FALSE(std::filesystem::exists(dir_.Path("copy")));
}

}  // namespace
}  // namespace cairn::test
