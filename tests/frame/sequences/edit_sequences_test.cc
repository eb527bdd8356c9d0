// Random sequences of every edit, on frames of every kind, against a plain model.
//
// CAIRN_EDIT_SEED=n runs the one sequence of that seed.
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "tests/frame/sequences/random_chunks.h"
#include "tests/frame/sequences/random_edits.h"
#include "tests/support/bytes.h"
#include "tests/support/frame_model.h"
#include "tests/support/frames.h"
#include "tests/support/search.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"
#include "tests/support/unsynced_file_system.h"

namespace cairn::frame {
namespace {

using absl::StatusCode;
using test::Buffer;
using test::FrameModel;

constexpr int kEdits = 30;
constexpr int32_t kTypesizes[] = {1, 2, 3, 4, 8, 255, 300};

enum class Place { kMemory, kFile, kDirectory };

// A frame on its way through random edits.
class Sequence {
 public:
  Sequence(Place place, uint64_t seed) : place_(place), random_(seed) { Create(); }

  void Run() {
    for (int i = 0; i < kEdits && !Failed(); ++i) {
      SCOPED_TRACE(testing::Message() << "edit " << i);
      Step();
    }
    if (!Failed()) Close();
    old_.reset();
    if (!Failed()) Compact();
    if (!Failed() && place_ == Place::kDirectory) ExpectNoOrphans();
  }

 private:
  struct Old {
    Snapshot snapshot;
    FrameModel model;
  };

  static bool Failed() { return testing::Test::HasFailure(); }
  size_t Below(size_t limit) { return test::Below(random_, limit); }
  bool Chance(size_t out_of) { return test::Chance(random_, out_of); }

  void Create() {
    const int32_t typesize = kTypesizes[Below(std::size(kTypesizes))];
    CreateOptions options = test::Cut(typesize, ChunkSize::Variable());
    if (!Chance(3)) options.chunksize = static_cast<int32_t>(1 + Below(700));
    if (Chance(4)) options.fingerprint = FingerprintType::kNone;
    if (place_ == Place::kDirectory) options.layout = Layout::kSparse;
    options.file_system = Unowned(&files_);
    for (size_t i = Below(3); i > 0; --i) {
      options.metalayers.push_back(
          {.name = "fixed " + std::to_string(i), .content = Buffer(Below(300))});
    }
    absl::StatusOr<Frame> frame =
        place_ == Place::kMemory ? Frame::CreateInMemory(options) : Frame::Create(path_, options);
    ASSERT_TRUE(IsOk(frame));
    frame_ = *std::move(frame);
    committed_ =
        FrameModel(typesize, frame_->snapshot().info().chunksize.value_or(0), options.metalayers);
    prefers_vlblocks_ = Chance(4);
    OpenWriter();
  }

  void OpenWriter() {
    staged_ = committed_;
    absl::StatusOr<Writer> writer = frame_->OpenWriter();
    ASSERT_TRUE(IsOk(writer));
    writer_ = *std::move(writer);
  }

  void Step() {
    switch (Below(24)) {
      case 0:
        return Rollback();
      case 1:
      case 2:
        return LookAtStaged();
      case 3:
      case 4:
        return Commit();
      case 5:
        return Reopen();
      case 6:
        return CompactBetween();
      default:
        return test::RandomEdits(random_, prefers_vlblocks_, *writer_, *staged_).Edit();
    }
  }

  void LookAtStaged() {
    SCOPED_TRACE("staged");
    const absl::StatusOr<Snapshot> snapshot = writer_->StagedSnapshot();
    ASSERT_TRUE(IsOk(snapshot));
    ExpectHolds(*snapshot, *staged_);
    LookAtCommitted();
    if (Chance(2)) view_ = Old{*snapshot, *staged_};
  }

  void LookAtCommitted() {
    SCOPED_TRACE("committed");
    ExpectHolds(frame_->snapshot(), *committed_);
    if (place_ == Place::kMemory) return;
    const absl::StatusOr<Frame> other = Frame::Open(path_, AnyOpenOptions());
    ASSERT_TRUE(IsOk(other));
    ExpectHolds(other->snapshot(), *committed_);
  }

  void Rollback() {
    SCOPED_TRACE("Rollback");
    writer_->Rollback();
    staged_ = committed_;
    LookAtOld();
  }

  void Commit() {
    SCOPED_TRACE("Commit");
    const absl::StatusOr<Snapshot> snapshot = writer_->Commit();
    ASSERT_TRUE(IsOk(snapshot));
    committed_ = staged_;
    ExpectHolds(*snapshot, *committed_);
    LookAtCommitted();
    Remember(*snapshot);
  }

