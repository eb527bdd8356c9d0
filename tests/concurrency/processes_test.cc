// Readers in other processes, and what a forked one must leave alone.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "tests/concurrency/author.h"
#include "tests/concurrency/observer.h"
#include "tests/support/child_process.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"
#include "tests/support/unsynced_file_system.h"

namespace cairn::test {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kWritingTime(1500);
constexpr std::chrono::minutes kMostTime(4);  // of what does not come
constexpr size_t kReaderProcesses = 3;

class ProcessesTest : public testing::Test {
 protected:
  void SetUp() override {
    CreateOptions options = LedgerOptions(Layout::kContiguous);
    options.file_system = Unowned(&files_);
    auto frame = Frame::Create(path_, options);
    ASSERT_TRUE(IsOk(frame));
    frame_ = std::make_unique<Frame>(*std::move(frame));
  }
  // In the child, for a time and until it has seen two states. Says on standard error what was
  // wrong.
  int Observe(uint64_t seed) {
    auto frame = Frame::Open(path_, {.file_system = Unowned(&files_)});
    if (!frame.ok()) return 2;
    Observer observer(&*frame, path_, {.file_system = Unowned(&files_)}, seed);
    const auto begin = Clock::now();
    const auto goes_on = [&] {
      const auto time = Clock::now() - begin;
      return time < kWritingTime || (observer.states_seen() < 2 && time < kMostTime);
    };
    while (goes_on()) {
      const absl::Status status = observer.Step();
      if (status.ok()) continue;
      std::fprintf(stderr, "reader %d: %s\n", static_cast<int>(seed), status.ToString().c_str());
      return 1;
    }
    return observer.states_seen() > 1 ? 0 : 3;
  }
  // Takes those away that have ended; a failure of the test when one did not end well.
  static void EraseEnded(std::vector<pid_t>& readers, int options) {
    std::erase_if(readers, [&](pid_t reader) {
      int result = 0;
      const pid_t ended = ::waitpid(reader, &result, options);
      if (ended == 0) return false;
      EXPECT_EQ(ended, reader);
      EXPECT_TRUE(WIFEXITED(result) && WEXITSTATUS(result) == 0) << result;
      return true;
    });
  }

  const TempDir dir_;
  const std::string path_ = dir_.Path("frame");
  UnsyncedFileSystem files_;
  std::unique_ptr<Frame> frame_;
};

TEST_F(ProcessesTest, SeeCommittedStatesOnlyThatGoForwardAndStay) {
  Author author(frame_.get(), {.path = path_, .file_system = Unowned(&files_)});
  absl::Status status = author.Begin();
  ASSERT_TRUE(IsOk(status));
  std::vector<pid_t> readers;
  std::fflush(nullptr);  // or the children could print what waits in the buffers again
  for (uint64_t i = 0; i < kReaderProcesses; ++i) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) ::_exit(Observe(i));
    readers.push_back(child);
  }
  while (status.ok() && !readers.empty()) {
    status = author.Step();
    EraseEnded(readers, WNOHANG);
  }
  if (status.ok()) status = author.End();
  EXPECT_TRUE(IsOk(status));
  EraseEnded(readers, 0);
}

TEST_F(ProcessesTest, ForkedChildKeepsItsParentsStatesFromBeingReclaimed) {
  Author author(frame_.get(), {.path = path_, .file_system = Unowned(&files_)});
  ASSERT_TRUE(IsOk(author.Begin()));
  std::optional<Frame> reader = *Frame::Open(path_, {.file_system = Unowned(&files_)});
  std::optional<Snapshot> held = reader->snapshot();
  const int child = ResultOfChild([&] {
    if (!reader->Refresh().ok()) return 1;
    if (!CheckWholeLedger(*held).ok()) return 2;
    held.reset();
    reader.reset();
    return 0;
  });
  EXPECT_EQ(child, 0);
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(IsOk(author.Step()));
  const auto ledger = CheckWholeLedger(*held);
  ASSERT_TRUE(IsOk(ledger));
  EXPECT_EQ(ledger->commit, 1);
  EXPECT_TRUE(IsOk(author.End()));
}

}  // namespace
}  // namespace cairn::test
