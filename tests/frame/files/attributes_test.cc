// Tests the attributes that a file that replaces another keeps: its owner, its permissions, and
// what is attached to it.
#include <filesystem>
#include <functional>
#include <grp.h>
#include <ostream>
#include <string>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "tests/support/bytes.h"
#include "tests/support/child_process.h"
#include "tests/support/files.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

namespace fs = std::filesystem;

constexpr char kAccessList[] = "system.posix_acl_access";
constexpr char kDefaultList[] = "system.posix_acl_default";
constexpr char kNote[] = "user.note";
constexpr uid_t kOwner = 1234;
constexpr gid_t kGroup = 5678;
constexpr uid_t kStranger = 4321;

// An access control list as the kernel takes it: one more user may read and write.
std::string ListFor(uid_t user, uint16_t owner = 6) {
  const auto number = [](uint64_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text.push_back(static_cast<char>(value >> (8 * i)));
    return text;
  };
  const auto entry = [&](uint16_t tag, uint16_t may, uint32_t id) {
    return number(tag, 2) + number(may, 2) + number(id, 4);
  };
  constexpr uint32_t kNobody = 0xFFFFFFFF;
  return number(2, 4) + entry(1, owner, kNobody) + entry(2, 6, user) + entry(4, 4, kNobody) +
         entry(16, 6, kNobody) + entry(32, 0, kNobody);
}

std::string Attribute(const std::string& path, const char* name) {
  char value[256];
  const ssize_t size = ::getxattr(path.c_str(), name, value, sizeof(value));
  return size < 0 ? "none" : std::string(value, static_cast<size_t>(size));
}

struct Attributes {
  uid_t owner = 0;
  gid_t group = 0;
  mode_t mode = 0;
  std::string note;
  std::string list;
  std::string default_list;
  bool operator==(const Attributes&) const = default;
};

Attributes AttributesOf(const std::string& path) {
  struct stat info = {};
  EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
  return {.owner = info.st_uid,
          .group = info.st_gid,
          .mode = info.st_mode & 07777,
          .note = Attribute(path, kNote),
          .list = Attribute(path, kAccessList),
          .default_list = Attribute(path, kDefaultList)};
}

void PrintTo(const Attributes& of, std::ostream* out) {
  *out << of.owner << ':' << of.group << ' ' << std::oct << of.mode << std::dec
       << " note=" << of.note << " list=" << of.list.size()
       << " default=" << of.default_list.size();
}

CreateOptions PlainFrameIn(Layout layout, bool overwrite = false) {
  CreateOptions options = PlainCopies(64);
  options.layout = layout;
  options.overwrite = overwrite;
  return options;
}

class AttributesTest : public testing::Test {
 protected:
  void SetUp() override { fs::permissions(dir_.path(), fs::perms::all); }
  void TearDown() override { ::umask(umask_); }
  // Marks a file. Skips the test if this file system lacks lists and attributes, or this process
  // may not give files away.
  void Mark(const std::string& path, mode_t mode) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root may give files away";
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    if (::setxattr(path.c_str(), kNote, "kept", 4, 0) != 0) GTEST_SKIP() << "no attributes here";
    ASSERT_EQ(::chown(path.c_str(), kOwner, kGroup), 0);
  }
  void SetList(const std::string& path, const char* name = kAccessList) {
    const std::string list = ListFor(kStranger, fs::is_directory(path) ? 7 : 6);
    if (::setxattr(path.c_str(), name, list.data(), list.size(), 0) != 0) {
      GTEST_SKIP() << "no access control lists here";
    }
  }
  std::string Index() const { return path_ + "/chunks.b2frame"; }
  std::vector<std::string> FilesOfFrame() const {
    std::vector<std::string> files;
    for (const std::string& name : NamesIn(path_)) files.push_back(path_ + "/" + name);
    return files;
  }

  const mode_t umask_ = ::umask(0022);
  const TempDir dir_;
  const std::string path_ = dir_.Path("f");
};

// A way to write the frame again.
struct Replacement {
  std::string name;
  std::function<absl::Status(const std::string&)> run;
};

void PrintTo(const Replacement& way, std::ostream* out) { *out << way.name; }

class ReplacedAttributesTest : public AttributesTest,
                               public testing::WithParamInterface<Replacement> {};

