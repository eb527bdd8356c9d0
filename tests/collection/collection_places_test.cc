// Collections beside what does not belong to them: other files, and other collections.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/collection.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

namespace fs = std::filesystem;

class CollectionPlacesTest : public testing::Test {
 protected:
  // Makes a collection with the member /g/a, which holds `value`.
  static Collection Make(const std::string& path, int32_t value) {
    Collection made = Collection::Create(path).value();
    CollectionWriter writer = made.OpenWriter().value();
    Append(writer.Add("/g/a", Bare()).value(), value);
    EXPECT_TRUE(IsOk(writer.Commit()));
    EXPECT_TRUE(IsOk(made.Refresh()));
    return made;
  }
  static CreateOptions Bare() { return {.compression = {.typesize = 4}}; }
  static void Append(MemberWriter member, int32_t value) {
    EXPECT_TRUE(IsOk(member.Append(std::vector<int32_t>{value})));
  }
  static int32_t ValueOf(const CollectionSnapshot& snapshot) {
    const absl::StatusOr<Snapshot> member = snapshot.OpenMember("/g/a");
    EXPECT_TRUE(IsOk(member));
    if (!member.ok()) return -1;
    std::vector<int32_t> values(static_cast<size_t>(member->info().nitems));
    EXPECT_TRUE(IsOk(member->ReadItems(0, values)));
    return values.back();
  }
  static void Touch(const std::string& path) { std::ofstream(path) << "x"; }

  TempDir dir_;
  const std::string path_ = dir_.Path("c.b2d");
};

TEST_F(CollectionPlacesTest, FilesThatNoCollectionNamedSoAreLeft) {
  Collection collection = Make(path_, 1);
  std::vector<std::string> own;
  for (const std::string name : {".cairn-", ".cairn-notes", "g/.cairn-0123456789abcdef0",
                                 "g/.cairn-0123456789ABCDEF", ".cairn-0123456789abcdeg"}) {
    own.push_back(path_ + "/" + name);
    Touch(own.back());
  }
  own.push_back(path_ + "/.cairn-0123456789abcdef");
  fs::create_directory(own.back());
  ASSERT_TRUE(IsOk(collection.OpenWriter()->Close()));
  for (const std::string& file : own) EXPECT_TRUE(fs::exists(file)) << file;
}

TEST_F(CollectionPlacesTest, FilesOfACollectionInsideAreLeft) {
  Collection outer = Make(path_, 1);
  Collection inner = Make(path_ + "/inner", 2);
  CollectionWriter writer = inner.OpenWriter().value();
  ASSERT_TRUE(IsOk(writer.Remove("/g/a")));
  ASSERT_TRUE(IsOk(writer.Commit()));
  ASSERT_TRUE(IsOk(outer.OpenWriter()->Close()));
  EXPECT_EQ(ValueOf(inner.snapshot()), 2);
}

TEST_F(CollectionPlacesTest, MembersInsideAnotherCollectionAreRefused) {
  Collection outer = Make(path_, 1);
  const Collection inner = Make(path_ + "/inner", 2);
  CollectionWriter writer = outer.OpenWriter().value();
  for (const std::string name : {"/inner/x", "/inner/g/x", "/inner/new/x"}) {
    EXPECT_TRUE(Fails(writer.Add(name, Bare()), absl::StatusCode::kFailedPrecondition,
                      "c.b2d/inner: belongs to another collection"));
    EXPECT_TRUE(Fails(writer.Copy("/g/a", name), absl::StatusCode::kFailedPrecondition, "another"));
  }
  EXPECT_TRUE(
      Fails(writer.EditAttributes("/inner"), absl::StatusCode::kFailedPrecondition, "another"));
  EXPECT_FALSE(fs::exists(path_ + "/inner/new"));
  EXPECT_TRUE(IsOk(writer.Add("/innermost/x", Bare())));
}

}  // namespace
}  // namespace cairn::test
