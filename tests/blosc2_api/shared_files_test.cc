// Files that several handles and processes edit, and what C-Blosc2 itself reads of them.
#include <blosc2.h>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "tests/blosc2_api/file_test.h"

namespace {

int64_t syncs = 0;

}  // namespace

// The library finds these before those of the system.
extern "C" __attribute__((visibility("default"))) int fsync(int /*fd*/) {
  ++syncs;
  return 0;
}
extern "C" __attribute__((visibility("default"))) int fdatasync(int /*fd*/) {
  ++syncs;
  return 0;
}

namespace cairn::blosc2_api {
namespace {

constexpr int32_t kItems = 100;
constexpr int kChunks = 50;

class SharedFilesTest : public FileTest {
 protected:
  void TearDown() override {
    unsetenv("CAIRN_BLOSC2_JOURNAL");
    unsetenv("CAIRN_BLOSC2_SYNC");
    FileTest::TearDown();
  }

  // Appends chunks that hold their numbers, from `first` on.
  void Append(blosc2_schunk* schunk, int64_t first, int64_t n) const {
    for (int64_t i = first; i < first + n; ++i) {
      const std::vector<int32_t> items(kItems, static_cast<int32_t>(i));
      ASSERT_GT(ours_.blosc2_schunk_append_buffer(schunk, items.data(), kItems * 4), 0);
    }
  }
  void Append(blosc2_schunk* schunk, int64_t n) const { Append(schunk, schunk->nchunks, n); }

  // Returns the number of chunks that a library reads, or -1 if one is wrong.
  int64_t Count(const Calls& calls) const {
    blosc2_schunk* const schunk = calls.blosc2_schunk_open(path_.c_str());
    if (schunk == nullptr) return -1;
    int64_t nchunks = schunk->nchunks;
    for (int64_t i = 0; i < schunk->nchunks; ++i) {
      std::vector<int32_t> items(kItems);
      const int size = calls.blosc2_schunk_decompress_chunk(schunk, i, items.data(), kItems * 4);
      if (size != kItems * 4 || items != std::vector<int32_t>(kItems, static_cast<int32_t>(i))) {
        nchunks = -1;
      }
    }
    calls.blosc2_schunk_free(schunk);
    return nchunks;
  }
  int64_t CountOfGenuine() const { return Count(genuine_); }

  void AppendFromProcesses(int32_t each);
  // Appends these numbers, and returns true if each is found where it was put.
  bool AppendsStay(int32_t first, int32_t n) const {
    blosc2_schunk* const schunk = ours_.blosc2_schunk_open(path_.c_str());
    std::vector<int64_t> places;
    for (int32_t i = first; i < first + n; ++i) {
      const std::vector<int32_t> items(kItems, i);
      places.push_back(ours_.blosc2_schunk_append_buffer(schunk, items.data(), kItems * 4) - 1);
    }
    bool stay = true;
    for (int32_t i = first; i < first + n; ++i) {
      std::vector<int32_t> items(kItems);
      const int64_t place = places[static_cast<size_t>(i - first)];
      const int size =
          ours_.blosc2_schunk_decompress_chunk(schunk, place, items.data(), kItems * 4);
      stay = stay && size == kItems * 4 && items[0] == i;
    }
    ours_.blosc2_schunk_free(schunk);
    return stay;
  }

