// A frame moves to another file, and the process that moves it dies on the way.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/status.h"
#include "tests/concurrency/ledger.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"
#include "tests/support/unsynced_file_system.h"

namespace cairn::test {
namespace {

class MovingTest : public testing::Test {
 protected:
  // Makes a commit by a writer that nothing happens to.
  absl::Status CommitOne(const std::string& path) {
    CAIRN_ASSIGN_OR_RETURN(Frame frame, Frame::Open(path, {.file_system = Unowned(&unsynced_)}));
    CAIRN_ASSIGN_OR_RETURN(Writer writer, frame.OpenWriter());
    const std::vector<int64_t> items(kChunkItems, 1);
    CAIRN_RETURN_IF_ERROR(writer.Append(std::as_bytes(std::span(items))));
    return writer.Commit(Durability::kProcess).status();
  }
  absl::StatusOr<Frame> Make(const std::string& path) {
    CreateOptions options = LedgerOptions(Layout::kContiguous);
    options.overwrite = true;
    options.file_system = Unowned(&unsynced_);
    CAIRN_RETURN_IF_ERROR(Frame::Create(path, options).status());
    CAIRN_RETURN_IF_ERROR(CommitOne(path));
    return Frame::Open(path);
  }
  // Compacts until the disk is gone, after this many operations; whether all of it went well.
  bool Compact(const std::string& path, int64_t operations) {
    FaultFileSystem files(Unowned(&unsynced_));
    auto frame = Frame::Open(path, {.file_system = Unowned(&files)});
    EXPECT_TRUE(IsOk(frame));
    files.Inject({.after = operations, .disk_gone = true});
    return frame->Compact().ok();
  }

  const TempDir dir_;
  UnsyncedFileSystem unsynced_;
};

TEST_F(MovingTest, ReaderMissesNoCommitWhereverACompactionDies) {
  bool moved = false;
  for (int64_t operations = 0; !moved; ++operations) {
    SCOPED_TRACE(testing::Message() << "dies after operation " << operations);
    const std::string path = dir_.Path("frame");
    auto reader = Make(path);
    ASSERT_TRUE(IsOk(reader));
    ASSERT_TRUE(IsOk(reader->Refresh()));  // looks at the name, and not again for a while
    moved = Compact(path, operations);
    auto snapshot = reader->Refresh();
    ASSERT_TRUE(IsOk(snapshot));
    EXPECT_EQ(snapshot->info().nitems, kChunkItems);
    const absl::Status committed = CommitOne(path);
    ASSERT_TRUE(IsOk(committed));
    snapshot = reader->Refresh();
    ASSERT_TRUE(IsOk(snapshot));
    EXPECT_EQ(snapshot->info().nitems, 2 * kChunkItems);
  }
}

}  // namespace
}  // namespace cairn::test
