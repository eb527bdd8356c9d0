// Increments of whole collections.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "cairn/collection.h"
#include "engine/collection/ledger/increment_layer.h"
#include "engine/collection/members/site.h"
#include "engine/collection/packed_store.h"
#include "tests/collection/ints.h"
#include "tests/support/files.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

using Contents = std::map<std::string, Ints>;

Contents ContentsOf(const CollectionSnapshot& snapshot) {
  Contents contents;
  for (const std::string& name : snapshot.Members()) contents[name] = IntsOf(snapshot, name);
  return contents;
}

class CollectionIncrementTest : public testing::Test {
 protected:
  CollectionIncrementTest() {
    EXPECT_TRUE(IsOk(Collection::Create(path_)));
    collection_.emplace_back(Collection::Open(path_).value());
    EXPECT_TRUE(IsOk(Newest().CopyTo(copy_path_)));
    copy_.emplace_back(Collection::Open(copy_path_).value());
  }

  CollectionSnapshot Newest() { return collection_[0].Refresh().value(); }
  CollectionSnapshot Copy() { return copy_[0].Refresh().value(); }
  static void Add(CollectionWriter& writer, const std::string& name, const Ints& numbers,
                  int32_t chunk = 100) {
    CreateOptions options;
    options.compression.typesize = 4;
    options.array = {.shape = {0}, .chunkshape = {chunk}, .dtype = "<i4"};
    absl::StatusOr<MemberWriter> member = writer.Add(name, options);
    ASSERT_TRUE(IsOk(member));
    if (numbers.empty()) return;
    ASSERT_TRUE(IsOk(member->AppendSlices(0, numbers)));
  }
  Ints RandomInts() {
    Ints numbers(random_() % 300);
    for (int32_t& number : numbers) number = static_cast<int32_t>(random_() % 1000);
    return numbers;
  }
  // Commits a few random edits.
  void Change() {
    CollectionWriter writer = collection_[0].OpenWriter().value();
    const CollectionSnapshot before = Newest();
    std::set<std::string> edited;
    for (int i = 0; i < 4; ++i) {
      const std::string name = absl::StrCat("/g", random_() % 2, "/m", random_() % 4);
      if (!edited.insert(name).second) continue;
      if (!before.HasMember(name)) {
        Add(writer, name, RandomInts());
      } else if (random_() % 4 == 0) {
        ASSERT_TRUE(IsOk(writer.Remove(name)));
        // Another one may take its place, with chunks of another size.
        if (random_() % 2 == 0) Add(writer, name, RandomInts(), 50);
      } else {
        absl::StatusOr<MemberWriter> member = writer.Edit(name);
        ASSERT_TRUE(IsOk(member));
        Ints more = RandomInts();
        more.push_back(7);
        ASSERT_TRUE(IsOk(member->AppendSlices(0, more)));
      }
      ASSERT_FALSE(HasFatalFailure());
    }
    const std::string text = absl::StrCat(random_());
    ASSERT_TRUE(IsOk(writer.EditAttributes("/g0")->SetVlmetalayer(
        "title", std::as_bytes(std::span(std::string_view(text))))));
    ASSERT_TRUE(IsOk(writer.Close()));
  }
  // Writes what is new since a state, and opens it.
  Collection Increment(const std::string& name, const CollectionSnapshot& since) {
    EXPECT_TRUE(IsOk(Newest().WriteIncrement(dir_.Path(name), since)));
    return Collection::Open(dir_.Path(name)).value();
  }

  TempDir dir_;
  const std::string path_ = dir_.Path("c.b2d");
  const std::string copy_path_ = dir_.Path("copy.b2d");
  std::vector<Collection> collection_;
  std::vector<Collection> copy_;
  std::mt19937 random_{44};
};

