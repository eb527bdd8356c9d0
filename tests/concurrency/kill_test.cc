// A process writes and is killed, again and again; others read all the while, and lose nothing.
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/status.h"
#include "tests/concurrency/author.h"
#include "tests/concurrency/ledger.h"
#include "tests/concurrency/notice_board.h"
#include "tests/concurrency/roles.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"
#include "tests/support/unsynced_file_system.h"

namespace cairn::test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;
constexpr size_t kReaders = 4;
constexpr microseconds kLongestLife(20000);
constexpr std::chrono::minutes kHangs(4);  // takes a process that ends no more
// The frame grows with each writer, so that the last ones still append.
constexpr int64_t kItemsPerWriter = 4096;

// How many writers are killed. CAIRN_KILLS says otherwise.
int64_t Kills(Layout layout) {
  const char* wanted = std::getenv("CAIRN_KILLS");
  const int64_t kills = wanted == nullptr ? 300 : std::max(1, std::atoi(wanted));
  return layout == Layout::kSparse ? (kills + 2) / 3 : kills;
}

class KillTest : public testing::TestWithParam<Layout> {
 protected:
  ~KillTest() override {
    // Whatever went wrong, no process is left.
    for (const pid_t child : children_) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
  }
  static uint64_t Seed() {
    return 1 + static_cast<uint64_t>(testing::UnitTest::GetInstance()->random_seed());
  }
  microseconds AtMost(microseconds longest) {
    return microseconds(random_() % static_cast<uint64_t>(longest.count() + 1));
  }
  Author::Options AuthorOptions(int64_t number) {
    // Only a power cut needs the syncs, but they hold a writer up where it may then be killed.
    const std::shared_ptr<FileSystem> files =
        number % 2 == 0 ? PosixFileSystem() : Unowned(&unsynced_);
    return {.path = path_,
            .file_system = files,
            .most_items = kItemsPerWriter * (number + 2),
            .seed = 1000000 * Seed() + static_cast<uint64_t>(number)};
  }

  void MakeFrame();
  // Runs `body` in a process that ends with it.
  pid_t Fork(const std::function<absl::Status()>& body);
  absl::Status Write(int64_t number);
  absl::Status Read(size_t number);
  void KillOne(int64_t number);
  // Checks that the child has ended well.
  void ExpectEndsWell(pid_t child);
  void ExpectHoldsAll();

  const TempDir dir_;
  const std::string path_ = dir_.Path("frame");
  const NoticeBoard board_;
  UnsyncedFileSystem unsynced_;
  std::mt19937_64 random_{Seed()};
  std::vector<pid_t> children_;
};

void KillTest::MakeFrame() {
  auto frame = Frame::Create(path_, LedgerOptions(GetParam()));
  ASSERT_TRUE(IsOk(frame));
  Author author(&*frame, AuthorOptions(0));
  const absl::Status begun = author.Begin();
  ASSERT_TRUE(IsOk(begun));
}

pid_t KillTest::Fork(const std::function<absl::Status()>& body) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child != 0) {
    children_.push_back(child);
    return child;
  }
  const absl::Status status = body();
  if (!status.ok()) board_.ReportFailure(status);
  ::_exit(status.ok() ? 0 : 1);
}

// Never ends by itself except for a failure.
absl::Status KillTest::Write(int64_t number) {
  return Annotate(WriteUntilDone(board_, AuthorOptions(number)), "writer %d", number);
}

absl::Status KillTest::Read(size_t number) {
  return Annotate(ReadUntilWritersAreDone(board_, {.path = path_, .seed = 100 * Seed() + number}),
                  "reader %d", number);
}

// Half of the writers are killed early, perhaps before they have opened the frame.
void KillTest::KillOne(int64_t number) {
  const int64_t ready = board_->writers_ready;
  const bool early = random_() % 2 == 0;
  const pid_t child = Fork([&] { return Write(number); });
  const auto give_up = Clock::now() + kHangs;
  while (!early && board_->writers_ready == ready && !board_->failed && Clock::now() < give_up) {
    std::this_thread::sleep_for(microseconds(100));
  }
  ASSERT_LT(Clock::now(), give_up) << "writer " << number << " does not open the frame";
  std::this_thread::sleep_for(AtMost(kLongestLife));
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  std::erase(children_, child);
}

void KillTest::ExpectEndsWell(pid_t child) {
  const auto give_up = Clock::now() + kHangs;
  int status = 0;
  pid_t ended = 0;
  while (ended == 0 && Clock::now() < give_up) {
    ended = ::waitpid(child, &status, WNOHANG);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ASSERT_EQ(ended, child) << "a reader does not end";
  std::erase(children_, child);
  EXPECT_FALSE(WIFSIGNALED(status)) << "a reader died of signal " << WTERMSIG(status);
}

void KillTest::ExpectHoldsAll() {
  auto frame = Frame::Open(path_);
  ASSERT_TRUE(IsOk(frame));
  const auto report = frame->snapshot().Verify();
  ASSERT_TRUE(IsOk(report));
  for (const Finding& finding : report->findings) ADD_FAILURE() << finding.reason;
  const auto ledger = CheckWholeLedger(frame->snapshot());
  ASSERT_TRUE(IsOk(ledger));
  EXPECT_GE(ledger->commit, board_->commit);
  EXPECT_GE(frame->snapshot().info().generation, board_->generation);
  Author author(&*frame, AuthorOptions(0));
  absl::Status status = author.Resume();
  if (status.ok()) status = author.End();
  EXPECT_TRUE(IsOk(status));
  EXPECT_EQ(author.committed().commit, ledger->commit);
}

TEST_P(KillTest, LosesNothingAndShowsCompleteCommitsOnly) {
  ASSERT_NO_FATAL_FAILURE(MakeFrame());
  std::array<pid_t, kReaders> readers = {};
  for (size_t i = 0; i < kReaders; ++i) {
    readers[i] = Fork([this, i] { return Read(i); });
  }
  const int64_t kills = Kills(GetParam());
  for (int64_t i = 0; i < kills && !board_->failed; ++i) ASSERT_NO_FATAL_FAILURE(KillOne(i));
  board_->writers_done = true;
  for (const pid_t reader : readers) ExpectEndsWell(reader);
  EXPECT_FALSE(board_->failed) << board_->why.data();
  ExpectHoldsAll();
  EXPECT_GT(board_->commit, 0);
  EXPECT_GT(board_->states_seen, 0);
  RecordProperty("kills", static_cast<int>(kills));
  RecordProperty("writers_that_opened", static_cast<int>(board_->writers_ready));
  RecordProperty("steps", static_cast<int>(board_->steps));
  RecordProperty("commits_acknowledged", static_cast<int>(board_->commit));
  // These are of killed compactions, and are never removed.
  const auto left = std::distance(std::filesystem::directory_iterator(dir_.path()), {}) - 1;
  RecordProperty("files_left_beside", static_cast<int>(left));
  RecordProperty("states_seen", static_cast<int>(board_->states_seen));
}

INSTANTIATE_TEST_SUITE_P(Layouts, KillTest, testing::Values(Layout::kContiguous, Layout::kSparse),
                         [](const auto& info) {
                           return info.param == Layout::kSparse ? "Sparse" : "Contiguous";
                         });

}  // namespace
}  // namespace cairn::test
