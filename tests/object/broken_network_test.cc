// Tests what holds when connections break, gateways end and clients race: over a bucket in this
// process, and over the real one if the environment names it.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_format.h"
#include <gtest/gtest.h>

#include "tests/object/stores.h"
#include "tests/object/tcp_proxy.h"
#include "tests/support/search.h"
#include "tests/support/status.h"

namespace cairn::test {
namespace {

using std::chrono::milliseconds;

constexpr int kWriters = 4;

// A bucket, real or not.
class Bucket {
 public:
  Bucket() {
    if (std::optional<S3Options> real = RealS3Options(); real.has_value()) {
      options_ = *std::move(real);
    } else {
      served_ = std::make_unique<ServedS3>();
      options_ = TestS3Options(served_->server.url());
    }
  }
  const S3Options& options() const { return options_; }
  std::shared_ptr<ObjectStore> Open() const { return OpenS3(options_).value(); }
  bool is_real() const { return served_ == nullptr; }
  int port() const { return PortOf(options_.endpoint); }
  std::shared_ptr<ObjectStore> OpenThrough(const TcpProxy& proxy) const {
    S3Options options = options_;
    options.endpoint = proxy.url();
    options.transport.first_pause = milliseconds(2);
    options.transport.longest_pause = milliseconds(50);
    return OpenS3(options).value();
  }

 private:
  std::unique_ptr<ServedS3> served_;
  S3Options options_;
};

// Writers that each put a record of their own under the next free number, until they have put
// `records`. What they are told about each try has to agree with what is there in the end.
class RecordWriters {
 public:
  RecordWriters(std::vector<std::shared_ptr<ObjectStore>> stores, int records)
      : prefix_(FreshName("records")), stores_(std::move(stores)), records_(records) {}

  void Run() {
    std::vector<std::thread> threads;
    for (size_t writer = 0; writer < stores_.size(); ++writer) {
      threads.emplace_back([this, writer] { Write(writer); });
    }
    for (std::thread& thread : threads) thread.join();
  }

  void Check(ObjectStore& store) const {
    const int total = records_ * static_cast<int>(stores_.size());
    for (int number = 0; number < total; ++number) {
      const auto part = store.Get(NameOf(number));
      ASSERT_TRUE(IsOk(part));
      const std::string owner = TextOf(part->bytes);
      ASSERT_TRUE(acknowledged_.contains(number)) << number << " holds " << owner;
      EXPECT_EQ(owner, acknowledged_.at(number)) << number;
    }
    EXPECT_TRUE(absl::IsNotFound(store.Head(NameOf(total)).status()));
  }
  int64_t unknown() const { return unknown_; }

 private:
  std::string NameOf(int number) const { return absl::StrFormat("%s/%06d", prefix_, number); }

  // Returns true if the object is this writer's. If that is not known, the object shows it.
  absl::StatusOr<bool> Put(ObjectStore& store, const std::string& name, const std::string& text) {
    bool unknown = false;
    for (;;) {
      const absl::Status status = store.PutIfAbsent(name, BytesOf(text)).status();
      if (status.ok()) return true;
      if (absl::IsDeadlineExceeded(status) || absl::IsUnavailable(status)) {
        unknown = true;
        ++unknown_;
      } else if (!absl::IsFailedPrecondition(status)) {
        return status;
      } else if (!unknown) {
        return false;
      } else if (const auto part = store.Get(name); part.ok()) {
        return TextOf(part->bytes) == text;
      }
    }
  }

  void Write(size_t writer) {
    int number = 0;
    for (int record = 0; record < records_; ++number) {
      const std::string text = absl::StrFormat("writer %d record %d", writer, record);
      const absl::StatusOr<bool> ours = Put(*stores_[writer], NameOf(number), text);
      ASSERT_TRUE(IsOk(ours));
      if (!*ours) continue;
      const std::lock_guard lock(mutex_);
      EXPECT_TRUE(acknowledged_.emplace(number, text).second) << "two winners of " << number;
      ++record;
    }
  }