TEST_F(CollectionIncrementTest, BringsACopyUpToDate) {
  for (int round = 0; round < 25; ++round) {
    Change();
    if (round % 3 == 2) continue;  // of two commits
    Collection increment =
        Increment(absl::StrCat(round, ".b2z"), round % 2 == 0 ? Copy() : Newest());
    if (round % 2 == 1) {
      // Nothing is new since the newest state.
      EXPECT_TRUE(Fails(copy_[0].ApplyIncrement(increment.snapshot()).status(),
                        absl::StatusCode::kFailedPrecondition, "increment: made for"));
      continue;
    }
    const IncrementInfo info = increment.snapshot().GetIncrementInfo().value();
    EXPECT_EQ(info.base_hash, Copy().ContentHash().value());
    EXPECT_EQ(info.result_hash, Newest().ContentHash().value());
    EXPECT_EQ(info.result_generation, Newest().number());
    EXPECT_EQ(copy_[0].ApplyIncrement(increment.snapshot()).value(), true);
    EXPECT_EQ(ContentsOf(Copy()), ContentsOf(Newest()));
    EXPECT_EQ(Copy().ContentHash().value(), Newest().ContentHash().value());
    EXPECT_TRUE(Copy().Verify()->ok());
    EXPECT_EQ(copy_[0].ApplyIncrement(increment.snapshot()).value(), false) << "repeated";
  }
}

TEST_F(CollectionIncrementTest, IsNoStateOfACollection) {
  Change();
  const CollectionSnapshot before = Copy();
  const CollectionSnapshot increment = Increment("1.b2z", before).snapshot();
  constexpr absl::StatusCode kRefused = absl::StatusCode::kFailedPrecondition;
  const std::string what = "an increment of a collection, from commit 0 to ";
  const std::string next = dir_.Path("next.b2z");
  for (const std::string& name : increment.Members()) {
    EXPECT_TRUE(Fails(increment.OpenMember(name), kRefused, what));
  }
  EXPECT_TRUE(Fails(increment.OpenAttributes("/g0"), kRefused, what));
  EXPECT_TRUE(Fails(increment.ContentHash(), kRefused, what));
  EXPECT_TRUE(Fails(increment.CopyTo(dir_.Path("next.b2d")), kRefused, what));
  EXPECT_TRUE(Fails(increment.CopyTo(next), kRefused, what));
  EXPECT_TRUE(Fails(Newest().WriteIncrement(next, increment), kRefused, what));
  EXPECT_TRUE(Fails(increment.WriteIncrement(next, before), kRefused, what));
  EXPECT_FALSE(std::filesystem::exists(next));
  EXPECT_TRUE(increment.Verify()->ok());
  EXPECT_TRUE(IsOk(increment.GetIncrementInfo()));
}

TEST_F(CollectionIncrementTest, DoesNotReplaceAFileOfAnotherProgram) {
  {
    CollectionWriter writer = collection_[0].OpenWriter().value();
    Add(writer, "/g/new", {1, 2});
    ASSERT_TRUE(IsOk(writer.Close()));
  }
  const CollectionSnapshot increment = Increment("1.b2z", Copy()).snapshot();
  std::filesystem::create_directory(copy_path_ + "/g");
  PutFileBytes(copy_path_ + "/g/new.b2nd", {});
  const uint64_t number = Copy().number();
  EXPECT_TRUE(Fails(copy_[0].ApplyIncrement(increment), absl::StatusCode::kAlreadyExists,
                    "/g/new.b2nd: another program has put a file there"));
  EXPECT_EQ(Copy().number(), number);
  std::filesystem::remove(copy_path_ + "/g/new.b2nd");
  EXPECT_TRUE(IsOk(copy_[0].ApplyIncrement(increment)));
  EXPECT_EQ(IntsOf(Copy(), "/g/new"), (Ints{1, 2}));
}

TEST_F(CollectionIncrementTest, BeginsAtAnOlderStateThatASnapshotKeeps) {
  Change();
  Collection first = Increment("1.b2z", Copy());
  ASSERT_TRUE(IsOk(copy_[0].ApplyIncrement(first.snapshot())));
  const CollectionSnapshot kept = Newest();
  Change();
  Change();
  Collection second = Increment("2.b2z", kept);
  ASSERT_TRUE(IsOk(copy_[0].ApplyIncrement(second.snapshot())));
  EXPECT_EQ(ContentsOf(Copy()), ContentsOf(Newest()));
}

