// Tests that replacing a sparse frame does no harm to its readers, its neighbours and its owner.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/status.h"
#include "engine/format/sparse_names.h"
#include "engine/frame/files/frame_locks.h"
#include "tests/support/bytes.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/files.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"
#include "tests/support/unsynced_file_system.h"

namespace cairn::test {
namespace {

namespace fs = std::filesystem;
using Kind = Operation::Kind;

constexpr size_t kSize = 200;
constexpr std::string_view kOtherIndex = "chunks.b2frame.0123456789abcdef.tmp";

CreateOptions Options(Layout layout, bool overwrite) {
  CreateOptions options = PlainCopies(64);
  options.layout = layout;
  options.overwrite = overwrite;
  return options;
}

mode_t Mode(const std::string& path) {
  struct stat info = {};
  EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
  return info.st_mode & 0777;
}

// New files would be open to everybody.
class OpenUmask {
 public:
  OpenUmask() : before_(::umask(0022)) {}
  OpenUmask(const OpenUmask&) = delete;
  OpenUmask& operator=(const OpenUmask&) = delete;
  ~OpenUmask() { ::umask(before_); }

 private:
  const mode_t before_;
};

// Tells, by a function, when an index is opened, in whatever directory.
class IndexWatchingFiles final : public UnsyncedFileSystem {
 public:
  using Visit = std::shared_ptr<std::function<void()>>;

  explicit IndexWatchingFiles(Visit visit) : visit_(std::move(visit)) {}
  IndexWatchingFiles(Visit visit, std::shared_ptr<FileSystem> directory)
      : UnsyncedFileSystem(std::move(directory)), visit_(std::move(visit)) {}

  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, FileMode mode) override {
    if (path.ends_with(format::kIndexFileName)) (*visit_)();
    return UnsyncedFileSystem::Open(path, mode);
  }
  std::shared_ptr<FileSystem> WrapDirectory(std::shared_ptr<FileSystem> directory,
                                            const std::string&) override {
    return std::make_shared<IndexWatchingFiles>(visit_, std::move(directory));
  }

 private:
  const Visit visit_;
};

class ReplacementTest : public testing::Test {
 protected:
  void SetUp() override { Make(path_, 1); }
  static void Make(const std::string& path, uint64_t seed) {
    ASSERT_TRUE(IsOk(WriteFrame(path, Options(Layout::kSparse, false), MakeNoise(kSize, seed))));
  }
  absl::Status Overwrite(Layout layout = Layout::kSparse,
                         std::shared_ptr<FileSystem> files = nullptr) {
    CreateOptions options = Options(layout, true);
    options.file_system = files;
    return WriteFrame(path_, options, MakeNoise(kSize, 2));
  }
  // `act` is done in the middle of it.
  absl::Status CopyOver(Layout layout, const std::function<void()>& act,
                        std::shared_ptr<FileSystem> files = nullptr) {
    Frame frame = NewInMemory(PlainCopies(64));
    Writer writer = *frame.OpenWriter();
    CAIRN_RETURN_IF_ERROR(writer.Append(MakeNoise(kSize, 2)));
    CAIRN_RETURN_IF_ERROR(writer.Close());
    CopyOptions options{.layout = layout, .overwrite = true, .file_system = files};
    options.progress = [&](int64_t chunks) {
      if (chunks == 2) act();
      return true;
    };
    return frame.snapshot().CopyTo(path_, options);
  }
  static Buffer Content(const std::string& path, std::shared_ptr<FileSystem> files = nullptr) {
    const auto frame = Frame::Open(path, {.file_system = files});
    EXPECT_TRUE(IsOk(frame)) << path;
    return frame.ok() ? ContentOf(frame->snapshot()) : Buffer();
  }
  // Returns the content that a reader finds if `act` is done after it was refused a few times.
  Buffer ContentAfter(const std::function<void()>& act) const {
    int opens = 0;
    IndexWatchingFiles files(std::make_shared<std::function<void()>>([&] {
      if (++opens == 5) act();
    }));
    const Buffer content = Content(path_, Unowned(&files));
    EXPECT_GE(opens, 5);
    return content;
  }
  std::string In(std::string_view name) const { return path_ + "/" + std::string(name); }
  // Holds the frame from its readers, as one who replaces it does.
  std::unique_ptr<File> HoldFromReaders() {
    auto index = PosixFileSystem()->Open(In(format::kIndexFileName), FileMode::kReadWrite);
    EXPECT_TRUE(IsOk(index));
    EXPECT_TRUE(IsOk((*index)->LockByte(frame::kReaderLockByte, LockMode::kExclusive)));
    return *std::move(index);
  }
  void MakePrivate() {
    for (const std::string& name : NamesIn(path_)) ASSERT_EQ(::chmod(In(name).c_str(), 0600), 0);
    ASSERT_EQ(::chmod(path_.c_str(), 0700), 0);
  }

