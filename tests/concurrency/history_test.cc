// Readers of the history while a writer gives up a part of it.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/status.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"
#include "tests/support/unsynced_file_system.h"

namespace cairn::test {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kLookingTime(1500);
constexpr size_t kChunk = 1 << 16;

// A frame of one chunk, which each checkpoint replaces. The trailer is larger than a page, so that
// a hole takes a part of it away.
class HistoryTest : public testing::Test {
 protected:
  void SetUp() override {
    CreateOptions options;
    options.chunksize = kChunk;
    options.file_system = Unowned(&files_);
    auto writer = Frame::BeginCreate(path_, options);
    ASSERT_TRUE(IsOk(writer));
    ASSERT_TRUE(IsOk(writer->Append(Content(0))));
    ASSERT_TRUE(IsOk(writer->SetVlmetalayer("large", Content(1))));
    ASSERT_TRUE(IsOk(writer->Close()));
  }
  // Does not compress. The first byte is the version.
  static std::vector<std::byte> Content(uint64_t version) {
    std::mt19937_64 random(version);
    std::vector<std::byte> bytes(kChunk);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    bytes[0] = static_cast<std::byte>(version);
    return bytes;
  }
  absl::StatusOr<Frame> Open(std::optional<uint64_t> generation = {}) {
    return Frame::Open(path_, {.generation = generation, .file_system = Unowned(&files_)});
  }
  absl::Status Replace(Writer& writer) {
    CAIRN_RETURN_IF_ERROR(writer.UpdateChunk(0, Content(++version_)));
    return writer.Checkpoint();
  }
  // The oldest state that is listed can be opened and read, or is gone by then.
  absl::Status ReadOldest(const Frame& frame) {
    const auto history = frame.History();
    if (!history.ok()) return Annotate(history.status(), "list");
    const auto oldest = Open(history->front().generation);
    if (absl::IsNotFound(oldest.status())) return absl::OkStatus();
    CAIRN_RETURN_IF_ERROR(oldest.status());
    std::vector<std::byte> content(kChunk);
    CAIRN_RETURN_IF_ERROR(oldest->snapshot().ReadChunk(0, content));
    return content == Content(static_cast<uint64_t>(content[0]))
               ? absl::OkStatus()
               : absl::InternalError("a state that was never committed");
  }

  const TempDir dir_;
  const std::string path_ = dir_.Path("frame");
  UnsyncedFileSystem files_;
  uint64_t version_ = 0;  // up to 255
};

TEST_F(HistoryTest, StaleHandleListsWhatIsLeft) {
  auto frame = Open();
  ASSERT_TRUE(IsOk(frame));
  auto writer = frame->OpenWriter({.keep_generations = UINT64_MAX});
  ASSERT_TRUE(IsOk(writer));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(IsOk(Replace(*writer)));
  const auto stale = Open();
  ASSERT_TRUE(IsOk(stale));
  const uint64_t seen = stale->snapshot().info().generation;
  ASSERT_TRUE(IsOk(Replace(*writer)));
  const auto report = writer->Reclaim({.keep_generations = 1});
  if (absl::IsUnimplemented(report.status())) GTEST_SKIP() << report.status();
  ASSERT_TRUE(report.ok() && !report->blocked) << report.status();
  const auto history = stale->History();
  ASSERT_TRUE(IsOk(history));
  EXPECT_GE(history->front().generation, report->oldest_generation);
  EXPECT_LE(report->oldest_generation, seen);
  EXPECT_TRUE(IsOk(ReadOldest(*stale)));
}

TEST_F(HistoryTest, StatesThatAreGivenUpMeanwhileAreNotFoundAndNeverDamaged) {
  auto frame = Open();
  ASSERT_TRUE(IsOk(frame));
  auto writer = frame->OpenWriter({.keep_generations = UINT64_MAX});
  ASSERT_TRUE(IsOk(writer));
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!done) {
        const auto reader = Open();
        EXPECT_TRUE(IsOk(reader));
        const absl::Status status = reader.ok() ? ReadOldest(*reader) : reader.status();
        EXPECT_TRUE(IsOk(status));
        if (!status.ok()) done = true;
        // Who reads blocks the writer, and shall not do so all the time.
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    });
  }
  int64_t freed = 0;
  for (const auto end = Clock::now() + kLookingTime;
       !done && Clock::now() < end && version_ < 250;) {
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(IsOk(Replace(*writer)));
    const auto report = writer->Reclaim({.keep_generations = 2});
    if (absl::IsUnimplemented(report.status())) break;
    EXPECT_TRUE(IsOk(report));
    freed += report.ok() ? report->freed : 0;
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  RecordProperty("freed", std::to_string(freed));
  // No process is left that could block this one.
  EXPECT_TRUE(IsOk(Replace(*writer)));
  const auto last = writer->Reclaim({.keep_generations = 1});
  if (absl::IsUnimplemented(last.status())) GTEST_SKIP() << last.status();
  ASSERT_TRUE(last.ok() && !last->blocked) << last.status();
  EXPECT_GT(freed + last->freed, 0);
}

}  // namespace
}  // namespace cairn::test
