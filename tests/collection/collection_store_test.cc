// Stores without a ledger: those of others, and packed copies. tests/python/stores_test.py has
// stores that python-blosc2 makes.
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/collection.h"
#include "cairn/frame.h"
#include "tests/collection/ints.h"
#include "tests/support/dice.h"
#include "tests/support/no_threads.h"
#include "tests/support/simulated_disk.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

namespace fs = std::filesystem;
// Makes a collection of /a and /g/b.
CollectionSnapshot Make(const std::string& path, const CollectionOptions& options = {}) {
  Collection made = Collection::Create(path, options).value();
  CollectionWriter writer = made.OpenWriter().value();
  CreateOptions plain;
  plain.compression.typesize = 4;
  EXPECT_TRUE(IsOk(writer.Add("/a", plain)->Append(Ints{1, 2, 3})));
  EXPECT_TRUE(IsOk(writer.Add("/g/b", plain)->Append(Ints(1000, 4))));
  EXPECT_TRUE(IsOk(writer.Close()));
  return made.Refresh().value();
}

void Check(const CollectionSnapshot& found) {
  EXPECT_EQ(found.Members(), (std::vector<std::string>{"/a", "/g/b"}));
  EXPECT_EQ(IntsOf(found, "/a"), (Ints{1, 2, 3}));
  EXPECT_EQ(IntsOf(found, "/g/b"), Ints(1000, 4));
  EXPECT_EQ(found.Groups(), (std::vector<std::string>{"/", "/g"}));
}

class CollectionStoreTest : public testing::Test {
 protected:
  const TempDir dir_;
  const std::string path_ = dir_.Path("c.b2d");
  const CollectionSnapshot made_ = Make(path_);
};

TEST_F(CollectionStoreTest, PackedCopyIsReadAndUnpacked) {
  const std::string packed = dir_.Path("c.b2z");
  ASSERT_TRUE(IsOk(made_.CopyTo(packed)));
  EXPECT_TRUE(Fails(made_.CopyTo(packed), absl::StatusCode::kAlreadyExists, "c.b2z exists"));
  Collection store = Collection::Open(packed).value();
  Check(store.snapshot());
  EXPECT_FALSE(store.has_ledger());
  EXPECT_EQ(store.snapshot().number(), 0U);
  EXPECT_TRUE(store.snapshot().Verify()->ok());
  EXPECT_TRUE(store.Refresh().value() == store.snapshot()) << "nothing has changed";
  EXPECT_TRUE(Fails(store.OpenWriter(), absl::StatusCode::kFailedPrecondition, "only reads"));
  EXPECT_TRUE(
      Fails(store.snapshot().OpenMember("/x"), absl::StatusCode::kNotFound, "no member of the"));
  ASSERT_TRUE(IsOk(store.snapshot().CopyTo(dir_.Path("again.b2d"))));
  Collection again = Collection::Open(dir_.Path("again.b2d")).value();
  EXPECT_TRUE(again.has_ledger());
  CollectionWriter writer = again.OpenWriter().value();
  ASSERT_TRUE(IsOk(writer.Edit("/a")->Append(Ints{9})));
  ASSERT_TRUE(IsOk(writer.Close()));
  EXPECT_EQ(IntsOf(again.Refresh().value(), "/a"), (Ints{1, 2, 3, 9}));
}

TEST_F(CollectionStoreTest, DirectoryOfOthersIsRead) {
  ASSERT_TRUE(IsOk(Frame::Create(dir_.Path("values"))));
  fs::rename(dir_.Path("values"), path_ + "/embed.b2e");
  Collection store = Collection::Open(path_).value();
  EXPECT_FALSE(store.has_ledger());
  Check(store.snapshot());
  EXPECT_TRUE(Fails(store.OpenWriter(), absl::StatusCode::kFailedPrecondition, "only reads"));
  fs::copy_file(path_ + "/a.b2f", path_ + "/new.b2f");
  EXPECT_FALSE(store.snapshot().HasMember("/new"));
  EXPECT_EQ(IntsOf(store.Refresh().value(), "/new"), (Ints{1, 2, 3}));
}

// Otherwise the members would be shown without what the ledger knows of them.
TEST_F(CollectionStoreTest, DamagedLedgerIsNotTakenForThatOfOthers) {
  const int64_t size = static_cast<int64_t>(fs::file_size(path_ + "/embed.b2e"));
  for (int64_t cut = 1; cut < size; cut += 7) {
    fs::resize_file(path_ + "/embed.b2e", static_cast<uintmax_t>(size - cut));
    const absl::StatusOr<Collection> opened = Collection::Open(path_);
    EXPECT_TRUE(!opened.ok() || opened->has_ledger()) << "without the last " << cut << " bytes";
  }
}

TEST_F(CollectionStoreTest, FileThatIsNoStoreIsTold) {
  EXPECT_TRUE(Fails(Collection::Open(path_ + "/a.b2f"), absl::StatusCode::kInvalidArgument,
                    "neither a collection nor a store"));
  EXPECT_TRUE(Fails(Collection::Open(dir_.Path("none.b2z")), absl::StatusCode::kNotFound, ""));
}

// Each death and each power cut leaves the whole file, or none of that name.
TEST(CollectionStoreCrashTest, PackedCopyIsThereAsAWholeOrNot) {
  const NoThreads no_threads;  // for the disk
  int64_t whole = 0;
  int64_t none = 0;
  for (int64_t after = 0; whole == 0 || none == 0 || after < 100; after += 3) {
    Dice dice(static_cast<uint32_t>(after));
    SimulatedDisk disk;
    CollectionOptions options;
    options.members.file_system = disk.root();
    bool is_made = false;
    {
      const CollectionSnapshot made = Make("c", options);
      disk.DieAt(disk.operations() + after, dice);
      is_made = made.CopyTo("c.b2z").ok();
    }
    disk.Revive();
    for (const bool cut : {false, true}) {
      const std::unique_ptr<SimulatedDisk> left = cut ? disk.PowerLoss(dice) : disk.Clone();
      options.members.file_system = left->root();
      const absl::StatusOr<Collection> found = Collection::Open("c.b2z", options);
      ASSERT_TRUE(found.ok() || absl::IsNotFound(found.status())) << found.status();
      EXPECT_TRUE(found.ok() || !is_made) << "died after operation " << after;
      if (absl::IsNotFound(found.status())) {
        ASSERT_TRUE(IsOk(Collection::Open("c", options)->snapshot().CopyTo("c.b2z")));
        EXPECT_EQ(left->root()->List(".")->size(), 2) << "nothing is left of the first copy";
      }
      found.ok() ? ++whole : ++none;
      if (!found.ok()) continue;
      Check(found->snapshot());
      EXPECT_TRUE(found->snapshot().Verify()->ok());
    }
    if (is_made) break;
  }
  EXPECT_GT(whole, 0);
  EXPECT_GT(none, 0);
}

}  // namespace
}  // namespace cairn::test
