// A copy is open to nobody to whom its source is not.
#include <array>
#include <filesystem>
#include <functional>
#include <ostream>
#include <string>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/copy_files.h"
#include "cairn/frame.h"
#include "cairn/recover.h"
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

constexpr char kCopiedList[] = "system.posix_acl_access";
constexpr char kInheritedList[] = "system.posix_acl_default";
constexpr gid_t kSourceGroup = 5678;
constexpr uid_t kSourceOwner = 4321;

mode_t PermissionsOf(const std::string& path) {
  struct stat info = {};
  EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
  return info.st_mode & 07777;
}

gid_t GroupOf(const std::string& path) {
  struct stat info = {};
  EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
  return info.st_gid;
}

std::string XattrOf(const std::string& path, const char* name) {
  char value[256];
  const ssize_t size = ::getxattr(path.c_str(), name, value, sizeof(value));
  return size < 0 ? "none" : std::string(value, static_cast<size_t>(size));
}

// An access control list as the kernel takes it, in which one more user has `may`.
std::string AccessListWith(uint16_t owner, uint16_t may, uint16_t group, uint16_t mask,
                           uint16_t other) {
  std::string list("\2\0\0\0", 4);
  const auto add = [&](uint16_t tag, uint16_t bits, uint32_t id) {
    for (const auto& [value, bytes] : {std::pair<uint32_t, int>{tag, 2}, {bits, 2}, {id, 4}}) {
      for (int i = 0; i < bytes; ++i) list.push_back(static_cast<char>(value >> (8 * i)));
    }
  };
  constexpr uint32_t kNobody = 0xFFFFFFFF;
  add(1, owner, kNobody);
  add(2, may, kSourceOwner);
  add(4, group, kNobody);
  add(16, mask, kNobody);
  add(32, other, kNobody);
  return list;
}

// A way to copy a frame.
struct Copying {
  std::string name;
  std::function<absl::Status(const std::string& from, const std::string& to, bool overwrite)> run;
};

void PrintTo(const Copying& way, std::ostream* out) { *out << way.name; }

absl::Status CopyWith(const std::string& from, const std::string& to, CopyOptions options) {
  CAIRN_ASSIGN_OR_RETURN(Frame frame, Frame::Open(from));
  return frame.snapshot().CopyTo(to, options);
}

absl::Status BuildCopy(const std::string& from, const std::string& to, bool overwrite) {
  CAIRN_ASSIGN_OR_RETURN(const Frame frame, Frame::Open(from));
  const std::shared_ptr<FileSystem> files = FilesForCopyOf(from);
  CreateOptions options = frame.snapshot().create_options();
  options.file_system = files;
  options.overwrite = overwrite;
  CAIRN_ASSIGN_OR_RETURN(Writer writer, Frame::BeginCreate(to, options));
  CAIRN_RETURN_IF_ERROR(writer.Append(MakeNoise(300, 1)));
  return writer.Close();
}

class CopyPermissionsTest : public testing::Test {
 protected:
  void TearDown() override { ::umask(umask_); }
  void MakeSource(mode_t mode, Layout layout = Layout::kContiguous) {
    CreateOptions options = PlainCopies(64);
    options.layout = layout;
    ASSERT_TRUE(IsOk(WriteFrame(from_, options, MakeNoise(300, 1))));
    ASSERT_EQ(::chmod(Main(from_).c_str(), mode), 0);
  }
  // The file that says who may read a frame.
  static std::string Main(const std::string& path) {
    return fs::is_directory(path) ? path + "/chunks.b2frame" : path;
  }
  void SetList(const std::string& path, const std::string& list, const char* name = kCopiedList) {
    if (::setxattr(path.c_str(), name, list.data(), list.size(), 0) != 0) {
      GTEST_SKIP() << "no access control lists here";
    }
  }

  const mode_t umask_ = ::umask(0022);
  const TempDir dir_;
  const std::string from_ = dir_.Path("from");
  const std::string to_ = dir_.Path("to");
};

class EachCopyTest : public CopyPermissionsTest, public testing::WithParamInterface<Copying> {
 protected:
  absl::Status Copy(bool overwrite = false) const { return GetParam().run(from_, to_, overwrite); }
};

