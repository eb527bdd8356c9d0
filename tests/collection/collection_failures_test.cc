// Collections on full disks, after writers that died while they gave names to files, and in forked
// children.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/collection.h"
#include "cairn/frame.h"
#include "engine/base/bytes.h"
#include "tests/collection/ints.h"
#include "tests/support/bare_disk.h"
#include "tests/support/bytes.h"
#include "tests/support/child_process.h"
#include "tests/support/dice.h"
#include "tests/support/no_threads.h"
#include "tests/support/simulated_disk.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

class CollectionFailuresTest : public testing::Test {
 protected:
  CollectionOptions Options() const {
    CollectionOptions options;
    options.members.file_system = disk_->root();
    return options;
  }
  static absl::Status Add(CollectionWriter& writer, const std::string& name, const Ints& numbers) {
    CreateOptions options;
    options.compression.typesize = 4;
    options.array = {.shape = {0}, .chunkshape = {100}, .dtype = "<i4"};
    absl::StatusOr<MemberWriter> added = writer.Add(name, options);
    return added.ok() ? added->AppendSlices(0, numbers) : added.status();
  }

  const NoThreads no_threads_;  // for the disk
  std::unique_ptr<SimulatedDisk> disk_ = std::make_unique<SimulatedDisk>();
};

TEST_F(CollectionFailuresTest, FullDiskRefusesAttributesAsAnyCommit) {
  Dice dice(1);
  Collection collection = Collection::Create("c", Options()).value();
  CollectionWriter writer = collection.OpenWriter().value();
  ASSERT_TRUE(IsOk(Add(writer, "/a", {1, 2, 3})));
  ASSERT_TRUE(IsOk(writer.Commit()));
  const auto set_attribute = [&]() -> absl::StatusOr<std::vector<std::byte>> {
    std::vector<std::byte> value(2000 + dice.Below(28000));
    for (std::byte& each : value) each = static_cast<std::byte>(dice.Below(256));
    absl::StatusOr<MemberWriter> attributes = writer.EditAttributes("/");
    if (!attributes.ok()) return attributes.status();
    const absl::Status set = attributes->SetVlmetalayer("p", value);
    if (!set.ok()) return set;
    const absl::Status committed = writer.Commit().status();
    if (!committed.ok()) return committed;
    return value;
  };
  int refused = 0;
  for (int64_t room = 50'000; room < 400'000; room += 9'000) {
    disk_->SetCapacity(INT64_MAX);
    std::vector<std::byte> last = set_attribute().value();
    disk_->SetCapacity(INT64_MAX - disk_->Free() + room);
    for (int i = 0; i < 30; ++i) {
      absl::StatusOr<std::vector<std::byte>> set = set_attribute();
      if (set.ok()) {
        last = *std::move(set);
        continue;
      }
      ++refused;
      ASSERT_TRUE(Fails(set.status(), absl::StatusCode::kResourceExhausted, ""));
      const absl::StatusOr<CollectionSnapshot> now = collection.Refresh();
      ASSERT_TRUE(IsOk(now));
      EXPECT_EQ(now->OpenAttributes("/")->GetVlmetalayer("p").value(), last);
    }
  }
  EXPECT_GT(refused, 100);
  disk_->SetCapacity(INT64_MAX);
  ASSERT_TRUE(IsOk(set_attribute()));
  ASSERT_TRUE(IsOk(writer.Close()));
  EXPECT_TRUE(Collection::Open("c", Options())->snapshot().Verify()->ok());
}

// The disk cuts the commit short at any byte, and its file system cannot reserve space.
TEST_F(CollectionFailuresTest, CommitThatABareDiskCutsShortIsSeenByNobody) {
  bool made = false;
  for (int64_t room = 0; !made; ++room) {
    SCOPED_TRACE(testing::Message() << room << " bytes free");
    SimulatedDisk disk;
    const auto free = std::make_shared<int64_t>(1 << 24);
    CollectionOptions options = Options();
    options.members.file_system = std::make_shared<BareFiles>(disk.root(), free);
    Collection collection = Collection::Create("c", options).value();
    CollectionWriter writer = collection.OpenWriter().value();
    const auto set = [&](std::string_view value) -> absl::Status {
      for (const char* name : {"/a", "/b"}) {
        absl::StatusOr<MemberWriter> member = writer.Edit(name);
        if (!member.ok()) return member.status();
        const absl::Status status = member->SetVlmetalayer("p", AsBytes(value));
        if (!status.ok()) return status;
      }
      return writer.Commit().status();
    };
    const auto expect = [&](std::string_view value, const std::shared_ptr<FileSystem>& files) {
      CollectionOptions opening = options;
      opening.members.file_system = files;
      const Collection opened = Collection::Open("c", opening).value();
      for (const char* name : {"/a", "/b"}) {
        const absl::StatusOr<Snapshot> found = opened.snapshot().OpenMember(name);
        ASSERT_TRUE(IsOk(found));
        EXPECT_EQ(found->GetVlmetalayer("p").value(), ToVector(AsBytes(value)));
      }
    };
    ASSERT_TRUE(IsOk(Add(writer, "/a", {1, 2, 3})));
    ASSERT_TRUE(IsOk(Add(writer, "/b", {4, 5, 6})));
    ASSERT_TRUE(IsOk(writer.Commit()));
    ASSERT_TRUE(IsOk(set("old")));
    *free = room;
    const absl::Status status = set("new");
    made = status.ok();
    expect(made ? "new" : "old", options.members.file_system);
    expect(made ? "new" : "old", disk.Clone()->root());
    if (HasFailure()) break;
  }
}