TEST_P(ReplacedAttributesTest, KeepsOwnerGroupPermissionsListAndAttributes) {
  ASSERT_TRUE(IsOk(WriteFrame(path_, PlainCopies(64), {})));
  Mark(path_, 0640);
  SetList(path_);
  if (IsSkipped()) return;
  const Attributes before = AttributesOf(path_);
  const FileIdentity old = *PosixFileSystem()->Identity(path_);
  ASSERT_TRUE(IsOk(GetParam().run(path_)));
  EXPECT_FALSE(*PosixFileSystem()->Identity(path_) == old);
  EXPECT_EQ(AttributesOf(path_), before);
}

TEST_P(ReplacedAttributesTest, TakesNoAccessControlListFromTheDirectory) {
  ASSERT_TRUE(IsOk(WriteFrame(path_, PlainCopies(64), {})));
  SetList(dir_.path(), kDefaultList);
  if (IsSkipped()) return;
  ASSERT_EQ(::chmod(path_.c_str(), 0660), 0);
  const Attributes before = AttributesOf(path_);
  ASSERT_EQ(before.list, "none");
  ASSERT_TRUE(IsOk(GetParam().run(path_)));
  EXPECT_EQ(AttributesOf(path_), before);
}

TEST_P(ReplacedAttributesTest, ChangesNothingWhereItCannotKeepTheOwner) {
  ASSERT_TRUE(IsOk(WriteFrame(path_, PlainCopies(64), {})));
  Mark(path_, 0666);
  if (IsSkipped()) return;
  const Attributes before = AttributesOf(path_);
  const Buffer bytes = FileBytes(path_);
  const int result = ResultOfChild([&] {
    if (::setgroups(0, nullptr) != 0 || ::setgid(kGroup) != 0 || ::setuid(kStranger) != 0) return 1;
    const absl::Status status = GetParam().run(path_);
    if (!absl::IsFailedPrecondition(status)) return 2;
    const std::string message(status.message());
    return message.find(path_ + ": its owner 1234 cannot be kept") != std::string::npos ? 0 : 3;
  });
  EXPECT_EQ(result, 0);
  EXPECT_EQ(AttributesOf(path_), before);
  EXPECT_EQ(FileBytes(path_), bytes);
  EXPECT_EQ(NamesIn(dir_.path()), std::vector<std::string>{"f"});
}

INSTANTIATE_TEST_SUITE_P(
    Ways, ReplacedAttributesTest,
    testing::Values(
        Replacement{"Compact",
                    [](const std::string& path) { return Frame::Open(path)->Compact().status(); }},
        Replacement{"Create",
                    [](const std::string& path) {
                      return Frame::Create(path, PlainFrameIn(Layout::kContiguous, true)).status();
                    }},
        Replacement{"Build",
                    [](const std::string& path) {
                      return WriteFrame(path, PlainFrameIn(Layout::kContiguous, true),
                                        MakeNoise(100, 1));
                    }},
        // An empty frame gets its checkpoint in a new file.
        Replacement{"Checkpoint",
                    [](const std::string& path) -> absl::Status {
                      CAIRN_ASSIGN_OR_RETURN(Frame frame, Frame::Open(path));
                      CAIRN_ASSIGN_OR_RETURN(Writer writer, frame.OpenWriter());
                      CAIRN_RETURN_IF_ERROR(writer.SetVlmetalayer("note", AsBytes("text")));
                      return writer.Checkpoint();
                    }}),
    [](const auto& info) { return info.param.name; });