TEST_P(EachCopyTest, HasWhatTheUmaskLeavesOfItsSource) {
  for (const auto& [mode, umask, expected] :
       std::vector<std::array<mode_t, 3>>{{0600, 0022, 0600},
                                          {0640, 0022, 0640},
                                          {0660, 0022, 0640},
                                          {0644, 0077, 0600},
                                          {0666, 0000, 0666},
                                          {0604, 0022, 0604},
                                          {0440, 0022, 0440}}) {
    ASSERT_NO_FATAL_FAILURE(MakeSource(mode));
    ::umask(umask);
    ASSERT_TRUE(IsOk(Copy()));
    EXPECT_EQ(PermissionsOf(to_), expected) << std::oct << mode << " " << umask;
    fs::remove(to_);
    fs::remove(from_);
    ::umask(0022);
  }
}

TEST_P(EachCopyTest, TakesNoListFromItsDirectory) {
  ASSERT_NO_FATAL_FAILURE(MakeSource(0600));
  SetList(dir_.path(), AccessListWith(7, 7, 7, 7, 5), kInheritedList);
  if (IsSkipped()) return;
  ASSERT_TRUE(IsOk(Copy()));
  EXPECT_EQ(PermissionsOf(to_), 0600u);
  EXPECT_EQ(XattrOf(to_, kCopiedList), "none");
}

TEST_P(EachCopyTest, HasTheListOfItsSource) {
  ASSERT_NO_FATAL_FAILURE(MakeSource(0600));
  SetList(from_, AccessListWith(6, 6, 0, 6, 0));
  if (IsSkipped()) return;
  ASSERT_TRUE(IsOk(Copy()));
  EXPECT_EQ(XattrOf(to_, kCopiedList),
            AccessListWith(6, 6, 0, 4, 0));  // what the umask leaves of it
}

// Who is in the group of the copy was perhaps not in that of the source.
TEST_P(EachCopyTest, OfAnotherGroupIsOpenToThatOnlyAsFarAsToEverybody) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may give files away";
  ASSERT_NO_FATAL_FAILURE(MakeSource(0640));
  ASSERT_EQ(::chown(from_.c_str(), kSourceOwner, kSourceGroup), 0);
  fs::permissions(dir_.path(), fs::perms::all);
  ASSERT_TRUE(IsOk(Copy()));
  EXPECT_EQ(GroupOf(to_), kSourceGroup);
  EXPECT_EQ(PermissionsOf(to_), 0640u);
  fs::remove(to_);
  const int made = ResultOfChild([&] {
    return ::setgid(kSourceGroup + 1) == 0 && ::setuid(kSourceOwner) == 0 && Copy().ok() ? 0 : 1;
  });
  EXPECT_EQ(made, 0);
  EXPECT_EQ(PermissionsOf(to_), 0600u);
}

TEST_P(EachCopyTest, ThatReplacesAFileIsAsOpenAsBothAre) {
  if (GetParam().name == "Salvage") GTEST_SKIP() << "replaces nothing";
  for (const auto& [source, old, expected] : std::vector<std::array<mode_t, 3>>{
           {0600, 0644, 0600}, {0644, 0600, 0600}, {0640, 0644, 0640}, {0644, 0664, 0644}}) {
    ASSERT_NO_FATAL_FAILURE(MakeSource(source));
    ASSERT_TRUE(IsOk(WriteFrame(to_, PlainCopies(64), {})));
    ASSERT_EQ(::chmod(to_.c_str(), old), 0);
    ASSERT_TRUE(IsOk(Copy(true)));
    EXPECT_EQ(PermissionsOf(to_), expected) << std::oct << source << " " << old;
    fs::remove(to_);
    fs::remove(from_);
  }
}

TEST_P(EachCopyTest, ThatReplacesAFileWithAListLetsNobodyInWhoHasNoRightToItsSource) {
  if (GetParam().name == "Salvage") GTEST_SKIP() << "replaces nothing";
  ASSERT_NO_FATAL_FAILURE(MakeSource(0640));
  ASSERT_TRUE(IsOk(WriteFrame(to_, PlainCopies(64), {})));
  SetList(to_, AccessListWith(6, 6, 4, 6, 4));
  if (IsSkipped()) return;
  ASSERT_TRUE(IsOk(Copy(true)));
  EXPECT_EQ(XattrOf(to_, kCopiedList), AccessListWith(6, 6, 4, 0, 0));
}