  // Runs a function in a child, and returns the child's status as waitpid gives it, or nothing if
  // it does not end within some seconds.
  static std::optional<int> InChild(const std::function<void()>& run) {
    const pid_t child = fork();
    if (child == 0) {
      run();
      _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    int status = 0;
    for (int i = 0; i < 3000; ++i) {
      if (waitpid(child, &status, WNOHANG) == child) return status;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return std::nullopt;
  }
};

INSTANTIATE_TEST_SUITE_P(Layouts, SharedFilesTest, testing::Bool(),
                         [](const auto& layout) { return layout.param ? "Contiguous" : "Sparse"; });

TEST_P(SharedFilesTest, EachEditIsReadByOthersAtOnce) {
  blosc2_schunk* const schunk = Create();
  for (int64_t n = 1; n <= 10; ++n) {
    Append(schunk, 1);
    EXPECT_EQ(CountOfGenuine(), n);
  }
  ours_.blosc2_schunk_free(schunk);
}

TEST_P(SharedFilesTest, NothingIsSyncedIfTheEnvironmentSaysSo) {
  for (const bool with_syncs : {true, false}) {
    if (!with_syncs) setenv("CAIRN_BLOSC2_SYNC", "0", 1);
    syncs = 0;
    blosc2_schunk* const schunk = Create();
    Append(schunk, kChunks);
    ours_.blosc2_schunk_free(schunk);
    EXPECT_EQ(CountOfGenuine(), kChunks);
    EXPECT_EQ(syncs > 0, with_syncs);
    std::filesystem::remove_all(path_);
  }
}

TEST_P(SharedFilesTest, EditsInTheJournalAreReadByOthersWhenTheHandleIsFreed) {
  setenv("CAIRN_BLOSC2_JOURNAL", "1", 1);
  blosc2_schunk* const schunk = Create();
  Append(schunk, kChunks);
  EXPECT_EQ(Count(ours_), kChunks);
  EXPECT_EQ(CountOfGenuine(), 0);
  ours_.blosc2_schunk_free(schunk);
  EXPECT_EQ(CountOfGenuine(), kChunks);
}

TEST_P(SharedFilesTest, EditsInTheJournalOfAKilledProgramAreReadByCairn) {
  setenv("CAIRN_BLOSC2_JOURNAL", "1", 1);
  const std::optional<int> status = InChild([this] {
    Append(Create(), kChunks);
    kill(getpid(), SIGKILL);
  });
  ASSERT_TRUE(status.has_value() && WIFSIGNALED(*status));
  EXPECT_EQ(Count(ours_), kChunks);
  EXPECT_EQ(CountOfGenuine(), 0);
}

TEST_P(SharedFilesTest, AForkedChildLeavesTheJournalToItsParent) {
  setenv("CAIRN_BLOSC2_JOURNAL", "1", 1);
  blosc2_schunk* const schunk = Create();
  Append(schunk, kChunks);
  ASSERT_EQ(InChild([this, schunk] { ours_.blosc2_schunk_free(schunk); }), 0);
  EXPECT_EQ(CountOfGenuine(), 0);
  Append(schunk, kChunks);
  ours_.blosc2_schunk_free(schunk);
  EXPECT_EQ(CountOfGenuine(), 2 * kChunks);
}

TEST_P(SharedFilesTest, AForkedChildLeavesASequenceOfEditsToItsParent) {
  blosc2_schunk* const schunk = Create();
  Append(schunk, 2);
  ours_.blosc2_schunk_lock(schunk);
  Append(schunk, 1);
  const auto read = [this, schunk] {
    ours_.blosc2_schunk_refresh(schunk);
    EXPECT_EQ(schunk->nchunks, 2);
    std::vector<int32_t> items(kItems);
    EXPECT_GT(ours_.blosc2_schunk_decompress_chunk(schunk, 1, items.data(), kItems * 4), 0);
  };
  EXPECT_EQ(InChild(read), 0);
  ours_.blosc2_schunk_unlock(schunk);
  EXPECT_EQ(CountOfGenuine(), 3);
  ours_.blosc2_schunk_lock(schunk);
  const pid_t child = fork();
  if (child == 0) {
    Append(schunk, 1);  // when the parent has given the file away
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  Append(schunk, 1);
  ours_.blosc2_schunk_unlock(schunk);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  ours_.blosc2_schunk_free(schunk);
  blosc2_schunk* const after = genuine_.blosc2_schunk_open(path_.c_str());
  EXPECT_EQ(after->nchunks, 5);
  genuine_.blosc2_schunk_free(after);
}

TEST_P(SharedFilesTest, AFileThatIsCutIsAnErrorAndNoCrash) {
  if (!GetParam()) GTEST_SKIP() << "directories have several files";
  blosc2_schunk* const schunk = Create();
  Append(schunk, 3);
  const auto size = std::filesystem::file_size(path_);
  for (const auto left : {size / 2, size - size}) {
    std::filesystem::resize_file(path_, left);
    std::vector<int32_t> items(kItems);
    EXPECT_LT(ours_.blosc2_schunk_decompress_chunk(schunk, 2, items.data(), kItems * 4), 0);
    EXPECT_LT(ours_.blosc2_vlmeta_exists(schunk, "layer"), 0);
  }
  ours_.blosc2_schunk_free(schunk);
}

TEST_P(SharedFilesTest, LayersThatCairnHasAddedMayBeCopied) {
  blosc2_schunk* const schunk = Create();
  Append(schunk, 1);
  blosc2_schunk* const seen = genuine_.blosc2_schunk_open(path_.c_str());
  ASSERT_GT(seen->nvlmetalayers, 0);
  for (int16_t i = 0; i < seen->nvlmetalayers; ++i) {
    const blosc2_metalayer& layer = *seen->vlmetalayers[i];
    EXPECT_GE(
        ours_.blosc2_vlmeta_add(schunk, layer.name, layer.content, layer.content_len, nullptr), 0);
  }
  genuine_.blosc2_schunk_free(seen);
  Append(schunk, 1);
  ours_.blosc2_schunk_free(schunk);
  EXPECT_EQ(Count(ours_), 2);
  EXPECT_EQ(CountOfGenuine(), 2);
}

TEST_P(SharedFilesTest, EditsOfAnotherHandleAreSeenByTheNextEdit) {
  blosc2_schunk* const schunk = Create();
  Append(schunk, 1);
  blosc2_schunk* const other = ours_.blosc2_schunk_open(path_.c_str());
  Append(other, 1);
  Append(schunk, 2, 1);
  EXPECT_EQ(schunk->nchunks, 3);
  ours_.blosc2_schunk_free(other);
  ours_.blosc2_schunk_free(schunk);
  EXPECT_EQ(CountOfGenuine(), 3);
}

// Each append says where the chunk is, and nothing may come before it later.
void SharedFilesTest::AppendFromProcesses(int32_t each) {
  ours_.blosc2_schunk_free(Create());
  std::vector<pid_t> children;
  for (int32_t process = 0; process < 3; ++process) {
    const pid_t child = fork();
    if (child == 0) _exit(AppendsStay(process * each, each) ? 0 : 1);
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

TEST_P(SharedFilesTest, ChunksThatProcessesAppendAtOnceStayWhereTheyAre) {
  AppendFromProcesses(50);
}

TEST_P(SharedFilesTest, ChunksThatProcessesAppendToTheJournalStayWhereTheyAre) {
  setenv("CAIRN_BLOSC2_JOURNAL", "1", 1);
  AppendFromProcesses(50);
}

}  // namespace
}  // namespace cairn::blosc2_api
