// Frames in a real store, on the far side of a bad network: tools/test-object-store.sh starts one.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "tests/object/mark_writers.h"
#include "tests/object/stores.h"
#include "tests/object/tcp_proxy.h"
#include "tests/support/fault_object_store.h"
#include "tests/support/files.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"

namespace cairn::test {
namespace {

class RealS3FaultsTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::optional<S3Options> options = RealS3Options();
    if (!options.has_value()) GTEST_SKIP() << "CAIRN_TEST_S3_BUCKET names no bucket";
    options_ = *options;
  }
  std::shared_ptr<ObjectStore> Store() const { return OpenS3(options_).value(); }
  std::shared_ptr<FileSystem> Machine() const { return MakeObjectFileSystem(Store()); }
  void Make() const {
    const std::shared_ptr<FileSystem> files = Machine();
    CreateOptions options = Cut(4, 64);
    options.file_system = files;
    ASSERT_TRUE(IsOk(Frame::Create(name_, options)));
  }
  // Eight machines write through the proxy.
  void WriteThrough(const ProxyOptions& options) {
    Make();
    const TcpProxy proxy(PortOf(options_.endpoint), options, 7);
    S3Options through = options_;
    through.endpoint = proxy.url();
    through.transport.first_pause = std::chrono::milliseconds(2);
    through.transport.longest_pause = std::chrono::milliseconds(50);
    WriteAllMarks(name_, [&] { return MakeObjectFileSystem(OpenS3(through).value()); });
    ExpectAllMarks(name_, Machine());
    EXPECT_GT(proxy.cuts(), 100);
    std::printf("%d of %d requests met a fault\n", static_cast<int>(proxy.cuts()),
                static_cast<int>(proxy.requests()));
  }

  S3Options options_;
  const std::string name_ = FreshName("faults");
};

TEST_F(RealS3FaultsTest, EightWritersLoseNoCommitOverCutConnections) {
  WriteThrough({.cut_in_request = 3, .cut_before_answer = 3, .cut_in_answer = 3});
}

TEST_F(RealS3FaultsTest, EightWritersLoseNoCommitWhereAnswersAreWrong) {
  WriteThrough({.cut_before_answer = 2,
                .answer_503 = 3,
                .answer_500 = 3,
                .answer_412 = 3,
                .denied = "/journal/"});
}

// Requests are lost, come late or twice, and the client gives up at once.
TEST_F(RealS3FaultsTest, EightWritersLoseNoCommitWhereOutcomesAreUnknown) {
  Make();
  std::mutex mutex;
  std::vector<std::shared_ptr<FaultObjectStore>> stores;
  WriteAllMarks(name_, [&] {
    const std::lock_guard lock(mutex);
    stores.push_back(std::make_shared<FaultObjectStore>(Store(), stores.size()));
    stores.back()->SetChances(
        {.unavailable = 2, .lost = 2, .answer_lost = 2, .delayed = 2, .repeated = 2, .refused = 2});
    return MakeObjectFileSystem(stores.back());
  });
  int64_t faults = 0;
  for (const auto& store : stores) {
    store->LandAll();
    faults += store->faults();
  }
  EXPECT_GT(faults, 100);
  ExpectAllMarks(name_, Machine());
}

// Other Blosc2s have written these frames.
TEST_F(RealS3FaultsTest, GoldenFramesAreReadAsInADirectory) {
  const std::shared_ptr<ObjectStore> store = Store();
  const std::shared_ptr<FileSystem> files = MakeObjectFileSystem(store);
  int frames = 0;
  for (const std::string kind : {"cframes", "sframes", "packed"}) {
    const std::string folder = std::string(CAIRN_VECTOR_FOLDER) + "/" + kind;
    for (const std::string& file : NamesIn(folder)) {
      SCOPED_TRACE(file);
      const std::string path = folder + "/" + file;
      const auto here = Frame::Open(path);
      if (!here.ok() || here->snapshot().info().nbytes > 16 << 20) continue;
      const std::string name = name_ + "/" + file;
      const bool is_directory = std::filesystem::is_directory(path);
      for (const std::string& part : is_directory ? NamesIn(path) : std::vector<std::string>{""}) {
        const std::string below = is_directory ? "/" + part : "";
        ASSERT_TRUE(IsOk(store->PutIfAbsent(name + below, FileBytes(path + below))));
      }
      const auto there = Frame::Open(name, {.file_system = files});
      ASSERT_TRUE(IsOk(there));
      EXPECT_EQ(there->snapshot().info().nchunks, here->snapshot().info().nchunks);
      EXPECT_EQ(ContentOf(there->snapshot()), ContentOf(here->snapshot()));
      EXPECT_EQ(there->snapshot().vlmetalayers(), here->snapshot().vlmetalayers());
      const auto report = there->snapshot().Verify();
      ASSERT_TRUE(IsOk(report));
      EXPECT_EQ(report->findings.size(), here->snapshot().Verify()->findings.size());
      ++frames;
    }
  }
  EXPECT_GT(frames, 80);
}

}  // namespace
}  // namespace cairn::test