INSTANTIATE_TEST_SUITE_P(
    Ways, EachCopyTest,
    testing::Values(
        Copying{"CopyTo",
                [](const std::string& from, const std::string& to, bool overwrite) {
                  return CopyWith(from, to, {.overwrite = overwrite});
                }},
        Copying{"Increment",
                [](const std::string& from, const std::string& to, bool overwrite) -> absl::Status {
                  CAIRN_ASSIGN_OR_RETURN(const Frame frame, Frame::Open(from));
                  return CopyWith(from, to, {.since = frame.snapshot(), .overwrite = overwrite});
                }},
        Copying{"Salvage", [](const std::string& from, const std::string& to,
                              bool /*overwrite*/) { return Salvage(from, to).status(); }},
        Copying{"Build", BuildCopy}),
    [](const auto& info) { return info.param.name; });

TEST_F(CopyPermissionsTest, SparseCopyIsAsOpenAsItsSource) {
  for (const auto& [directory, file] :
       std::vector<std::array<mode_t, 2>>{{0700, 0600}, {0750, 0640}, {0755, 0644}}) {
    for (const Layout layout : {Layout::kContiguous, Layout::kSparse}) {
      ASSERT_NO_FATAL_FAILURE(MakeSource(file, layout));
      ASSERT_TRUE(IsOk(CopyWith(from_, to_, {.layout = Layout::kSparse})));
      EXPECT_EQ(PermissionsOf(to_), directory);
      for (const std::string& name : NamesIn(to_)) EXPECT_EQ(PermissionsOf(to_ + "/" + name), file);
      fs::remove_all(to_);
      fs::remove_all(from_);
    }
  }
}

TEST_F(CopyPermissionsTest, CopyOfASparseFrameIsClosedToThoseWhoMayNotEnterItsDirectory) {
  for (const Layout layout : {Layout::kContiguous, Layout::kSparse}) {
    ASSERT_NO_FATAL_FAILURE(MakeSource(0644, Layout::kSparse));
    ASSERT_EQ(::chmod(from_.c_str(), 0750), 0);
    ASSERT_TRUE(IsOk(CopyWith(from_, to_, {.layout = layout})));
    EXPECT_EQ(PermissionsOf(Main(to_)), 0640u);
    fs::remove_all(to_);
    fs::remove_all(from_);
  }
}

TEST_F(CopyPermissionsTest, LockFileIsNoWiderThanItsFrame) {
  for (const Layout layout : {Layout::kContiguous, Layout::kSparse}) {
    ASSERT_NO_FATAL_FAILURE(MakeSource(0600, layout));
    ASSERT_TRUE(IsOk(Frame::Open(from_)->OpenWriter({.make_lock_file = true})));
    const std::string lock = layout == Layout::kSparse ? from_ + "/.b2lock" : from_ + ".b2lock";
    EXPECT_EQ(PermissionsOf(lock), 0600u);
    fs::remove_all(from_);
  }
}

// From its first moment on, and while it is written.
TEST_F(CopyPermissionsTest, CopyOnItsWayIsNoWiderEither) {
  ASSERT_NO_FATAL_FAILURE(MakeSource(0600));
  ASSERT_TRUE(IsOk(WriteFrame(to_, PlainCopies(64), {})));
  int seen = 0;
  CopyOptions options{.overwrite = true};
  options.progress = [&](int64_t /*chunks*/) {
    for (const std::string& name : NamesIn(dir_.path())) {
      if (!name.ends_with(".tmp")) continue;
      ++seen;
      EXPECT_EQ(PermissionsOf(dir_.Path(name)), 0600u);
    }
    return true;
  };
  ASSERT_TRUE(IsOk(CopyWith(from_, to_, options)));
  EXPECT_GT(seen, 0);
}

}  // namespace
}  // namespace cairn::test
