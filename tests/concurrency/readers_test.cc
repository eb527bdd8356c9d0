// A thread writes, and others read. Every state that they see was committed, and stays so.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/status.h"
#include "tests/concurrency/author.h"
#include "tests/concurrency/observer.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"
#include "tests/support/unsynced_file_system.h"

namespace cairn::test {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kReadingTime(1500);
constexpr int kLooksToCatchUp = 2500;
constexpr int kReaders = 4;

enum class Handles {
  kWriters,  // all threads read through the handle that the writer came from
  kShared,   // all threads read through one other handle
  kOwn,      // each has its own
};

struct Scene {
  std::string name;
  Layout layout = Layout::kContiguous;
  Handles handles = Handles::kOwn;
  bool in_memory = false;
  bool use_mmap = true;
  VerifyPolicy verify = VerifyPolicy::kFirstTouch;
};

void PrintTo(const Scene& scene, std::ostream* out) { *out << scene.name; }

class ReadersTest : public testing::TestWithParam<Scene> {
 protected:
  OpenOptions ReaderOptions() {
    return {.use_mmap = GetParam().use_mmap,
            .verify = GetParam().verify,
            .file_system = Unowned(&files_)};
  }
  // Another one in each repetition with --gtest_shuffle.
  static uint64_t Seed() {
    return 1 + static_cast<uint64_t>(testing::UnitTest::GetInstance()->random_seed());
  }
  Frame MakeFrame() {
    CreateOptions options = LedgerOptions(GetParam().layout);
    options.file_system = Unowned(&files_);
    auto frame =
        GetParam().in_memory ? Frame::CreateInMemory(options) : Frame::Create(path_, options);
    EXPECT_TRUE(IsOk(frame));
    return *std::move(frame);
  }
  Author::Options AuthorOptions() {
    const bool sparse = GetParam().layout == Layout::kSparse;
    return {.path = path_,
            .file_system = Unowned(&files_),
            .most_items = sparse ? 1 << 16 : 1 << 20,
            .seed = Seed()};
  }
  // The handle that reader number i follows.
  Frame* HandleOf(int i, Frame& writers) {
    if (GetParam().handles == Handles::kWriters) return &writers;
    if (handles_.empty() || GetParam().handles == Handles::kOwn) {
      auto frame = Frame::Open(path_, ReaderOptions());
      EXPECT_TRUE(IsOk(frame)) << i << ": " << frame.status();
      handles_.push_back(std::make_unique<Frame>(*std::move(frame)));
    }
    return handles_.back().get();
  }
  // Reads until the writer is done, and then until its last commit is there.
  absl::Status Observe(Observer& observer);

  const TempDir dir_;
  const std::string path_ = GetParam().in_memory ? "" : dir_.Path("frame");
  UnsyncedFileSystem files_;
  std::vector<std::unique_ptr<Frame>> handles_;
  std::atomic<int64_t> last_commit_ = -1;  // known when the writer is done
  std::atomic<bool> failed_ = false;
};

absl::Status ReadersTest::Observe(Observer& observer) {
  for (int looks = 0; !failed_;) {
    const int64_t last = last_commit_;
    CAIRN_RETURN_IF_ERROR(observer.Step());
    if (last < 0) continue;
    if (observer.commit() == last) return absl::OkStatus();
    if (++looks > kLooksToCatchUp) return absl::InternalError("does not see the last commit");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // a new file is seen in a second
  }
  return absl::OkStatus();
}

TEST_P(ReadersTest, SeeCommittedStatesOnlyThatGoForwardAndStay) {
  Frame frame = MakeFrame();
  Author author(&frame, AuthorOptions());
  absl::Status status = author.Begin();
  ASSERT_TRUE(IsOk(status));
  std::array<absl::Status, kReaders> results;
  std::array<int64_t, kReaders> states = {};
  std::vector<std::thread> threads;
  for (int i = 0; i < kReaders; ++i) {
    threads.emplace_back([&, i, handle = HandleOf(i, frame)] {
      Observer observer(handle, path_, ReaderOptions(), 100 * Seed() + static_cast<uint64_t>(i));
      results[static_cast<size_t>(i)] = Observe(observer);
      states[static_cast<size_t>(i)] = observer.states_seen();
      if (!results[static_cast<size_t>(i)].ok()) failed_ = true;
    });
  }
  for (const auto end = Clock::now() + kReadingTime;
       status.ok() && !failed_ && Clock::now() < end;) {
    status = author.Step();
  }
  if (status.ok() && !failed_) status = author.End();
  if (!status.ok()) failed_ = true;
  last_commit_ = author.committed().commit;
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(IsOk(status));
  for (const absl::Status& result : results) EXPECT_TRUE(IsOk(result));
  RecordProperty("commits", static_cast<int>(author.committed().commit));
  RecordProperty("freed", std::to_string(author.freed()));
  RecordProperty("blocked", std::to_string(author.blocked()));
  RecordProperty("states_seen", static_cast<int>(*std::ranges::min_element(states)));
}

INSTANTIATE_TEST_SUITE_P(
    Scenes, ReadersTest,
    testing::Values(Scene{.name = "OwnHandles"},
                    Scene{.name = "SharedHandle", .handles = Handles::kShared},
                    Scene{.name = "WritersHandle", .handles = Handles::kWriters},
                    Scene{.name = "OwnHandlesWithoutMap", .use_mmap = false},
                    Scene{.name = "SharedHandleVerifiesAlways",
                          .handles = Handles::kShared,
                          .verify = VerifyPolicy::kAlways},
                    Scene{.name = "InMemory", .handles = Handles::kWriters, .in_memory = true},
                    Scene{.name = "SparseOwnHandles", .layout = Layout::kSparse},
                    Scene{.name = "SparseWritersHandle",
                          .layout = Layout::kSparse,
                          .handles = Handles::kWriters}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace cairn::test
