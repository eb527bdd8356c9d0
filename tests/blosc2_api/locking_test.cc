// Programs that share a file under C-Blosc2's lock file.
#include <algorithm>
#include <atomic>
#include <blosc2.h>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <sys/file.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "tests/blosc2_api/file_test.h"

namespace cairn::blosc2_api {
namespace {

using std::chrono::milliseconds;

constexpr int32_t kItems = 100;
constexpr int64_t kChunks = 500;

using Items = std::vector<int32_t>;

class LockingTest : public FileTest {
 protected:
  void SetUp() override {
    FileTest::SetUp();
    setenv("BLOSC_LOCKING", "1", 1);
    setenv("CAIRN_BLOSC2_SYNC", "0", 1);
    schunk_ = Create();
    ASSERT_GE(ours_.blosc2_schunk_lock(schunk_), 0);
    for (int64_t i = 0; i < kChunks; ++i) Append(ours_, schunk_);
    ASSERT_GE(ours_.blosc2_schunk_unlock(schunk_), 0);
  }
  void TearDown() override {
    ours_.blosc2_schunk_free(schunk_);
    unsetenv("CAIRN_BLOSC2_SYNC");
    unsetenv("BLOSC_LOCKING");
    FileTest::TearDown();
  }

  std::string LockFileName() const { return path_ + (GetParam() ? ".b2lock" : "/.b2lock"); }

  // Appends a chunk that holds its number.
  static void Append(const Calls& calls, blosc2_schunk* schunk) {
    const Items items(kItems, static_cast<int32_t>(schunk->nchunks));
    EXPECT_GT(calls.blosc2_schunk_append_buffer(schunk, items.data(), kItems * 4), 0);
  }
  bool HasChunk(blosc2_schunk* schunk, int32_t nchunk) const {
    Items items(kItems);
    return ours_.blosc2_schunk_decompress_chunk(schunk, nchunk, items.data(), kItems * 4) ==
               kItems * 4 &&
           items == Items(kItems, nchunk);
  }

  // Starts processes that read all chunks again and again. Each call holds the lock file for as
  // long as it reads, and some process always does.
  std::vector<pid_t> StartReaders() const {
    constexpr size_t kReaders = 4;
    std::vector<pid_t> readers;
    while (readers.size() < kReaders) {
      readers.push_back(fork());
      if (readers.back() != 0) continue;
      blosc2_schunk* const schunk = ours_.blosc2_schunk_open(path_.c_str());
      Items items(static_cast<size_t>(kChunks * kItems));
      while (ours_.blosc2_schunk_get_slice_buffer(schunk, 0, kChunks * kItems, items.data()) >= 0) {
      }
      _exit(1);
    }
    return readers;
  }
  // Ends a process that must be running, and returns true if it was.
  static bool Kill(pid_t child) {
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status);
  }

