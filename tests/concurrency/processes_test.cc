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
#include "tests/support/unsynced_file_system.h"

namespace cairn::test {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kWritingTime(1500);
constexpr int kReaderProcesses = 3;

class ProcessesTest : public testing::Test {
 protected:
  void SetUp() override {
    CreateOptions options = LedgerOptions(Layout::kContiguous);
    options.file_system = &files_;
    auto frame = Frame::Create(path_, options);
    ASSERT_TRUE(IsOk(frame));
    frame_ = std::make_unique<Frame>(*std::move(frame));
  }
  // In the child. Says on standard error what was wrong.
  int Observe(uint64_t seed) {
    auto frame = Frame::Open(path_, {.file_system = &files_});
    if (!frame.ok()) return 2;
    Observer observer(&*frame, path_, {.file_system = &files_}, seed);
    for (const auto end = Clock::now() + kWritingTime; Clock::now() < end;) {
      const absl::Status status = observer.Step();
      if (status.ok()) continue;
      std::fprintf(stderr, "reader %d: %s\n", static_cast<int>(seed), status.ToString().c_str());
      return 1;
    }
    return observer.states_seen() > 1 ? 0 : 3;
  }

  const TempDir dir_;
  const std::string path_ = dir_.Path("frame");
  UnsyncedFileSystem files_;
  std::unique_ptr<Frame> frame_;
};

TEST_F(ProcessesTest, SeeCommittedStatesOnlyThatGoForwardAndStay) {
  Author author(frame_.get(), {.path = path_, .file_system = &files_});
  absl::Status status = author.Begin();
  ASSERT_TRUE(IsOk(status));
  std::vector<pid_t> readers;
  std::fflush(nullptr);  // or the children could print what waits in the buffers once more
  for (uint64_t i = 0; i < kReaderProcesses; ++i) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) ::_exit(Observe(i));
    readers.push_back(child);
  }
  for (const auto end = Clock::now() + kWritingTime; status.ok() && Clock::now() < end;) {
    status = author.Step();
  }
  if (status.ok()) status = author.End();
  EXPECT_TRUE(IsOk(status));
  for (const pid_t reader : readers) {
    int result = 0;
    ASSERT_EQ(::waitpid(reader, &result, 0), reader);
    EXPECT_TRUE(WIFEXITED(result) && WEXITSTATUS(result) == 0) << result;
  }
}

TEST_F(ProcessesTest, ForkedChildKeepsItsParentsStatesFromBeingReclaimed) {
  Author author(frame_.get(), {.path = path_, .file_system = &files_});
  ASSERT_TRUE(IsOk(author.Begin()));
  std::optional<Frame> reader = *Frame::Open(path_, {.file_system = &files_});
  std::optional<Snapshot> held = reader->snapshot();
  const int child = ResultOfChild([&] {
    if (!absl::IsFailedPrecondition(reader->Refresh().status())) return 1;
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
