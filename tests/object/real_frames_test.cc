// Frames in a real store: tools/test-object-store.sh starts one.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "tests/object/stores.h"
#include "tests/support/bytes.h"
#include "tests/support/dice.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"

namespace cairn::test {
namespace {

constexpr int kMachines = 8;
constexpr int kCommitsOfEach = 200;

class RealS3FramesTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::optional<S3Options> options = RealS3Options();
    if (!options.has_value()) GTEST_SKIP() << "CAIRN_TEST_S3_BUCKET names no bucket";
    options_ = *options;
  }
  // Each has connections of its own, as if it was another machine.
  std::shared_ptr<FileSystem> Machine() const {
    return MakeObjectFileSystem(OpenS3(options_).value());
  }
  void Make(int32_t typesize) {
    const std::shared_ptr<FileSystem> files = Machine();
    CreateOptions options = Cut(typesize, 64);
    options.file_system = files.get();
    ASSERT_TRUE(IsOk(Frame::Create(name_, options)));
  }

  S3Options options_;
  const std::string name_ = FreshName("frame");
};

// A number that says which commit of which writer it belongs to.
uint32_t MarkOf(int writer, int commit) { return static_cast<uint32_t>(writer * 1000 + commit); }

// Appends its marks, one a commit, and reads whole commits meanwhile.
void WriteMarks(const std::shared_ptr<FileSystem>& files, const std::string& name, int writer) {
  auto frame = Frame::Open(name, {.file_system = files.get()});
  ASSERT_TRUE(IsOk(frame));
  auto out = frame->OpenWriter();
  ASSERT_TRUE(IsOk(out));
  for (int commit = 0; commit < kCommitsOfEach; ++commit) {
    // Two items, so that half a commit would show.
    const std::array<uint32_t, 2> marks = {MarkOf(writer, commit), MarkOf(writer, commit)};
    ASSERT_TRUE(IsOk(out->Append(marks)));
    ASSERT_TRUE(IsOk(out->Commit()));
    if (commit % 50 == 0) {
      ASSERT_TRUE(IsOk(frame->Refresh()));
      EXPECT_EQ(frame->snapshot().info().nbytes % 8, 0);
    }
  }
}

// Every mark is there once, those of a writer in their order.
void ExpectAllMarks(const Snapshot& snapshot) {
  std::vector<uint32_t> marks(static_cast<size_t>(snapshot.info().nbytes / 4));
  ASSERT_TRUE(IsOk(snapshot.ReadItems(0, marks)));
  ASSERT_EQ(marks.size(), size_t{2} * kMachines * kCommitsOfEach);
  std::array<int, kMachines> next{};
  for (size_t i = 0; i < marks.size(); i += 2) {
    ASSERT_EQ(marks[i], marks[i + 1]);
    const size_t writer = marks[i] / 1000;
    ASSERT_LT(writer, next.size());
    EXPECT_EQ(marks[i], MarkOf(static_cast<int>(writer), next[writer]++));
  }
}

TEST_F(RealS3FramesTest, EightWritersLoseNoneOf1600Commits) {
  Make(4);
  std::vector<std::thread> writers;
  for (int w = 0; w < kMachines; ++w) {
    writers.emplace_back([this, w] { WriteMarks(Machine(), name_, w); });
  }
  for (std::thread& writer : writers) writer.join();
  const std::shared_ptr<FileSystem> files = Machine();
  const auto frame = Frame::Open(name_, {.file_system = files.get()});
  ASSERT_TRUE(IsOk(frame));
  ExpectAllMarks(frame->snapshot());
}

// What CAIRN_TEST_S3_RESTART and the like name, now and then.
void Disturb(const char* variable, const std::atomic<bool>& done) {
  const char* const command = std::getenv(variable);
  if (command == nullptr) return;
  for (int i = 0; i < 3 && !done; ++i) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    EXPECT_EQ(std::system((std::string(command) + " >&2").c_str()), 0);
  }
}

class RealS3RestartTest : public RealS3FramesTest,
                          public testing::WithParamInterface<const char*> {};

TEST_P(RealS3RestartTest, WritersLoseNothingWhileItIsKilled) {
  if (std::getenv(GetParam()) == nullptr) GTEST_SKIP() << GetParam() << " names no command";
  Make(4);
  std::atomic<bool> done = false;
  std::thread disturber([&] { Disturb(GetParam(), done); });
  std::vector<std::thread> writers;
  for (int w = 0; w < kMachines; ++w) {
    writers.emplace_back([this, w] { WriteMarks(Machine(), name_, w); });
  }
  for (std::thread& writer : writers) writer.join();
  done = true;
  disturber.join();
  const std::shared_ptr<FileSystem> files = Machine();
  const auto frame = Frame::Open(name_, {.file_system = files.get()});
  ASSERT_TRUE(IsOk(frame));
  ExpectAllMarks(frame->snapshot());
  const auto report = frame->snapshot().Verify();
  ASSERT_TRUE(IsOk(report));
  EXPECT_TRUE(report->findings.empty());
}

INSTANTIATE_TEST_SUITE_P(GatewayAndOsd, RealS3RestartTest,
                         testing::Values("CAIRN_TEST_S3_RESTART", "CAIRN_TEST_S3_RESTART_OSD"));

}  // namespace
}  // namespace cairn::test
