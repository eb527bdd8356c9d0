// Random sequences of every edit, followed by another frame through increments.
//
// CAIRN_EDIT_SEED=n runs the one sequence of that seed.
#include <cstdlib>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "tests/frame/sequences/random_chunks.h"
#include "tests/frame/sequences/random_edits.h"
#include "tests/support/frame_model.h"
#include "tests/support/frames.h"
#include "tests/support/search.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"
#include "tests/support/unsynced_file_system.h"

namespace cairn::frame {
namespace {

using test::FrameModel;

constexpr int kIncrements = 8;
constexpr int32_t kFollowedTypesizes[] = {1, 3, 4, 8, 300};

// A frame on its way through random edits, and another one that follows it.
class Follower {
 public:
  explicit Follower(uint64_t seed) : random_(seed) { Create(); }

  void Run() {
    for (int i = 0; i < kIncrements && !testing::Test::HasFailure(); ++i) {
      SCOPED_TRACE(testing::Message() << "increment " << i);
      ASSERT_NO_FATAL_FAILURE(EditAndCommit());
      ASSERT_NO_FATAL_FAILURE(Ship());
    }
  }

 private:
  size_t Below(size_t limit) { return test::Below(random_, limit); }
  bool Chance(size_t out_of) { return test::Chance(random_, out_of); }
  Layout AnyLayout() { return Chance(3) ? Layout::kSparse : Layout::kContiguous; }

  void Create() {
    const int32_t typesize = kFollowedTypesizes[Below(std::size(kFollowedTypesizes))];
    CreateOptions options = test::Cut(typesize, ChunkSize::Variable());
    if (!Chance(3)) options.chunksize = static_cast<int32_t>(1 + Below(700));
    if (Chance(4)) options.fingerprint = FingerprintType::kNone;
    options.layout = AnyLayout();
    options.file_system = Unowned(&files_);
    for (size_t i = Below(3); i > 0; --i) {
      options.metalayers.push_back(
          {.name = "fixed " + std::to_string(i), .content = test::Buffer(Below(300))});
    }
    frame_ = *Frame::Create(dir_.Path("frame"), options);
    model_ =
        FrameModel(typesize, frame_->snapshot().info().chunksize.value_or(0), options.metalayers);
    prefers_vlblocks_ = Chance(4);
    writer_ = *frame_->OpenWriter();
    ASSERT_NO_FATAL_FAILURE(EditAndCommit());
    ShipAll();
  }

  // Makes a new copy, to which no increment leads.
  void ShipAll() {
    copy_path_ += '+';
    shipped_ = frame_->snapshot();
    ASSERT_TRUE(IsOk(
        shipped_->CopyTo(copy_path_, {.layout = AnyLayout(), .file_system = Unowned(&files_)})));
    copy_ = *Frame::Open(copy_path_, {.file_system = Unowned(&files_)});
    ExpectHolds(copy_->snapshot(), *model_);
    EXPECT_EQ(*copy_->snapshot().ContentHash(), *shipped_->ContentHash());
  }

  void EditAndCommit() {
    for (size_t i = Below(12); i > 0; --i) {
      test::RandomEdits(random_, prefers_vlblocks_, *writer_, *model_).Edit();
    }
    ASSERT_TRUE(IsOk(writer_->Commit()));
    if (Chance(4)) {
      ASSERT_TRUE(IsOk(writer_->Checkpoint()));
    }
    if (!Chance(5)) return;
    writer_.reset();
    if (Chance(2)) {
      ASSERT_TRUE(IsOk(frame_->Compact()));
    }
    writer_ = *frame_->OpenWriter();
  }

  void Ship() {
    const std::string path = dir_.Path("increment");
    // The increment begins at the last shipped state, or at the state of the copy.
    CopyOptions options = {.since = Chance(2) ? shipped_ : copy_->snapshot(),
                           .overwrite = true,
                           .file_system = Unowned(&files_)};
    if (Chance(4)) options.layout = Layout::kSparse;
    const absl::StatusOr<Snapshot> newest = frame_->Refresh();
    ASSERT_TRUE(IsOk(newest));
    if (options.since->info().chunksize != newest->info().chunksize) {
      EXPECT_TRUE(absl::IsFailedPrecondition(newest->CopyTo(path, options)));
      return ShipAll();
    }
    ASSERT_TRUE(IsOk(newest->CopyTo(path, options)));
    shipped_ = *newest;
    absl::StatusOr<Frame> increment = Frame::Open(path, {.file_system = Unowned(&files_)});
    ASSERT_TRUE(IsOk(increment));
    EXPECT_TRUE(increment->snapshot().Verify()->ok());
    EXPECT_TRUE(increment->snapshot().info().sealed);
    absl::StatusOr<Writer> restorer = copy_->OpenWriter();
    ASSERT_TRUE(IsOk(restorer));
    ASSERT_TRUE(IsOk(restorer->ApplyIncrement(increment->snapshot())));
    const absl::StatusOr<Snapshot> restored = restorer->Commit();
    ASSERT_TRUE(IsOk(restored));
    EXPECT_EQ(*restored->ContentHash(), *shipped_->ContentHash());
    if (Chance(2)) {
      ASSERT_TRUE(IsOk(restorer->Close()));
    }
    ExpectHolds(copy_->snapshot(), *model_);
    const absl::StatusOr<Frame> opened = Frame::Open(copy_path_, {.file_system = Unowned(&files_)});
    ASSERT_TRUE(IsOk(opened));
    ExpectHolds(opened->snapshot(), *model_);
    EXPECT_EQ(*opened->snapshot().ContentHash(), *shipped_->ContentHash());
  }

  test::Random random_;
  const test::TempDir dir_;
  test::UnsyncedFileSystem files_;
  std::string copy_path_ = dir_.Path("copy");
  bool prefers_vlblocks_ = false;
  std::optional<Frame> frame_;
  std::optional<Writer> writer_;
  std::optional<FrameModel> model_;
  std::optional<Snapshot> shipped_;
  std::optional<Frame> copy_;
};

TEST(FollowerTest, FramesFollowAnyEditsThroughIncrements) {
  const char* only = std::getenv("CAIRN_EDIT_SEED");
  const int64_t runs = only != nullptr ? 400 : test::SearchRuns(400);
  for (uint64_t seed = 1; seed <= static_cast<uint64_t>(runs); ++seed) {
    if (only != nullptr && std::to_string(seed) != only) continue;
    SCOPED_TRACE(testing::Message() << "CAIRN_EDIT_SEED=" << seed);
    Follower(seed).Run();
    if (testing::Test::HasFailure()) break;
  }
}

}  // namespace
}  // namespace cairn::frame
