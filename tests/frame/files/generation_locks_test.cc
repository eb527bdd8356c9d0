// Tests what a reader is told if it cannot make sure that its bytes stay. It never gets a state
// that a writer may take away.
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/frame/files/frame_locks.h"
#include "tests/support/bytes.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"
#include "tests/support/unsynced_file_system.h"

namespace cairn::test {
namespace {

using absl::StatusCode;

// The events when a reader asks for its lock, reads the header or asks who has locks.
struct Hooks {
  std::function<absl::Status()> lock = [] { return absl::OkStatus(); };
  std::function<void(MutableBytes)> header = [](MutableBytes) {};
  bool has_locks = true;
};

class HookedFile final : public UnsyncedFile {
 public:
  HookedFile(std::unique_ptr<File> base, Hooks* hooks)
      : UnsyncedFile(std::move(base)), hooks_(*hooks) {}
  absl::Status ReadAt(int64_t offset, MutableBytes dst) const override {
    const absl::Status status = UnsyncedFile::ReadAt(offset, dst);
    if (offset == 0 && status.ok()) hooks_.header(dst);
    return status;
  }
  absl::Status LockByte(int64_t offset, LockMode mode) override {
    const absl::Status status = mode == LockMode::kShared ? hooks_.lock() : absl::OkStatus();
    return status.ok() ? UnsyncedFile::LockByte(offset, mode) : status;
  }
  absl::StatusOr<bool> IsLocked(int64_t offset, int64_t count) const override {
    if (!hooks_.has_locks) return absl::ResourceExhaustedError("no locks available");
    return UnsyncedFile::IsLocked(offset, count);
  }

 private:
  Hooks& hooks_;
};

class HookedFiles final : public UnsyncedFileSystem {
 public:
  explicit HookedFiles(Hooks* hooks) : hooks_(hooks) {}
  absl::StatusOr<std::unique_ptr<File>> WrapFile(std::unique_ptr<File> file, const std::string&,
                                                 FileMode) override {
    return std::make_unique<HookedFile>(std::move(file), hooks_);
  }

 private:
  Hooks* const hooks_;
};

class ReaderLocksTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(IsOk(WriteFrame(path_, PlainCopies(64), MakeNoise(200, 1))));
  }
  absl::StatusOr<Frame> Open() { return Frame::Open(path_, {.file_system = Unowned(&files_)}); }

  Hooks hooks_;
  HookedFiles files_{&hooks_};
  const TempDir dir_;
  const std::string path_ = dir_.Path("f");
};

TEST_F(ReaderLocksTest, ReaderWithoutItsLockIsRefused) {
  for (const absl::Status& refusal :
       {absl::ResourceExhaustedError("no locks available"), absl::UnavailableError("held"),
        absl::InternalError("broken")}) {
    hooks_.lock = [&] { return refusal; };
    EXPECT_TRUE(Fails(Open(), StatusCode::kUnavailable, "a reader's lock"));
  }
}

TEST_F(ReaderLocksTest, ReaderWhoseRefreshGetsNoLockKeepsWhatItHas) {
  auto frame = Open();
  ASSERT_TRUE(IsOk(frame));
  ASSERT_TRUE(IsOk(AppendTo(path_, MakeNoise(64, 2))));
  hooks_.lock = [] { return absl::ResourceExhaustedError("no locks available"); };
  EXPECT_TRUE(absl::IsUnavailable(frame->Refresh().status()));
  EXPECT_EQ(DataOf(frame->snapshot()).value(), MakeNoise(200, 1));
  hooks_ = {};
  const auto refreshed = frame->Refresh();
  ASSERT_TRUE(IsOk(refreshed));
  EXPECT_EQ(refreshed->info().nbytes, 264);
}

TEST_F(ReaderLocksTest, LockThatIsHeldForAMomentIsAskedForAgain) {
  int asked = 0;
  hooks_.lock = [&] { return ++asked == 1 ? absl::UnavailableError("held") : absl::OkStatus(); };
  const auto frame = Open();
  ASSERT_TRUE(IsOk(frame));
  // Another lock is held while the frame is loaded.
  EXPECT_EQ(asked, 3);
  const auto file = PosixFileSystem()->Open(path_, FileMode::kRead);
  EXPECT_TRUE(
      (*file)->IsLocked(frame::ReaderLockByte(frame->snapshot().info().generation), 1).value());
}

TEST_F(ReaderLocksTest, WhereThereAreNoLocksNoneIsNeeded) {
  hooks_.lock = [] { return absl::UnimplementedError("no locks"); };
  EXPECT_TRUE(IsOk(Open()));
  hooks_.lock = [] { return absl::ResourceExhaustedError("no locks available"); };
  hooks_.has_locks = false;
  EXPECT_TRUE(IsOk(Open()));
}

TEST_F(ReaderLocksTest, HeaderThatNeverStaysIsNotBelieved) {
  // A thread count, which says nothing of the data and is not sealed.
  constexpr size_t kThreads = 64;
  uint8_t count = 0;
  hooks_.header = [&](MutableBytes header) {
    if (header.size() > kThreads) header[kThreads] = static_cast<std::byte>(++count);
  };
  EXPECT_TRUE(Fails(Open(), StatusCode::kUnavailable, "frame header: it changes each time"));
}

}  // namespace
}  // namespace cairn::test
