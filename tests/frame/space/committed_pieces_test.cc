// The space of frames whose items are committed before they fill a chunk.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/bytes.h"
#include "tests/support/bytes.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"
#include "tests/support/unsynced_file_system.h"

namespace cairn::test {
namespace {

constexpr int32_t kChunk = 256 << 10;
constexpr int64_t kTotal = int64_t{40} << 20;
// A small frame may leave this unused: 2 MiB that are dead, and as much of its journal.
constexpr int64_t kLeast = int64_t{4} << 20;

// The size of each append in hundredths of a chunk.
class CommittedPiecesTest : public testing::TestWithParam<int> {
 protected:
  int64_t Size() const { return static_cast<int64_t>(std::filesystem::file_size(path_)); }
  Frame Open() {
    auto frame = Frame::Open(path_, {.file_system = Unowned(&files_)});
    EXPECT_TRUE(IsOk(frame));
    return *std::move(frame);
  }

  const TempDir dir_;
  const std::string path_ = dir_.Path("f");
  UnsyncedFileSystem files_;
};

TEST_P(CommittedPiecesTest, ChunksTakeTheSpaceOfThePiecesThatTheyReplace) {
  ASSERT_TRUE(IsOk(WriteFrame(path_, PlainCopies(kChunk), {})));
  auto writer = Open().OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  const Buffer all = MakeNoise(kTotal, 1);
  const int64_t step = int64_t{kChunk} * GetParam() / 100;
  for (int64_t at = 0; at < kTotal; at += step) {
    const int64_t end = std::min(at + step, kTotal);
    ASSERT_TRUE(IsOk(writer->Append(
        Bytes(all).subspan(static_cast<size_t>(at), static_cast<size_t>(end - at)))));
    ASSERT_TRUE(IsOk(writer->Commit(Durability::kProcess)));
    ASSERT_LT(Size(), end + end / 4 + kLeast + 3 * kChunk) << "after " << end << " bytes";
  }
  ASSERT_TRUE(IsOk(writer->Close()));
  EXPECT_LT(Size(), kTotal + kTotal / 8);
  ExpectHolds(Open().snapshot(), all);
}

INSTANTIATE_TEST_SUITE_P(Steps, CommittedPiecesTest, testing::Values(3, 11, 30, 45, 60, 90, 130),
                         [](const auto& test) { return absl::StrCat("Percent", test.param); });

}  // namespace
}  // namespace cairn::test