  blosc2_schunk* schunk_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Layouts, LockingTest, testing::Bool(),
                         [](const auto& layout) { return layout.param ? "Contiguous" : "Sparse"; });

TEST_P(LockingTest, WritersGetTheirTurnBesideReadersWithoutAPause) {
  const std::vector<pid_t> readers = StartReaders();
  for (int i = 0; i < 10; ++i) Append(ours_, schunk_);
  // C-Blosc2 waits for as long as it takes, so a process is killed that waits for a minute.
  const pid_t writer = fork();
  if (writer == 0) {
    alarm(60);
    blosc2_schunk* const schunk = genuine_.blosc2_schunk_open(path_.c_str());
    for (int i = 0; i < 10; ++i) Append(genuine_, schunk);
    genuine_.blosc2_schunk_free(schunk);
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  waitpid(writer, &status, 0);
  EXPECT_EQ(status, 0);
  for (const pid_t reader : readers) EXPECT_TRUE(Kill(reader));
  EXPECT_TRUE(HasChunk(schunk_, kChunks + 19));
}

// A reader lets the writer go first, but not for as long as another reader keeps that out.
TEST_P(LockingTest, AReaderThatStopsDoesNotStopTheOthers) {
  const int fd = open(LockFileName().c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(flock(fd, LOCK_SH), 0);
  blosc2_schunk* const reader = ours_.blosc2_schunk_open(path_.c_str());
  std::atomic<bool> is_written = false;
  std::thread writer([&] {
    Append(ours_, schunk_);
    is_written = true;
  });
  std::this_thread::sleep_for(milliseconds(50));
  for (int32_t i = 0; i < 100; ++i) EXPECT_TRUE(HasChunk(reader, i));
  EXPECT_FALSE(is_written);
  close(fd);
  writer.join();
  ours_.blosc2_schunk_free(reader);
}

// The read of a filter within the call that runs the filter.
struct InnerRead {
  blosc2_schunk* schunk = nullptr;
  const Calls* calls = nullptr;
  std::chrono::duration<double> longest{};
  bool is_inside = false;
};

int ReadInside(blosc2_postfilter_params* params) {
  std::memcpy(params->output, params->input, static_cast<size_t>(params->size));
  auto& inner = *static_cast<InnerRead*>(params->user_data);
  if (inner.is_inside) return 0;
  inner.is_inside = true;
  std::this_thread::sleep_for(milliseconds(20));
  Items items(kItems);
  const auto begin = std::chrono::steady_clock::now();
  const int size =
      inner.calls->blosc2_schunk_decompress_chunk(inner.schunk, 7, items.data(), kItems * 4);
  inner.longest =
      std::max(inner.longest, decltype(inner.longest)(std::chrono::steady_clock::now() - begin));
  inner.is_inside = false;
  return size == kItems * 4 && items == Items(kItems, 7) ? 0 : 1;
}

TEST_P(LockingTest, AFilterThatReadsWithinACallWaitsForNobody) {
  blosc2_schunk* const reader = ours_.blosc2_schunk_open(path_.c_str());
  InnerRead inner{.schunk = reader, .calls = &ours_};
  blosc2_postfilter_params postparams = {};
  postparams.user_data = &inner;
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  dparams.nthreads = 1;
  dparams.schunk = reader;
  dparams.postfilter = ReadInside;
  dparams.postparams = &postparams;
  ours_.blosc2_free_ctx(reader->dctx);
  reader->dctx = ours_.blosc2_create_dctx(dparams);
  std::thread writer([&] {  // waits for the call
    std::this_thread::sleep_for(milliseconds(50));
    Append(ours_, schunk_);
  });
  Items items(size_t{10} * kItems);
  EXPECT_EQ(ours_.blosc2_schunk_get_slice_buffer(reader, 0, int64_t{10} * kItems, items.data()), 0);
  writer.join();
  EXPECT_LT(inner.longest, std::chrono::seconds(1));
  ours_.blosc2_schunk_free(reader);
}

// Others make a new one, under which they edit.
TEST_P(LockingTest, ALockFileThatWasRemovedIsLockedNoMore) {
  blosc2_schunk* const reader = ours_.blosc2_schunk_open(path_.c_str());
  EXPECT_TRUE(HasChunk(reader, 1));
  std::filesystem::remove(LockFileName());
  EXPECT_TRUE(HasChunk(reader, 2));
  const int fd = open(LockFileName().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(flock(fd, LOCK_EX), 0);
  std::atomic<bool> has_read = false;
  std::thread thread([&] {
    EXPECT_TRUE(HasChunk(reader, 3));
    has_read = true;
  });
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_FALSE(has_read);
  close(fd);
  thread.join();
  ours_.blosc2_schunk_free(reader);
}

TEST_P(LockingTest, TheLockOfAKilledReaderEndsThoughAChildOfItLives) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t reader = fork();
  if (reader == 0) {
    blosc2_schunk* const schunk = ours_.blosc2_schunk_open(path_.c_str());
    HasChunk(schunk, 1);
    const pid_t child = fork();
    if (child == 0) {
      close(ready[0]);
      close(ready[1]);
      sleep(60);
      _exit(0);
    }
    if (write(ready[1], &child, sizeof(child)) < 0) _exit(1);
    Items items(static_cast<size_t>(kChunks * kItems));
    while (ours_.blosc2_schunk_get_slice_buffer(schunk, 0, kChunks * kItems, items.data()) >= 0) {
    }
    _exit(1);
  }
  pid_t child = 0;
  ASSERT_EQ(read(ready[0], &child, sizeof(child)), static_cast<ssize_t>(sizeof(child)));
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_TRUE(Kill(reader));
  const int fd = open(LockFileName().c_str(), O_RDWR | O_CLOEXEC);
  EXPECT_EQ(flock(fd, LOCK_EX | LOCK_NB), 0);
  close(fd);
  kill(child, SIGKILL);
  close(ready[0]);
  close(ready[1]);
}

}  // namespace
}  // namespace cairn::blosc2_api
