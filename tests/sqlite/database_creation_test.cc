// Tests making a database where there is already a file.
#include <string>

#include <gtest/gtest.h>

#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tools/sqlite/vfs/database.h"

namespace cairn::sqlite {
namespace {

// Another process has made it since this one looked.
TEST(DatabaseCreationTest, DatabaseThatIsThereAlreadyIsLeftAlone) {
  const test::TempDir directory;
  const std::string path = directory.Path("app.db");
  ASSERT_TRUE(IsOk(Database::Create(path, {}, {})));
  const absl::StatusOr<FileIdentity> made = PosixFileSystem()->Identity(path);
  ASSERT_TRUE(IsOk(made.status()));
  EXPECT_TRUE(IsOk(Database::Create(path, {}, {})));
  EXPECT_EQ(*PosixFileSystem()->Identity(path), *made);
}

TEST(DatabaseCreationTest, EmptyFileIsReplaced) {
  const test::TempDir directory;
  const std::string path = directory.Path("app.db");
  ASSERT_TRUE(IsOk(PosixFileSystem()->Open(path, FileMode::kCreateNew).status()));
  ASSERT_TRUE(IsOk(Database::Create(path, {}, {})));
  EXPECT_TRUE(IsOk(Database::Open(path, {}, {}).status()));
}

}  // namespace
}  // namespace cairn::sqlite
