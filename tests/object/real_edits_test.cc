// Random edits of frames in a real store: tools/test-object-store.sh starts one.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/s3.h"
#include "engine/object/scoped_object_store.h"
#include "tests/object/edit_sequence.h"
#include "tests/object/stores.h"
#include "tests/object/tcp_proxy.h"
#include "tests/support/search.h"
#include "tests/support/status.h"

namespace cairn::test {
namespace {

constexpr int kThreads = 8;
constexpr int kSteps = 8;

void RemoveAll(ObjectStore& store) {
  std::vector<std::string> names;
  const auto listing = store.List("", "", 1000);
  ASSERT_TRUE(IsOk(listing));
  ASSERT_FALSE(listing->more);
  for (const ObjectInfo& object : listing->objects) names.push_back(object.name);
  ASSERT_TRUE(IsOk(store.Delete(names)));
}

class RealS3EditsTest : public testing::TestWithParam<EditedKind> {
 protected:
  void SetUp() override {
    const std::optional<S3Options> options = RealS3Options();
    if (!options.has_value()) GTEST_SKIP() << "CAIRN_TEST_S3_BUCKET names no bucket";
    options_ = *options;
  }
  // Several at the same time, each of a frame of its own.
  static void RunSequences(int64_t sequences, const std::shared_ptr<ObjectStore>& store) {
    std::atomic<int64_t> next = 0;
    std::atomic<int64_t> states = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (int64_t number = next++; number < sequences && !HasFailure(); number = next++) {
          SCOPED_TRACE(testing::Message() << "sequence " << number);
          const auto own =
              std::make_shared<object::ScopedObjectStore>(store, FreshName("edits") + "/");
          const auto seed = static_cast<uint64_t>(number);
          states += RunEditSequence({.kind = GetParam(), .seed = seed, .steps = kSteps}, own);
          RemoveAll(*own);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_GT(states, sequences);
    std::printf("%d sequences, %d states, %d requests\n", static_cast<int>(sequences),
                static_cast<int>(states), static_cast<int>(store->stats().requests()));
  }

  S3Options options_;
};

TEST_P(RealS3EditsTest, AFrameIsWhatWasCommitted) {
  RunSequences(SearchRuns(200), OpenS3(options_).value());
}

// The answer to every third put of a chunk is that of a second one.
TEST_P(RealS3EditsTest, AFrameIsWhatWasCommittedOverCutConnections) {
  const TcpProxy proxy(PortOf(options_.endpoint), {.cut_in_request = 3,
                                                   .cut_before_answer = 3,
                                                   .cut_in_answer = 3,
                                                   .answer_412 = 30,
                                                   .denied = ".chunk"});
  S3Options through = options_;
  through.endpoint = proxy.url();
  through.transport.first_pause = std::chrono::milliseconds(2);
  through.transport.longest_pause = std::chrono::milliseconds(50);
  RunSequences(SearchRuns(20), OpenS3(through).value());
  EXPECT_GT(proxy.cuts(), 0);
}

INSTANTIATE_TEST_SUITE_P(Kinds, RealS3EditsTest, testing::ValuesIn(kEditedKinds),
                         [](const auto& kind) { return NameOf(kind.param); });

}  // namespace
}  // namespace cairn::test