// A name that a commit removes and adds leads to the old file until the new one has it.
TEST_F(CollectionFailuresTest, VerifyFindsNothingBeforeFilesHaveTheirNames) {
  {
    Collection collection = Collection::Create("c", Options()).value();
    CollectionWriter writer = collection.OpenWriter().value();
    ASSERT_TRUE(IsOk(Add(writer, "/b", {1, 2})));
    ASSERT_TRUE(IsOk(writer.Commit()));
    ASSERT_TRUE(IsOk(writer.Edit("/b")->AppendSlices(0, Ints{9})));
    ASSERT_TRUE(IsOk(writer.Commit()));
    ASSERT_TRUE(IsOk(writer.Remove("/b")));
    ASSERT_TRUE(IsOk(Add(writer, "/b", {3, 4, 5, 6})));
    bool is_made = false;  // the new file, which got its name aside
    disk_->Judge([&](const DiskOperation& operation) -> Fate {
      if (operation.kind != DiskOperation::Kind::kRename) return {};
      return {.kind = std::exchange(is_made, true) ? Fate::Kind::kDie : Fate::Kind::kRun};
    });
    EXPECT_EQ(writer.Commit().value(), 3) << "it stands";
    EXPECT_TRUE(disk_->dead());
  }
  disk_ = disk_->Clone();
  const Collection collection = Collection::Open("c", Options()).value();
  const Frame old = Frame::Open("c/b.b2nd", Options().members).value();
  ASSERT_EQ(old.snapshot().array()->shape[0], 3);
  EXPECT_EQ(IntsOf(collection.snapshot(), "/b"), (Ints{3, 4, 5, 6}));
  const VerifyReport report = collection.snapshot().Verify().value();
  EXPECT_TRUE(report.ok()) << report.findings[0].reason;
}

TEST(CollectionForkTest, ChildLeavesTheWriterToItsParent) {
  const TempDir dir;
  for (const bool shared : {false, true}) {
    const std::string path = dir.Path(shared ? "shared" : "alone");
    Collection collection = Collection::Create(path).value();
    CollectionWriter writer = collection.OpenWriter({.shared = shared}).value();
    ASSERT_TRUE(IsOk(writer.Add("/b", {})));
    ASSERT_TRUE(IsOk(writer.Commit()));
    const auto is_refused = [](const absl::Status& status) {
      return absl::IsFailedPrecondition(status);
    };
    const int result = ResultOfChild([&] {
      if (!is_refused(writer.Edit("/b").status())) return 1;
      if (!is_refused(writer.Add("/c", {}).status())) return 2;
      if (!is_refused(writer.Remove("/b"))) return 3;
      if (!is_refused(writer.Copy("/b", "/c"))) return 4;
      if (!is_refused(writer.EditAttributes("/").status())) return 5;
      if (!is_refused(writer.Commit().status())) return 6;
      writer.Rollback();
      if (!is_refused(writer.Close())) return 7;
      { const CollectionWriter gone = std::move(writer); }
      return 0;
    });
    EXPECT_EQ(result, 0);
    EXPECT_TRUE(absl::IsUnavailable(collection.OpenWriter().status())) << "the writer is unlocked";
    ASSERT_TRUE(IsOk(writer.Edit("/b")->Append(std::vector<uint8_t>{1})));
    ASSERT_TRUE(IsOk(writer.Commit()));
    EXPECT_EQ(collection.Refresh()->OpenMember("/b")->info().nitems, 1);
  }
}

}  // namespace
}  // namespace cairn::test