  // Keeps one committed state to see that it stays.
  void Remember(const Snapshot& snapshot) {
    LookAtOld();
    if (!old_.has_value() || Chance(3)) old_ = Old{snapshot, *committed_};
  }

  void LookAtOld() {
    SCOPED_TRACE("old");
    if (old_.has_value()) ExpectHolds(old_->snapshot, old_->model);
    if (view_.has_value()) ExpectHolds(view_->snapshot, view_->model);
  }

  // Closes the writer with all staged edits, or drops them first.
  void Close() {
    SCOPED_TRACE("Close");
    if (Chance(2)) {
      ASSERT_TRUE(IsOk(writer_->Close()));
      committed_ = staged_;
    }
    writer_.reset();
    staged_ = committed_;
    LookAtOld();
    view_.reset();  // no other writer may come while it is there
    LookAtCommitted();
    const absl::StatusOr<Buffer> bytes = frame_->snapshot().ToBuffer();
    ASSERT_TRUE(IsOk(bytes));
    const absl::StatusOr<Frame> copy = Frame::OpenBuffer(*bytes);
    ASSERT_TRUE(IsOk(copy));
    ExpectHolds(copy->snapshot(), *committed_);
  }

  OpenOptions AnyOpenOptions() {
    OpenOptions options;
    options.use_mmap = Chance(2);
    options.file_system = Unowned(&files_);
    return options;
  }

  void Reopen() {
    SCOPED_TRACE("Reopen");
    ASSERT_NO_FATAL_FAILURE(Close());
    if (place_ != Place::kMemory) {
      absl::StatusOr<Frame> frame = Frame::Open(path_, AnyOpenOptions());
      ASSERT_TRUE(IsOk(frame));
      frame_ = *std::move(frame);
    }
    OpenWriter();
  }

  void CompactBetween() {
    SCOPED_TRACE("CompactBetween");
    EXPECT_EQ(frame_->Compact().status().code(), StatusCode::kUnavailable);
    ASSERT_NO_FATAL_FAILURE(Close());
    ASSERT_NO_FATAL_FAILURE(Compact());
    OpenWriter();
  }

  void Compact() {
    SCOPED_TRACE("Compact");
    const absl::StatusOr<CompactReport> report = frame_->Compact();
    ASSERT_TRUE(IsOk(report));
    LookAtCommitted();
    LookAtOld();
    if (place_ == Place::kDirectory) return;
    const Snapshot snapshot = frame_->snapshot();
    EXPECT_EQ(snapshot.info().dead_bytes.value_or(0),
              0);  // unknown where too many layers leave no room for a seal
    EXPECT_EQ(report->size_after, snapshot.info().frame_size);
  }

  // The index and one file a stored chunk, once no reader holds an older state.
  void ExpectNoOrphans() {
    const Snapshot snapshot = frame_->snapshot();
    int64_t stored = 0;
    for (int64_t i = 0; i < snapshot.info().nchunks; ++i) {
      if (snapshot.GetEntry(i)->special == SpecialValue::kNone) ++stored;
    }
    const auto files = std::distance(std::filesystem::directory_iterator(path_),
                                     std::filesystem::directory_iterator());
    EXPECT_EQ(files, stored + 1);
  }

  const Place place_;
  test::Random random_;
  const test::TempDir dir_;
  const std::string path_ = dir_.Path("frame");
  test::UnsyncedFileSystem files_;
  bool prefers_vlblocks_ = false;
  std::optional<Frame> frame_;
  std::optional<Writer> writer_;
  std::optional<FrameModel> committed_;
  std::optional<FrameModel> staged_;
  std::optional<Old> old_;   // once committed
  std::optional<Old> view_;  // once staged
};

// Runs this many seeds.
void RunSequences(Place place, uint64_t first, int64_t count) {
  const char* only = std::getenv("CAIRN_EDIT_SEED");
  const int64_t runs = only != nullptr ? count : test::SearchRuns(count);
  for (uint64_t seed = first; seed < first + static_cast<uint64_t>(runs); ++seed) {
    if (only != nullptr && std::to_string(seed) != only) continue;
    SCOPED_TRACE(testing::Message() << "CAIRN_EDIT_SEED=" << seed);
    Sequence(place, seed).Run();
    if (testing::Test::HasFailure()) break;
  }
}

TEST(EditSequencesTest, FramesInMemoryHoldWhatTheModelHolds) {
  RunSequences(Place::kMemory, 1, 6000);
}

TEST(EditSequencesTest, FramesInFilesHoldWhatTheModelHolds) {
  RunSequences(Place::kFile, 6001, 2000);
}

TEST(EditSequencesTest, SparseFramesHoldWhatTheModelHolds) {
  RunSequences(Place::kDirectory, 8001, 2000);
}

}  // namespace
}  // namespace cairn::frame