  const std::string prefix_;
  const std::vector<std::shared_ptr<ObjectStore>> stores_;
  const int records_;
  std::mutex mutex_;
  std::map<int, std::string> acknowledged_;
  std::atomic<int64_t> unknown_ = 0;
};

TEST(BrokenNetworkTest, EachRaceOfClientsHasOneWinner) {
  const Bucket bucket;
  std::vector<std::shared_ptr<ObjectStore>> clients;
  for (int i = 0; i < kWriters; ++i) clients.push_back(bucket.Open());
  const auto races = static_cast<int>(SearchRuns(1000));
  for (int race = 0; race < races; ++race) {
    const std::string name = FreshName("race");
    std::atomic<int> winners = 0;
    std::atomic<int> losers = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < kWriters; ++i) {
      threads.emplace_back([&, i] {
        const std::string text = absl::StrFormat("client %d", i);
        const auto put = clients[i]->PutIfAbsent(name, BytesOf(text));
        winners += put.ok();
        losers += absl::IsFailedPrecondition(put.status());
      });
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(winners, 1) << race;
    ASSERT_EQ(losers, kWriters - 1) << race;
  }
}

TEST(BrokenNetworkTest, NoRecordIsLostOrThereTwiceOverCutConnections) {
  const Bucket bucket;
  const TcpProxy proxy(bucket.port(),
                       {.cut_in_request = 10, .cut_before_answer = 10, .cut_in_answer = 10}, 5);
  std::vector<std::shared_ptr<ObjectStore>> clients;
  for (int i = 0; i < kWriters; ++i) clients.push_back(bucket.OpenThrough(proxy));
  RecordWriters writers(clients, 50);
  writers.Run();
  writers.Check(*bucket.Open());
  EXPECT_GT(proxy.cuts(), 30);
  RecordProperty("cuts", static_cast<int>(proxy.cuts()));
}

TEST(BrokenNetworkTest, ReadsAreWholeOverCutConnections) {
  const Bucket bucket;
  const TcpProxy proxy(bucket.port(), {.cut_in_request = 10, .cut_in_answer = 20}, 6);
  const auto store = bucket.OpenThrough(proxy);
  std::string content(300'000, 'x');
  for (size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * i >> 7);
  const std::string name = FreshName("large");
  ASSERT_TRUE(IsOk(bucket.Open()->PutIfAbsent(name, BytesOf(content))));
  for (int64_t i = 0; i < 60; ++i) {
    const auto part = store->Get(name, {.offset = i * 1000, .size = 200'000});
    ASSERT_TRUE(IsOk(part));
    EXPECT_EQ(TextOf(part->bytes), content.substr(static_cast<size_t>(i) * 1000, 200'000));
  }
}

TEST(BrokenNetworkTest, ManyGetsAreOnTheirWayAtTheSameTime) {
  const Bucket bucket;
  const TcpProxy proxy(bucket.port(), {.hold_until = 64});
  std::latch answers(64);  // outlives the thread that counts them
  const auto store = bucket.OpenThrough(proxy);
  const std::string name = FreshName("object");
  ASSERT_TRUE(IsOk(bucket.Open()->PutIfAbsent(name, BytesOf("0123456789"))));
  for (int i = 0; i < 64; ++i) {
    store->StartGet(name, {i % 10, 1}, std::nullopt, [&](const absl::StatusOr<ObjectPart>& part) {
      EXPECT_TRUE(IsOk(part));
      answers.count_down();
    });
  }
  answers.wait();
  EXPECT_EQ(proxy.most_held(), 64);
}

// The commands of these variables kill a part of the real store and start it again.
class RestartTest : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(BrokenNetworkTest, RestartTest,
                         testing::Values("CAIRN_TEST_S3_RESTART", "CAIRN_TEST_S3_RESTART_OSD"));

TEST_P(RestartTest, NoRecordIsLostOrThereTwice) {
  const char* const restart = std::getenv(GetParam());
  if (restart == nullptr) GTEST_SKIP() << GetParam() << " names no command";
  const Bucket bucket;
  std::vector<std::shared_ptr<ObjectStore>> clients;
  for (int i = 0; i < kWriters; ++i) clients.push_back(bucket.Open());
  RecordWriters writers(clients, 200);
  std::thread writing([&] { writers.Run(); });
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(milliseconds(300));
    EXPECT_EQ(std::system(restart), 0);
  }
  writing.join();
  writers.Check(*bucket.Open());
  int64_t retries = 0;
  for (const auto& client : clients) retries += client->stats().retries;
  std::printf("%s: %d retries, %d unknown\n", GetParam(), static_cast<int>(retries),
              static_cast<int>(writers.unknown()));
}

// Not a test of speed: it prints what docs/object-stores.md says.
TEST(BrokenNetworkTest, LatenciesAreMeasured) {
  const Bucket bucket;
  const auto store = bucket.Open();
  for (const size_t size : {size_t{4} << 10, size_t{1} << 20}) {
    std::vector<double> puts;
    std::vector<double> gets;
    const std::string content(size, 'x');
    const auto timed = [](auto&& act) {
      const auto begin = std::chrono::steady_clock::now();
      EXPECT_TRUE(IsOk(act()));
      return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
          .count();
    };
    for (int i = 0; i < 50; ++i) {
      const std::string name = FreshName("timed");
      puts.push_back(timed([&] { return store->PutIfAbsent(name, BytesOf(content)); }));
      gets.push_back(timed([&] { return store->Get(name); }));
    }
    std::ranges::sort(puts);
    std::ranges::sort(gets);
    std::printf("%d KiB: put %.1f ms, get %.1f ms (medians)\n", static_cast<int>(size >> 10),
                puts[25], gets[25]);
  }
}

}  // namespace
}  // namespace cairn::test
