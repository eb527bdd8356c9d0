// Locks that other code of a process has on a file outlive whatever Cairn does with that file.
#include <atomic>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "cairn/cairn.h"
#include "cairn/frame.h"
#include "cairn/log.h"
#include "cairn/recover.h"
#include "engine/base/status.h"
#include "tests/sqlite/children.h"
#include "tests/sqlite/database.h"
#include "tests/sqlite/expect.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

namespace fs = std::filesystem;

// Returns true if this process has a POSIX lock on the file. The descriptor that asks stays open
// until the process ends: to close it would take the lock away.
bool HasLock(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  constexpr off_t kNoFrames = off_t{1} << 40;  // frames lock bytes that lie behind
  struct flock lock = {
      .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = kNoFrames, .l_pid = 0};
  // A lock of the descriptor itself would conflict with those of its process.
  return file >= 0 && fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK &&
         lock.l_pid == getpid();
}

int64_t CountDescriptors() {
  const fs::directory_iterator all("/proc/self/fd");
  return std::distance(begin(all), end(all));
}

// Locks the first bytes of a file as a program does by itself.
class LockedFile {
 public:
  explicit LockedFile(const std::string& path)
      : file_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 100, .l_pid = 0};
    if (file_ < 0 || fcntl(file_, F_SETLK, &lock) != 0) std::abort();
  }
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;
  ~LockedFile() { close(file_); }

 private:
  const int file_;
};

// How Cairn comes upon a file that it leaves as it is.
struct Look {
  const char* name;
  void (*look)(const std::string& path);
};

constexpr Look kLooks[] = {
    {"Open", [](const std::string& path) { Frame::Open(path).IgnoreError(); }},
    {"OpenAtAnOffset",
     [](const std::string& path) { Frame::Open(path, {.offset = 16}).IgnoreError(); }},
    {"OpenInC",
     [](const std::string& path) {
       cairn_frame* frame = nullptr;
       cairn_frame_open(path.c_str(), nullptr, &frame, nullptr);
       cairn_frame_free(frame);
     }},
    {"OpenFile",
     [](const std::string& path) {
       for (const FileMode mode : {FileMode::kRead, FileMode::kReadWrite, FileMode::kCreateNew}) {
         PosixFileSystem()->Open(path, mode).IgnoreError();
       }
     }},
    {"OpenLog", [](const std::string& path) { Log::Open(path).IgnoreError(); }},
    {"Recover", [](const std::string& path) { Recover(path, {}).IgnoreError(); }},
    {"Salvage", [](const std::string& path) { Salvage(path, path + ".out").IgnoreError(); }},
    {"Create", [](const std::string& path) { Frame::Create(path, {}).IgnoreError(); }},
    {"CreateLog", [](const std::string& path) { Log::Create(path, {}).IgnoreError(); }},
    {"OpenDatabase",
     [](const std::string& path) { Database::OpenBy("cairn", path, "&mode=ro").IgnoreError(); }},
    {"CopyTo",
     [](const std::string& path) {
       absl::StatusOr<Frame> frame = Frame::Create(path + ".frame", {.overwrite = true});
       if (frame.ok()) frame->snapshot().CopyTo(path).IgnoreError();
     }},
};

class PosixLocksTest : public testing::TestWithParam<Look> {
 protected:
  static bool Runs(absl::FunctionRef<absl::Status()> body) {
    return EndsWell(Begin("program", [&]() -> absl::Status {
      CAIRN_RETURN_IF_ERROR(LoadSqliteExtension());
      return body();
    }));
  }

  absl::StatusOr<Database> Plain(const std::string& mode = "delete") const {
    CAIRN_ASSIGN_OR_RETURN(Database plain, Database::OpenBy("unix", path_));
    CAIRN_RETURN_IF_ERROR(plain.Execute("PRAGMA journal_mode=" + mode));
    CAIRN_RETURN_IF_ERROR(plain.Execute("CREATE TABLE IF NOT EXISTS t(a)"));
    return plain;
  }

  TempDir directory_;
  const std::string path_ = directory_.Path("plain.db");
};

INSTANTIATE_TEST_SUITE_P(Looks, PosixLocksTest, testing::ValuesIn(kLooks),
                         [](const auto& info) { return info.param.name; });

TEST_P(PosixLocksTest, TransactionOfSqliteKeepsItsLocks) {
  EXPECT_TRUE(Runs([&]() -> absl::Status {
    CAIRN_ASSIGN_OR_RETURN(Database plain, Plain());
    CAIRN_RETURN_IF_ERROR(plain.Execute("BEGIN IMMEDIATE"));
    GetParam().look(path_);
    CAIRN_RETURN_IF_ERROR(Expect(HasLock(path_), "the locks are gone"));
    return plain.Execute("COMMIT");
  }));
}

// A write-ahead log has locks on the database and on the file -shm for as long as it is open.
TEST_P(PosixLocksTest, WriteAheadLogKeepsItsLocks) {
  EXPECT_TRUE(Runs([&]() -> absl::Status {
    CAIRN_ASSIGN_OR_RETURN(Database plain, Plain("wal"));
    CAIRN_RETURN_IF_ERROR(plain.Execute("BEGIN IMMEDIATE"));
    GetParam().look(path_);
    // SQLite itself takes its locks of -shm away when that is opened as a database.
    if (GetParam().name != std::string("OpenDatabase")) {
      for (const char* const end : {"-shm", "-wal"}) GetParam().look(path_ + end);
    }
    CAIRN_RETURN_IF_ERROR(Expect(HasLock(path_), "the locks are gone"));
    CAIRN_RETURN_IF_ERROR(Expect(HasLock(path_ + "-shm"), "the locks of -shm are gone"));
    return plain.Execute("COMMIT");
  }));
}

