// Paths of frames, and frames that are made if they are not there.
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/forwarding_file.h"
#include "cairn/frame.h"
#include "tests/support/bytes.h"
#include "tests/support/files.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"

namespace cairn::test {
namespace {

class OpenOrCreateTest : public testing::TestWithParam<Layout> {
 protected:
  static CreateOptions OptionsOf(int32_t chunksize) {
    CreateOptions options = PlainCopies(chunksize);
    options.layout = GetParam();
    return options;
  }

  const TempDir dir_;
  const std::string path_ = dir_.Path("f");
};

TEST_P(OpenOrCreateTest, CreatesWhatIsNotThereAndOpensWhatIs) {
  auto created = Frame::OpenOrCreate(path_, OptionsOf(64));
  ASSERT_TRUE(IsOk(created));
  EXPECT_EQ(created->snapshot().info().layout, GetParam());
  ASSERT_TRUE(IsOk(created->OpenWriter()->Append(MakeItems(100))));
  ASSERT_TRUE(IsOk(AppendTo(path_, MakeItems(100))));
  auto opened = Frame::OpenOrCreate(path_, OptionsOf(128));
  ASSERT_TRUE(IsOk(opened));
  ExpectHolds(opened->snapshot(), MakeItems(100));
  EXPECT_EQ(opened->snapshot().info().chunksize, 64);
  EXPECT_TRUE(IsOk(opened->OpenWriter()));
}

TEST_P(OpenOrCreateTest, AllThatComeAtOnceGetTheSameFrame) {
  for (int round = 0; round < 20; ++round) {
    const std::string path = dir_.Path("round" + std::to_string(round));
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&path] {
        const auto frame = Frame::OpenOrCreate(path, OptionsOf(64));
        ASSERT_TRUE(IsOk(frame));
        EXPECT_EQ(frame->snapshot().file(), Frame::Open(path)->snapshot().file());
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

// Files in which a directory appears just after the first look for one.
class LateDirectory final : public ForwardingFileSystem {
 public:
  using ForwardingFileSystem::ForwardingFileSystem;
  absl::StatusOr<std::shared_ptr<FileSystem>> OpenDirectory(const std::string& path) override {
    if (looks_++ == 0) return absl::NotFoundError(path);
    return ForwardingFileSystem::OpenDirectory(path);
  }

 private:
  int looks_ = 0;
};

TEST_P(OpenOrCreateTest, FrameThatAppearsWhileItIsOpenedIsOpened) {
  ASSERT_TRUE(IsOk(Frame::Create(path_, OptionsOf(64))));
  LateDirectory files(PosixFileSystem());
  EXPECT_TRUE(IsOk(Frame::Open(path_, {.file_system = Unowned(&files)})));
}

TEST_P(OpenOrCreateTest, ReplacesNothing) {
  CreateOptions options = OptionsOf(64);
  options.overwrite = true;
  EXPECT_TRUE(Fails(Frame::OpenOrCreate(path_, options), absl::StatusCode::kInvalidArgument,
                    "is not overwritten"));
  PutFileBytes(path_, MakeNoise(100, 1));
  EXPECT_TRUE(absl::IsInvalidArgument(Frame::OpenOrCreate(path_, OptionsOf(64)).status()));
  EXPECT_EQ(FileBytes(path_), MakeNoise(100, 1));
}

TEST_P(OpenOrCreateTest, PathIsAbsoluteHoweverTheFrameWasOpened) {
  const std::string relative = std::filesystem::relative(path_);
  const auto created = Frame::Create(relative, OptionsOf(64));
  ASSERT_TRUE(IsOk(created));
  for (const std::string& path :
       {created->path(), Frame::Open(relative)->path(), Frame::OpenOrCreate(relative)->path()}) {
    EXPECT_TRUE(std::filesystem::path(path).is_absolute()) << path;
    EXPECT_TRUE(std::filesystem::equivalent(path, path_)) << path;
  }
  EXPECT_EQ(Frame::Open(path_)->path(), path_);
}

INSTANTIATE_TEST_SUITE_P(Layouts, OpenOrCreateTest,
                         testing::Values(Layout::kContiguous, Layout::kSparse));

TEST(PathTest, FrameInMemoryHasNone) {
  const Frame frame = NewInMemory(PlainCopies(64));
  EXPECT_EQ(frame.path(), "");
  const Buffer bytes = *frame.snapshot().ToBuffer();
  EXPECT_EQ(Frame::OpenBuffer(bytes)->path(), "");
}

}  // namespace
}  // namespace cairn::test
