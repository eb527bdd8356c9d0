// Frames, increments and logs that earlier Cairns wrote are read, and go on.
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/copy.h"
#include "cairn/frame.h"
#include "cairn/log.h"
#include "cairn/log_writer.h"
#include "cairn/writer.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::vectors {
namespace {

// The layers that these files have are no values of MessagePack.
class OlderCairnTest : public testing::Test {
 protected:
  // Returns the path of a copy, which the test may write.
  std::string CopyOf(const std::string& name) {
    const std::string path = dir_.Path(name);
    std::filesystem::copy_file(std::filesystem::path(CAIRN_VECTOR_FOLDER) / "cairn/seal4" / name,
                               path);
    return path;
  }

  test::TempDir dir_;
};

// Expects the numbers from 0 on.
void ExpectNumbers(const Snapshot& snapshot, int32_t count) {
  ASSERT_EQ(snapshot.info().nbytes, int64_t{4} * count);
  std::vector<int32_t> items(static_cast<size_t>(count));
  ASSERT_TRUE(IsOk(snapshot.ReadItems(0, MutableItems(items))));
  std::vector<int32_t> expected(items.size());
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(items, expected);
  const auto report = snapshot.Verify();
  ASSERT_TRUE(IsOk(report));
  EXPECT_TRUE(report->ok());
}

TEST_F(OlderCairnTest, FrameWithAJournalIsReadAndGoesOn) {
  const std::string path = CopyOf("killed.b2frame");
  Frame frame = Frame::Open(path).value();
  ExpectNumbers(frame.snapshot(), 6000);
  const Snapshot before = frame.snapshot();
  Writer writer = frame.OpenWriter({.keep_generations = 100}).value();
  const std::vector<int32_t> more = {6000, 6001};
  ASSERT_TRUE(IsOk(writer.Append(Items(more))));
  ASSERT_TRUE(IsOk(writer.Close()));
  ExpectNumbers(Frame::Open(path)->snapshot(), 6002);
  EXPECT_TRUE(Frame::Open(path)->snapshot().info().sealed);
  ExpectNumbers(before, 6000);
  EXPECT_TRUE(before.HasVlmetalayer("note"));
  OpenOptions old;
  old.generation = 4;
  const absl::StatusOr<Frame> checkpoint = Frame::Open(path, old);
  ASSERT_TRUE(IsOk(checkpoint)) << "the checkpoint that the earlier Cairn left";
  ExpectNumbers(checkpoint->snapshot(), 5000);
}

TEST_F(OlderCairnTest, IncrementIsRestored) {
  const std::string base = CopyOf("base.b2frame");
  Frame frame = Frame::Open(base).value();
  Writer writer = frame.OpenWriter().value();
  ASSERT_TRUE(IsOk(writer.ApplyIncrement(Frame::Open(CopyOf("increment.b2frame"))->snapshot())));
  ASSERT_TRUE(IsOk(writer.Close()));
  ExpectNumbers(Frame::Open(base)->snapshot(), 5000);
}

TEST_F(OlderCairnTest, LogIsReadAndGoesOn) {
  const std::string path = CopyOf("log.b2frame");
  Log log = Log::Open(path).value();
  const auto records = [&] { return log.Refresh()->nrecords(); };
  EXPECT_EQ(records(), 391);
  LogWriter writer = log.OpenWriter({}).value();
  EXPECT_EQ(writer.CodeOf("host", "h3").value(), 4u);
  EXPECT_EQ(writer.CodeOf("host", "another").value(), 9u);
  ASSERT_TRUE(IsOk(writer.Close()));
  EXPECT_EQ(records(), 391);
}

}  // namespace
}  // namespace cairn::vectors