TEST_P(PosixLocksTest, FrameThatTheProgramLocksStaysLocked) {
  EXPECT_TRUE(Runs([&]() -> absl::Status {
    CAIRN_ASSIGN_OR_RETURN(Database database, Database::Open(path_));
    CAIRN_RETURN_IF_ERROR(database.Execute("CREATE TABLE t(a)"));
    const LockedFile locked(path_);
    GetParam().look(path_);
    return Expect(HasLock(path_), "the locks are gone");
  }));
}

TEST_P(PosixLocksTest, LooksTakeNoMoreDescriptorsEachTime) {
  EXPECT_TRUE(Runs([&]() -> absl::Status {
    CAIRN_ASSIGN_OR_RETURN(Database plain, Plain());
    CAIRN_RETURN_IF_ERROR(plain.Execute("BEGIN IMMEDIATE"));
    GetParam().look(path_);
    const int64_t before = CountDescriptors();
    for (int i = 0; i < 50; ++i) GetParam().look(path_);
    const int64_t after = CountDescriptors();
    return Expect(after == before, absl::StrCat(before, " descriptors, then ", after));
  }));
}

using PosixLocksOnFilesTest = PosixLocksTest;
INSTANTIATE_TEST_SUITE_P(None, PosixLocksOnFilesTest, testing::Values(Look{"None", nullptr}),
                         [](const auto& info) { return info.param.name; });

TEST_P(PosixLocksOnFilesTest, DescriptorsAreClosedAfterThoseOfTheOtherCode) {
  EXPECT_TRUE(Runs([&]() -> absl::Status {
    const int64_t before = CountDescriptors();
    for (int i = 0; i < 20; ++i) {
      const std::string path = directory_.Path(absl::StrCat("other-", i));
      const LockedFile locked(path);
      for (const Look& look : kLooks) look.look(path);
    }
    Frame::Open(path_).IgnoreError();
    Frame::Open(directory_.path()).IgnoreError();
    const int64_t after = CountDescriptors();
    // The extension has its own copy of the library, and closes those of the last file later.
    return Expect(after <= before + 2, absl::StrCat(before, " descriptors, then ", after));
  }));
}

TEST_P(PosixLocksOnFilesTest, FileThatAFrameReplacesStaysLocked) {
  EXPECT_TRUE(Runs([&]() -> absl::Status {
    CAIRN_ASSIGN_OR_RETURN(Database plain, Plain());
    const std::string link = directory_.Path("link.db");
    fs::create_hard_link(path_, link);
    CAIRN_RETURN_IF_ERROR(plain.Execute("BEGIN IMMEDIATE"));
    CAIRN_RETURN_IF_ERROR(Frame::Create(path_, {.overwrite = true}).status());
    return Expect(HasLock(link), "the locks are gone");
  }));
}

TEST_P(PosixLocksOnFilesTest, LockFileThatTheProgramLocksStaysLocked) {
  EXPECT_TRUE(Runs([&]() -> absl::Status {
    CAIRN_ASSIGN_OR_RETURN(Frame frame, Frame::Create(path_, {}));
    const LockedFile locked(path_ + ".b2lock");
    CAIRN_RETURN_IF_ERROR(frame.OpenWriter({}).status());
    CAIRN_RETURN_IF_ERROR(Expect(HasLock(path_ + ".b2lock"), "the locks are gone"));
    // HasLock forks, and a descriptor that a child has is not used again: the next one is.
    CAIRN_RETURN_IF_ERROR(frame.OpenWriter({}).status());
    const int64_t before = CountDescriptors();
    for (int i = 0; i < 20; ++i) CAIRN_RETURN_IF_ERROR(frame.OpenWriter({}).status());
    const int64_t after = CountDescriptors();
    return Expect(after == before, absl::StrCat(before, " descriptors, then ", after));
  }));
}

TEST_P(PosixLocksOnFilesTest, TransactionsKeepTheirLocksBesideThreadsThatLook) {
  EXPECT_TRUE(Runs([&]() -> absl::Status {
    CAIRN_ASSIGN_OR_RETURN(Database plain, Plain());
    std::atomic<bool> done = false;
    std::vector<std::thread> threads;
    for (const char* const name : {"Open", "OpenDatabase"}) {
      threads.emplace_back([&, name = std::string(name)] {
        while (!done) {
          for (const Look& look : kLooks) {
            if (look.name == name) look.look(path_);
          }
        }
      });
    }
    absl::Status status;
    for (int i = 0; i < 100 && status.ok(); ++i) {
      status = plain.Execute("BEGIN IMMEDIATE");
      if (status.ok()) status = Expect(HasLock(path_), absl::StrCat("transaction ", i));
      plain.Execute("COMMIT").IgnoreError();
    }
    done = true;
    for (std::thread& thread : threads) thread.join();
    return status;
  }));
}

}  // namespace
}  // namespace cairn::test