// Its checkpoint would be a new file, but what is committed needs none.
TEST_F(AttributesTest, StrangerMayChangeAnEmptyFrame) {
  ASSERT_TRUE(IsOk(WriteFrame(path_, PlainCopies(64), {})));
  Mark(path_, 0666);
  if (IsSkipped()) return;
  const Attributes before = AttributesOf(path_);
  for (const bool commits : {true, false}) {
    const char* const name = commits ? "committed" : "closed";
    const int result = ResultOfChild([&] {
      if (::setgroups(0, nullptr) != 0 || ::setgid(kGroup) != 0 || ::setuid(kStranger) != 0) {
        return 1;
      }
      auto frame = Frame::Open(path_);
      if (!frame.ok()) return 2;
      auto writer = frame->OpenWriter();
      if (!writer.ok() || !writer->SetVlmetalayer(name, AsBytes("text")).ok()) return 3;
      if (commits && !writer->Commit().ok()) return 4;
      if (commits && !absl::IsFailedPrecondition(writer->Checkpoint())) return 5;
      return writer->Close().ok() ? 0 : 6;
    });
    EXPECT_EQ(result, 0) << name;
    const auto frame = Frame::Open(path_);
    ASSERT_TRUE(IsOk(frame));
    EXPECT_TRUE(IsOk(frame->snapshot().GetVlmetalayer(name))) << name;
    EXPECT_EQ(AttributesOf(path_), before) << name;
    EXPECT_EQ(NamesIn(dir_.path()), std::vector<std::string>{"f"}) << name;
  }
}

TEST_F(AttributesTest, FrameOnItsWayIsAsOpenAsTheOldOne) {
  ASSERT_TRUE(IsOk(WriteFrame(path_, PlainCopies(64), {})));
  Mark(path_, 0640);
  SetList(path_);
  if (IsSkipped()) return;
  const auto writer = Frame::BeginCreate(path_, PlainFrameIn(Layout::kContiguous, true));
  ASSERT_TRUE(IsOk(writer));
  const std::vector<std::string> names = NamesIn(dir_.path());
  ASSERT_EQ(names.size(), 2u);
  for (const std::string& name : names) {
    EXPECT_EQ(AttributesOf(dir_.Path(name)), AttributesOf(path_)) << name;
  }
}

TEST_F(AttributesTest, PermissionsThatChangeMeanwhileAreKept) {
  ASSERT_TRUE(IsOk(WriteFrame(path_, PlainCopies(64), {})));
  auto writer = Frame::BeginCreate(path_, PlainFrameIn(Layout::kContiguous, true));
  ASSERT_TRUE(IsOk(writer));
  ASSERT_EQ(::chmod(path_.c_str(), 0400), 0);
  ASSERT_TRUE(IsOk(writer->Close()));
  EXPECT_EQ(AttributesOf(path_).mode, 0400u);
}

TEST_F(AttributesTest, SparseFrameKeepsThemWhenItIsReplaced) {
  ASSERT_TRUE(IsOk(WriteFrame(path_, PlainFrameIn(Layout::kSparse), MakeNoise(200, 1))));
  for (const std::string& file : FilesOfFrame()) Mark(file, 0640);
  Mark(path_, 0750);
  SetList(path_);
  SetList(path_, kDefaultList);
  SetList(Index());
  if (IsSkipped()) return;
  const Attributes directory = AttributesOf(path_);
  const Attributes index = AttributesOf(Index());
  {
    auto writer = Frame::BeginCreate(path_, PlainFrameIn(Layout::kSparse, true));
    ASSERT_TRUE(IsOk(writer));
    for (const std::string& name : NamesIn(dir_.path())) {
      EXPECT_EQ(AttributesOf(dir_.Path(name)), directory) << name;
    }
    ASSERT_TRUE(IsOk(writer->Append(MakeNoise(300, 2))));
    ASSERT_TRUE(IsOk(writer->Close()));
  }
  EXPECT_EQ(AttributesOf(path_), directory);
  ASSERT_GT(FilesOfFrame().size(), 4u);
  for (const std::string& file : FilesOfFrame()) EXPECT_EQ(AttributesOf(file), index) << file;
}

TEST_F(AttributesTest, NewFilesOfASparseFrameAreAsItsIndex) {
  ASSERT_TRUE(IsOk(WriteFrame(path_, PlainFrameIn(Layout::kSparse), MakeNoise(200, 1))));
  for (const std::string& file : FilesOfFrame()) Mark(file, 0640);
  Mark(path_, 0750);
  if (IsSkipped()) return;
  const Attributes index = AttributesOf(Index());
  ASSERT_TRUE(IsOk(AppendTo(path_, MakeNoise(200, 2))));
  ASSERT_TRUE(IsOk(Frame::Open(path_)->Compact()));
  for (const std::string& file : FilesOfFrame()) EXPECT_EQ(AttributesOf(file), index) << file;
}

