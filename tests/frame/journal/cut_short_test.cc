// A full disk cuts a commit short at any byte, on a file system that cannot reserve space: whoever
// gets the error finds nothing of the commit, and nobody else does.
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "tests/support/bare_disk.h"
#include "tests/support/bytes.h"
#include "tests/support/frames.h"
#include "tests/support/simulated_disk.h"
#include "tests/support/status.h"

namespace cairn::test {
namespace {

constexpr int64_t kMuchFree = 1 << 24;

enum class CutEdit { kLayer, kItems, kNewChunk };
enum class CutEnd { kRollback, kClose, kSuspend };

void StageCut(CutEdit edit, Writer& writer) {
  switch (edit) {
    case CutEdit::kLayer:
      ASSERT_TRUE(IsOk(writer.SetVlmetalayer("k", AsBytes("new"))));
      break;
    case CutEdit::kItems:  // stay pending
      ASSERT_TRUE(IsOk(writer.Append(MakeNoise(kSmallChunk / 2, 3))));
      break;
    case CutEdit::kNewChunk:
      ASSERT_TRUE(IsOk(writer.UpdateChunk(0, MakeNoise(kSmallChunk, 3))));
      break;
  }
}

class CutShortTest : public testing::TestWithParam<std::tuple<Layout, CutEdit, Durability>> {
 protected:
  Layout layout() const { return std::get<0>(GetParam()); }
  CutEdit edit() const { return std::get<1>(GetParam()); }
  Durability durability() const { return std::get<2>(GetParam()); }

  // Begins with a frame whose journal has one commit, on a new disk.
  void Begin() {
    reader_.reset();
    writer_.reset();
    disk_ = std::make_unique<SimulatedDisk>();
    free_ = std::make_shared<int64_t>(kMuchFree);
    files_ = std::make_shared<BareFiles>(disk_->root(), free_);
    CreateOptions options = Cut(1, kSmallChunk);
    options.layout = layout();
    options.file_system = files_;
    absl::StatusOr<Writer> maker = Frame::BeginCreate("f", options);
    ASSERT_TRUE(IsOk(maker));
    ASSERT_TRUE(IsOk(maker->Append(MakeNoise(3 * kSmallChunk, 1))));
    ASSERT_TRUE(IsOk(maker->SetVlmetalayer("k", AsBytes("old"))));
    ASSERT_TRUE(IsOk(maker->Close()));
    reader_ = Open(files_).value();
    writer_ = reader_->OpenWriter({.opening = durability()}).value();
    ASSERT_TRUE(IsOk(writer_->Append(MakeNoise(kSmallChunk, 2))));
    ASSERT_TRUE(IsOk(writer_->Commit(durability())));
    before_ = ContentIn(files_);
  }
  static absl::StatusOr<Frame> Open(const std::shared_ptr<FileSystem>& files) {
    return Frame::Open("f", {.file_system = files});
  }
  static FrameContent ContentIn(const std::shared_ptr<FileSystem>& files) {
    return FullContentOf(Open(files).value().snapshot()).value();
  }
  void ExpectNothingIsSeen() {
    EXPECT_EQ(FullContentOf(reader_->Refresh().value()).value(), before_) << "by a reader";
    EXPECT_EQ(ContentIn(files_), before_) << "by one that opens the frame";
  }
  // The next reader and the next writer find the commit before, and go on.
  void ExpectNothingIsSeenAfterDeath() {
    const std::unique_ptr<SimulatedDisk> left = disk_->Clone();
    const auto free = std::make_shared<int64_t>(kMuchFree);
    const auto files = std::make_shared<BareFiles>(left->root(), free);
    EXPECT_EQ(ContentIn(files), before_) << "after the death of the writer";
    ExpectGoesOn(files);
  }
  void ExpectGoesOn(const std::shared_ptr<FileSystem>& files) {
    absl::StatusOr<Writer> next = Open(files).value().OpenWriter();
    ASSERT_TRUE(IsOk(next));
    ASSERT_TRUE(IsOk(next->SetVlmetalayer("k", AsBytes("next"))));
    ASSERT_TRUE(IsOk(next->Commit(Durability::kProcess)));
    ExpectHasOnlyTheNext(files);
    EXPECT_TRUE(IsOk(next->Close()));
  }
  void ExpectHasOnlyTheNext(const std::shared_ptr<FileSystem>& files) {
    FrameContent after = before_;
    after.vlmetalayers["k"] = "next";
    EXPECT_EQ(ContentIn(files), after);
    EXPECT_TRUE(Open(files).value().snapshot().Verify().value().ok());
  }
  void EndWriter(CutEnd end) {
    writer_->Rollback();
    if (end == CutEnd::kRollback) {
      *free_ = kMuchFree;
      ASSERT_TRUE(IsOk(writer_->SetVlmetalayer("k", AsBytes("next"))));
      ASSERT_TRUE(IsOk(writer_->Commit(durability())));
      EXPECT_EQ(FullContentOf(reader_->Refresh().value()).value().vlmetalayers["k"], "next");
      ExpectHasOnlyTheNext(files_);
      return;
    }
    if (end == CutEnd::kSuspend) {
      ASSERT_TRUE(IsOk(writer_->Suspend()));
    } else {
      writer_.reset();
    }
    ExpectNothingIsSeen();
    *free_ = kMuchFree;
    ExpectGoesOn(files_);
  }