TEST_F(CollectionIncrementTest, HoldsWhatIsNew) {
  {
    CollectionWriter writer = collection_[0].OpenWriter().value();
    Ints noise(100'000);
    for (int32_t& number : noise) number = static_cast<int32_t>(random_());
    Add(writer, "/large", noise, 10'000);
    ASSERT_TRUE(IsOk(writer.Close()));
  }
  Collection all = Increment("all.b2z", Copy());
  ASSERT_TRUE(IsOk(copy_[0].ApplyIncrement(all.snapshot())));
  {
    CollectionWriter writer = collection_[0].OpenWriter().value();
    ASSERT_TRUE(IsOk(writer.Edit("/large")->AppendSlices(0, Ints{1, 2, 3})));
    Add(writer, "/small", {4});
    ASSERT_TRUE(IsOk(writer.Close()));
  }
  Increment("new.b2z", Copy());
  EXPECT_GT(FileBytes(dir_.Path("all.b2z")).size(), 400'000u);
  EXPECT_LT(FileBytes(dir_.Path("new.b2z")).size(), 50'000u)
      << "the chunks that stay are not there";
}

TEST_F(CollectionIncrementTest, IsRefusedWhereAMemberDiffers) {
  Change();
  Collection increment = Increment("1.b2z", Copy());
  {
    CollectionWriter writer = copy_[0].OpenWriter().value();
    Add(writer, "/other", {1});
    ASSERT_TRUE(IsOk(writer.Close()));
  }
  const Contents before = ContentsOf(Copy());
  EXPECT_TRUE(Fails(copy_[0].ApplyIncrement(increment.snapshot()).status(),
                    absl::StatusCode::kFailedPrecondition, "increment: made for"));
  EXPECT_EQ(ContentsOf(Copy()), before);
  EXPECT_TRUE(Fails(copy_[0].ApplyIncrement(Newest()).status(),
                    absl::StatusCode::kFailedPrecondition, "not an increment"));
  EXPECT_TRUE(Fails(Newest().WriteIncrement(dir_.Path("1.b2z"), Copy()),
                    absl::StatusCode::kAlreadyExists, "1.b2z"));
}

TEST_F(CollectionIncrementTest, IsRefusedWhereItLeadsToAnotherContent) {
  Change();
  const std::string name = Newest().Members().front();
  const std::string path = dir_.Path("wrong.b2z");
  {
    collection::PackedStore store =
        collection::PackedStore::Create(collection::MakeSite(path, {}).value()).value();
    ASSERT_TRUE(
        IsOk(store.Add(name, collection::MemberKind::kArray, Newest().OpenMember(name).value())));
    collection::IncrementLayer layer;
    layer.info = {.base_hash = Copy().ContentHash().value(),
                  .result_hash = Newest().ContentHash().value()};
    layer.whole = {{.name = name, .kind = collection::MemberKind::kArray}};
    ASSERT_TRUE(IsOk(
        store.AddLedger(collection::kIncrementLayer, collection::EncodeIncrementLayer(layer))));
    ASSERT_TRUE(IsOk(store.Publish()));
  }
  const CollectionSnapshot increment = Collection::Open(path)->snapshot();
  EXPECT_TRUE(IsDamage(copy_[0].ApplyIncrement(increment).status(), "does not lead to"));
  EXPECT_EQ(ContentsOf(Copy()), Contents());
}

TEST_F(CollectionIncrementTest, DamagedOneMakesNoWrongState) {
  Change();
  Increment("good.b2z", Copy());
  const Contents base = ContentsOf(Copy());
  const Contents result = ContentsOf(Newest());
  const std::vector<std::byte> good = FileBytes(dir_.Path("good.b2z"));
  int refused = 0;
  for (size_t at = random_() % 97; at < good.size(); at += 97) {
    SCOPED_TRACE(absl::StrCat("byte ", at, " of ", good.size()));
    std::vector<std::byte> bad = good;
    bad[at] ^= std::byte{0x10};
    PutFileBytes(dir_.Path("bad.b2z"), bad);
    const absl::StatusOr<Collection> increment = Collection::Open(dir_.Path("bad.b2z"));
    const bool is_applied =
        increment.ok() && copy_[0].ApplyIncrement(increment->snapshot()).value_or(false);
    ASSERT_EQ(ContentsOf(Copy()), is_applied ? result : base);
    if (!is_applied) {
      ++refused;
      continue;
    }
    // The byte says nothing. The copy is made anew.
    copy_.clear();
    std::filesystem::remove_all(copy_path_);
    ASSERT_TRUE(IsOk(Collection::Create(copy_path_)));
    copy_.emplace_back(Collection::Open(copy_path_).value());
  }
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace cairn::test