TEST_F(AttributesTest, FileThatReplacesADirectoryIsAsItsIndex) {
  ASSERT_TRUE(IsOk(WriteFrame(path_, PlainFrameIn(Layout::kSparse), MakeNoise(200, 1))));
  Mark(Index(), 0640);
  if (IsSkipped()) return;
  const Attributes index = AttributesOf(Index());
  ASSERT_TRUE(IsOk(WriteFrame(path_, PlainFrameIn(Layout::kContiguous, true), MakeNoise(10, 2))));
  EXPECT_EQ(AttributesOf(path_), index);
}

TEST_F(AttributesTest, FileThatReplacesAPrivateDirectoryIsPrivate) {
  for (const auto& [around, expected] : std::vector<std::pair<mode_t, mode_t>>{
           {0700, 0600}, {0750, 0640}, {0705, 0600}, {0755, 0644}}) {
    ASSERT_TRUE(IsOk(WriteFrame(path_, PlainFrameIn(Layout::kSparse), MakeNoise(200, 1))));
    ASSERT_EQ(::chmod(Index().c_str(), 0644), 0);
    ASSERT_EQ(::chmod(path_.c_str(), around), 0);
    ASSERT_TRUE(IsOk(WriteFrame(path_, PlainFrameIn(Layout::kContiguous, true), MakeNoise(10, 2))));
    EXPECT_EQ(AttributesOf(path_).mode, expected) << std::oct << around;
    fs::remove(path_);
  }
}

TEST_F(AttributesTest, DirectoryThatReplacesAFileIsListedByItsReaders) {
  ASSERT_TRUE(IsOk(WriteFrame(path_, PlainCopies(64), {})));
  Mark(path_, 0640);
  if (IsSkipped()) return;
  const Attributes file = AttributesOf(path_);
  ASSERT_TRUE(IsOk(WriteFrame(path_, PlainFrameIn(Layout::kSparse, true), MakeNoise(200, 2))));
  const Attributes directory = AttributesOf(path_);
  EXPECT_EQ(directory.owner, kOwner);
  EXPECT_EQ(directory.group, kGroup);
  EXPECT_EQ(directory.mode, 0750u);
  for (const std::string& name : FilesOfFrame()) EXPECT_EQ(AttributesOf(name), file) << name;
}

TEST_F(AttributesTest, ListThatALayoutCannotKeepRefusesIt) {
  ASSERT_TRUE(IsOk(WriteFrame(path_, PlainCopies(64), {})));
  SetList(path_);
  if (IsSkipped()) return;
  const Buffer before = FileBytes(path_);
  EXPECT_TRUE(absl::IsFailedPrecondition(
      WriteFrame(path_, PlainFrameIn(Layout::kSparse, true), MakeNoise(200, 2))));
  EXPECT_EQ(FileBytes(path_), before);
  EXPECT_EQ(NamesIn(dir_.path()), std::vector<std::string>{"f"});

  fs::remove(path_);
  ASSERT_TRUE(IsOk(WriteFrame(path_, PlainFrameIn(Layout::kSparse), MakeNoise(200, 1))));
  SetList(path_);
  EXPECT_TRUE(absl::IsFailedPrecondition(
      WriteFrame(path_, PlainFrameIn(Layout::kContiguous, true), MakeNoise(200, 2))));
  EXPECT_TRUE(fs::is_directory(path_));
  EXPECT_EQ(NamesIn(dir_.path()), std::vector<std::string>{"f"});
}

TEST_F(AttributesTest, NewFrameIsAsTheUmaskSays) {
  for (const Layout layout : {Layout::kContiguous, Layout::kSparse}) {
    ::umask(0027);
    ASSERT_TRUE(IsOk(WriteFrame(path_, PlainFrameIn(layout), MakeNoise(200, 1))));
    ::umask(0022);
    const bool sparse = layout == Layout::kSparse;
    EXPECT_EQ(AttributesOf(path_).mode, sparse ? 0750u : 0640u);
    if (sparse) {
      for (const std::string& name : FilesOfFrame()) EXPECT_EQ(AttributesOf(name).mode, 0640u);
    }
    fs::remove_all(path_);
  }
}

}  // namespace
}  // namespace cairn::test