  // Cuts a commit short after 0, 1… bytes, until there is room for all of it.
  template <typename Commit>
  void CutAtEachByte(Commit commit) {
    constexpr CutEnd kEnds[] = {CutEnd::kClose, CutEnd::kRollback, CutEnd::kSuspend};
    bool made = false;
    int64_t room = 0;
    for (; !made && !HasFailure(); ++room) {
      SCOPED_TRACE(testing::Message() << room << " bytes free");
      Begin();
      StageCut(edit(), *writer_);
      *free_ = room;
      const absl::Status status = commit();
      made = status.ok();
      if (made) break;
      ASSERT_TRUE(absl::IsResourceExhausted(status)) << status;
      ExpectNothingIsSeen();
      ExpectNothingIsSeenAfterDeath();
      EndWriter(kEnds[room % std::ssize(kEnds)]);
    }
    EXPECT_NE(ContentIn(files_), before_);
    EXPECT_GT(room, 100);
  }

  std::unique_ptr<SimulatedDisk> disk_;
  FreeBytes free_;
  std::shared_ptr<FileSystem> files_;
  std::optional<Frame> reader_;
  std::optional<Writer> writer_;
  FrameContent before_;
};

TEST_P(CutShortTest, CommitThatFailsIsSeenByNobody) {
  CutAtEachByte([this] { return writer_->Commit(durability()).status(); });
}

// Others take what it left free.
TEST_P(CutShortTest, PreparedCommitNeedsNoMoreSpace) {
  CutAtEachByte([this]() -> absl::Status {
    const absl::Status prepared = writer_->Prepare(durability());
    if (!prepared.ok()) return prepared;
    *free_ = 0;
    EXPECT_TRUE(IsOk(writer_->Commit(durability())));
    return absl::OkStatus();
  });
}

std::string NameOfCut(const testing::TestParamInfo<CutShortTest::ParamType>& info) {
  constexpr const char* kEdits[] = {"Layer", "Items", "NewChunk"};
  std::string name = std::get<0>(info.param) == Layout::kSparse ? "Sparse" : "Contiguous";
  name += kEdits[static_cast<int>(std::get<1>(info.param))];
  return name + (std::get<2>(info.param) == Durability::kMachine ? "Machine" : "Process");
}

INSTANTIATE_TEST_SUITE_P(
    All, CutShortTest,
    testing::Combine(testing::Values(Layout::kContiguous, Layout::kSparse),
                     testing::Values(CutEdit::kLayer, CutEdit::kItems, CutEdit::kNewChunk),
                     testing::Values(Durability::kProcess, Durability::kMachine)),
    NameOfCut);

}  // namespace
}  // namespace cairn::test
