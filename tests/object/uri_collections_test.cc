// Collections whose paths are URIs, in a server of this program and in a real store.
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/collection.h"
#include "tests/collection/ints.h"
#include "tests/object/stores.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

// Each call is as from another machine.
CollectionOptions FromAnywhere(const S3Options& options) {
  CollectionOptions opening;
  opening.members.file_system = MakeUriFileSystem(options);
  return opening;
}

CreateOptions NumberedDays() {
  CreateOptions days;
  days.compression.typesize = 4;
  days.array = {.shape = {0}, .chunkshape = {100}, .dtype = "<i4"};
  return days;
}

Ints Days(int32_t count) {
  Ints days;
  for (int32_t day = 0; day < count; ++day) days.push_back(day);
  return days;
}

// Makes a collection, reads it, and copies it to a directory and back.
void MakeAndCopy(const S3Options& options, const std::string& uri) {
  auto made = Collection::Create(uri, FromAnywhere(options));
  ASSERT_TRUE(IsOk(made));
  auto writer = made->OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  for (const char* const name : {"/day/temp", "/rain"}) {
    auto member = writer->Add(name, NumberedDays());
    ASSERT_TRUE(IsOk(member));
    ASSERT_TRUE(IsOk(member->AppendSlices(0, Days(250))));
  }
  ASSERT_TRUE(IsOk(writer->Commit()));
  ASSERT_TRUE(IsOk(writer->Edit("/rain")->AppendSlices(0, Ints{250, 251})));
  ASSERT_TRUE(IsOk(writer->Commit()));
  const TempDir folder;
  const std::vector<std::string> places = {folder.Path("copy.b2d"), uri + ".copy",
                                           folder.Path("copy.b2z")};
  std::string from = uri;
  for (const std::string& to : places) {
    SCOPED_TRACE(to);
    const auto source = Collection::Open(from, FromAnywhere(options));
    ASSERT_TRUE(IsOk(source));
    ASSERT_TRUE(IsOk(source->snapshot().CopyTo(to)));
    EXPECT_TRUE(Fails(source->snapshot().CopyTo(to), absl::StatusCode::kAlreadyExists, ""));
    const auto copy = Collection::Open(to, FromAnywhere(options));
    ASSERT_TRUE(IsOk(copy));
    EXPECT_EQ(copy->snapshot().Members(), (std::vector<std::string>{"/day/temp", "/rain"}));
    EXPECT_EQ(IntsOf(copy->snapshot(), "/day/temp"), Days(250));
    EXPECT_EQ(IntsOf(copy->snapshot(), "/rain"), Days(252));
    const auto report = copy->snapshot().Verify();
    ASSERT_TRUE(IsOk(report));
    EXPECT_TRUE(report->findings.empty());
    from = to;
  }
  auto copied = Collection::Open(uri + ".copy", FromAnywhere(options));
  ASSERT_TRUE(IsOk(copied));
  auto next = copied->OpenWriter();
  ASSERT_TRUE(IsOk(next));
  ASSERT_TRUE(IsOk(next->Edit("/rain")->AppendSlices(0, Ints{252})));
  ASSERT_TRUE(IsOk(next->Commit()));
  EXPECT_EQ(IntsOf(*copied->Refresh(), "/rain"), Days(253));
  EXPECT_TRUE(Fails(Collection::Recover(uri, FromAnywhere(options)),
                    absl::StatusCode::kUnimplemented, "not recovered"));
}

TEST(UriCollectionsTest, ACollectionIsMadeReadAndCopied) {
  ServedS3 s3;
  MakeAndCopy(TestS3Options(s3.server.url()), "s3://test/weather");
}

class RealS3CollectionsTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::optional<S3Options> options = RealS3Options();
    if (!options.has_value()) GTEST_SKIP() << "CAIRN_TEST_S3_BUCKET names no bucket";
    options_ = *options;
    uri_ = "s3://" + options_.bucket + "/" + FreshName("collection");
  }

  S3Options options_;
  std::string uri_;
};

TEST_F(RealS3CollectionsTest, ACollectionIsMadeReadAndCopied) { MakeAndCopy(options_, uri_); }

TEST_F(RealS3CollectionsTest, ACommitOfTenMembersIsElevenRequests) {
  const CollectionOptions options = FromAnywhere(options_);
  auto made = Collection::Create(uri_, options);
  ASSERT_TRUE(IsOk(made));
  auto writer = made->OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  const auto name_of = [](int i) { return "/m" + std::to_string(i); };
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(IsOk(writer->Add(name_of(i), NumberedDays())));
  ASSERT_TRUE(IsOk(writer->Commit()));
  const auto store = options.members.file_system->ObjectsIn(uri_).store;
  for (int commit = 0; commit < 3; ++commit) {
    const int64_t before = store->stats().requests();
    for (int i = 0; i < 10; ++i) {
      ASSERT_TRUE(IsOk(writer->Edit(name_of(i))->AppendSlices(0, Days(100))));
    }
    ASSERT_TRUE(IsOk(writer->Commit()));
    EXPECT_EQ(store->stats().requests() - before, 10 + 1);
  }
}

TEST_F(RealS3CollectionsTest, FourWritersLoseNothingAndReadersSeeNoHalf) {
  constexpr int kWriters = 4;
  constexpr int32_t kCommits = 50;
  ASSERT_TRUE(IsOk(Collection::Create(uri_, FromAnywhere(options_))));
  {
    auto writer = Collection::Open(uri_, FromAnywhere(options_))->OpenWriter();
    ASSERT_TRUE(IsOk(writer->Add("/all", NumberedDays())));
    for (int i = 0; i < kWriters; ++i) {
      ASSERT_TRUE(IsOk(writer->Add("/own" + std::to_string(i), NumberedDays())));
    }
    ASSERT_TRUE(IsOk(writer->Commit()));
  }
  std::vector<std::thread> threads;
  std::atomic<bool> running = true;
  for (int i = 0; i < kWriters; ++i) {
    threads.emplace_back([this, i] {
      auto writer = Collection::Open(uri_, FromAnywhere(options_))->OpenWriter();
      ASSERT_TRUE(IsOk(writer));
      const std::string own = "/own" + std::to_string(i);
      for (int32_t n = 0; n < kCommits; ++n) {
        ASSERT_TRUE(IsOk(writer->Edit("/all")->AppendSlices(0, Ints{n})));
        ASSERT_TRUE(IsOk(writer->Edit(own)->AppendSlices(0, Ints{n})));
        ASSERT_TRUE(IsOk(writer->Commit()));
      }
    });
  }
  std::thread reader([&] {
    auto collection = Collection::Open(uri_, FromAnywhere(options_));
    while (running) {
      const auto now = collection->Refresh();
      ASSERT_TRUE(IsOk(now));
      size_t own = 0;
      for (int i = 0; i < kWriters; ++i) own += IntsOf(*now, "/own" + std::to_string(i)).size();
      ASSERT_EQ(IntsOf(*now, "/all").size(), own);
    }
  });
  for (std::thread& thread : threads) thread.join();
  running = false;
  reader.join();
  const auto collection = Collection::Open(uri_, FromAnywhere(options_));
  ASSERT_TRUE(IsOk(collection));
  for (int i = 0; i < kWriters; ++i) {
    EXPECT_EQ(IntsOf(collection->snapshot(), "/own" + std::to_string(i)), Days(kCommits));
  }
  EXPECT_EQ(IntsOf(collection->snapshot(), "/all").size(), size_t{kWriters * kCommits});
}

}  // namespace
}  // namespace cairn::test
