// Frames in a real store: tools/test-object-store.sh starts one.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "tests/object/mark_writers.h"
#include "tests/object/stores.h"
#include "tests/support/bytes.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"

namespace cairn::test {
namespace {

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
    options.file_system = files;
    ASSERT_TRUE(IsOk(Frame::Create(name_, options)));
  }

  S3Options options_;
  const std::string name_ = FreshName("frame");
};

TEST_F(RealS3FramesTest, EightWritersLoseNoneOf1600Commits) {
  Make(4);
  WriteAllMarks(name_, [this] { return Machine(); });
  ExpectAllMarks(name_, Machine());
}

// Runs the command of a variable such as CAIRN_TEST_S3_RESTART from time to time.
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
  WriteAllMarks(name_, [this] { return Machine(); });
  done = true;
  disturber.join();
  ExpectAllMarks(name_, Machine());
}

INSTANTIATE_TEST_SUITE_P(GatewayAndOsd, RealS3RestartTest,
                         testing::Values("CAIRN_TEST_S3_RESTART", "CAIRN_TEST_S3_RESTART_OSD"));

}  // namespace
}  // namespace cairn::test