  const TempDir dir_;
  const std::string path_ = dir_.Path("f");
};

TEST_F(ReplacementTest, ReaderOfAnOlderIndexRefusesIt) {
  std::optional<Snapshot> reader = Frame::Open(path_)->snapshot();
  ASSERT_TRUE(IsOk(AppendTo(path_, MakeNoise(64, 3))));
  for (const Layout layout : {Layout::kSparse, Layout::kContiguous}) {
    const absl::Status status = Overwrite(layout);
    EXPECT_TRUE(absl::IsUnavailable(status)) << status;
    EXPECT_NE(status.message().find("f: not replaced: it is being read"), std::string::npos)
        << status;
  }
  ExpectHolds(*reader, MakeNoise(kSize, 1));
  reader.reset();
  EXPECT_TRUE(IsOk(Overwrite()));
  EXPECT_EQ(Content(path_), MakeNoise(kSize, 2));
}

TEST_F(ReplacementTest, WriterRefusesIt) {
  auto frame = Frame::Open(path_);
  const auto writer = frame->OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  const absl::Status status = Overwrite();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_NE(status.message().find("it is being written"), std::string::npos) << status;
}

TEST_F(ReplacementTest, IndexThatCannotBeOpenedRefusesIt) {
  fs::create_symlink("chunks.b2frame", In(kOtherIndex));
  EXPECT_TRUE(absl::IsDataLoss(Overwrite()));
  fs::remove(In(kOtherIndex));
  fs::create_directory(In(kOtherIndex));
  EXPECT_TRUE(absl::IsFailedPrecondition(Overwrite()));
  EXPECT_EQ(Content(path_), MakeNoise(kSize, 1));
  EXPECT_EQ(NamesIn(dir_.path()), std::vector<std::string>{"f"});
}

TEST_F(ReplacementTest, IndexWithoutReadersGoesWithIt) {
  PutFileBytes(In(kOtherIndex), MakeNoise(10, 1));
  EXPECT_TRUE(IsOk(Overwrite()));
  EXPECT_EQ(std::ranges::count(NamesIn(path_), kOtherIndex), 0);
  EXPECT_EQ(NamesIn(dir_.path()), std::vector<std::string>{"f"});
}

TEST_F(ReplacementTest, OldFrameStaysWhereTheSwapMayNotBeDurable) {
  for (const Layout layout : {Layout::kSparse, Layout::kContiguous}) {
    FaultFileSystem files;
    files.StartLog();
    ASSERT_TRUE(IsOk(Overwrite(layout, Unowned(&files))));
    const std::vector<Operation> log = files.TakeLog();
    const auto swap = std::ranges::find(log, Kind::kExchange, &Operation::kind);
    ASSERT_NE(swap, log.end());
    ASSERT_EQ((swap + 1)->kind, Kind::kSyncDirectory);
    fs::remove_all(path_);
    Make(path_, 1);

    files.Inject({.after = swap + 1 - log.begin()});
    EXPECT_TRUE(absl::IsResourceExhausted(Overwrite(layout, Unowned(&files))));
    EXPECT_EQ(Content(path_), MakeNoise(kSize, 2));
    const std::vector<std::string> names = NamesIn(dir_.path());
    ASSERT_EQ(names.size(), 2u);
    EXPECT_EQ(Content(dir_.Path(names[1])), MakeNoise(kSize, 1));
    for (const std::string& name : names) fs::remove_all(dir_.Path(name));
    Make(path_, 1);
  }
}

TEST_F(ReplacementTest, FilesWithSimilarNamesAreTheUsers) {
  for (const std::string name :
       {"chunks.b2frame.backup", "chunks.b2frame.backup.tmp", "chunks.b2frame~"}) {
    PutFileBytes(In(name), MakeNoise(10, 1));
    EXPECT_TRUE(absl::IsFailedPrecondition(Overwrite())) << name;
    ASSERT_TRUE(IsOk(AppendTo(path_, MakeNoise(64, 3))));
    EXPECT_EQ(FileBytes(In(name)), MakeNoise(10, 1));
    fs::remove(In(name));
  }
}

TEST(OtherIndexNameTest, HasSixteenDigits) {
  EXPECT_TRUE(format::IsOtherIndexName(kOtherIndex));
  for (const std::string_view name :
       {"chunks.b2frame", "chunks.b2frame.tmp", "chunks.b2frame.0123456789abcde.tmp",
        "chunks.b2frame.0123456789abcdef0.tmp", "chunks.b2frame.0123456789abcdeF.tmp",
        "chunks.b2frame.0123456789abcdeg.tmp", "chunks.b2frame_0123456789abcdef.tmp",
        "chunks.b2frame.0123456789abcdef.bak", "x.0123456789abcdef.tmp", ""}) {
    EXPECT_FALSE(format::IsOtherIndexName(name)) << name;
  }
}

TEST_F(ReplacementTest, PrivateFrameStaysPrivateWhenItIsWritten) {
  const OpenUmask umask;
  MakePrivate();
  ASSERT_TRUE(IsOk(AppendTo(path_, MakeNoise(64, 3))));
  EXPECT_EQ(Mode(path_), 0700u);
  for (const std::string& name : NamesIn(path_)) EXPECT_EQ(Mode(In(name)), 0600u) << name;
}

TEST_F(ReplacementTest, IndexKeepsItsPermissionsWhereTheDirectoryIsOpenToAll) {
  const OpenUmask umask;
  MakePrivate();
  ASSERT_EQ(::chmod(path_.c_str(), 0755), 0);
  ASSERT_TRUE(IsOk(AppendTo(path_, MakeNoise(64, 3))));
  EXPECT_EQ(Mode(In(format::kIndexFileName)), 0600u);
}

TEST_F(ReplacementTest, PrivateFrameStaysPrivateWhenItIsReplaced) {
  const OpenUmask umask;
  MakePrivate();
  ASSERT_TRUE(IsOk(Overwrite()));
  EXPECT_EQ(Content(path_), MakeNoise(kSize, 2));
  EXPECT_EQ(Mode(path_), 0700u);
  ASSERT_TRUE(IsOk(AppendTo(path_, MakeNoise(64, 3))));
  EXPECT_EQ(Mode(path_), 0700u);
}

TEST_F(ReplacementTest, ReaderWaitsForALockThatIsHeldForAMoment) {
  std::unique_ptr<File> held = HoldFromReaders();
  EXPECT_EQ(ContentAfter([&] { held.reset(); }), MakeNoise(kSize, 1));
}

TEST_F(ReplacementTest, ReaderThatWaitedFindsTheNewFrame) {
  const std::string other = dir_.Path("g");
  Make(other, 2);
  std::unique_ptr<File> held = HoldFromReaders();
  const Buffer content = ContentAfter([&] {
    EXPECT_TRUE(IsOk(PosixFileSystem()->Exchange(other, path_)));
    fs::remove_all(other);
    held.reset();
  });
  EXPECT_EQ(content, MakeNoise(kSize, 2));
}

TEST_F(ReplacementTest, ReaderThatComesDuringACopyAndStaysRefusesIt) {
  for (const Layout layout : {Layout::kSparse, Layout::kContiguous}) {
    std::optional<Snapshot> reader;
    const absl::Status status = CopyOver(layout, [&] {
      const auto frame = Frame::Open(path_);
      if (frame.ok()) reader = frame->snapshot();
    });
    EXPECT_TRUE(absl::IsUnavailable(status)) << status;
    EXPECT_NE(status.message().find("f: not replaced: it is being read"), std::string::npos)
        << status;
    ASSERT_TRUE(reader.has_value());
    ExpectHolds(*reader, MakeNoise(kSize, 1));
  }
  EXPECT_EQ(NamesIn(dir_.path()), std::vector<std::string>{"f"});
}

TEST_F(ReplacementTest, CopyWaitsForAReaderThatGoesSoon) {
  std::optional<Snapshot> reader;
  int refused = 0;
  IndexWatchingFiles files(std::make_shared<std::function<void()>>([&] {
    if (reader.has_value() && ++refused == 2) reader.reset();
  }));
  const auto read = [&] {
    const auto frame = Frame::Open(path_);
    if (frame.ok()) reader = frame->snapshot();
  };
  EXPECT_TRUE(IsOk(CopyOver(Layout::kSparse, read, Unowned(&files))));
  EXPECT_EQ(refused, 2);
  EXPECT_EQ(Content(path_), MakeNoise(kSize, 2));
}

TEST_F(ReplacementTest, CopyKeepsWritersFromTheOldFrame) {
  absl::Status written;
  const auto write = [&] { written = AppendTo(path_, MakeNoise(64, 3)); };
  EXPECT_TRUE(IsOk(CopyOver(Layout::kSparse, write)));
  EXPECT_TRUE(absl::IsUnavailable(written)) << written;
}

TEST_F(ReplacementTest, ReaderGivesUpInTheEnd) {
  const std::unique_ptr<File> held = HoldFromReaders();
  const absl::Status status = Frame::Open(path_).status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_NE(status.message().find("is being replaced"), std::string::npos) << status;
}

}  // namespace
}  // namespace cairn::test
