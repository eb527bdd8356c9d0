// Tests what every object store must do, with each store that there is.
#include <algorithm>
#include <atomic>
#include <functional>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include <gtest/gtest.h>

#include "cairn/object_store.h"
#include "tests/object/stores.h"
#include "tests/support/fault_object_store.h"
#include "tests/support/status.h"

namespace cairn::test {
namespace {

using StatusCode = absl::StatusCode;

struct StoreKind {
  const char* name;
  // The store keeps alive what it needs.
  std::function<std::shared_ptr<ObjectStore>()> open;
};

std::shared_ptr<ObjectStore> OpenServed(FakeS3Options options) {
  const auto served = std::make_shared<ServedS3>(options);
  return {served, served->store.get()};
}

std::vector<StoreKind> Kinds() {
  std::vector<StoreKind> kinds = {
      {"Memory", [] { return MakeMemoryObjectStore(); }},
      {"FaultlessFaults",
       [] { return std::make_shared<FaultObjectStore>(MakeMemoryObjectStore(), 1); }},
      {"ServedS3", [] { return OpenServed({}); }},
      {"ServedS3WithBareEtags", [] { return OpenServed({.wants_bare_etags = true}); }},
      {"ServedS3WithQuotedEtags", [] { return OpenServed({.ignores_bare_etags = true}); }}};
  if (RealS3Options().has_value()) {
    kinds.push_back({"RealS3", [] { return OpenS3(*RealS3Options()).value(); }});
  }
  return kinds;
}

class ConformanceTest : public testing::TestWithParam<StoreKind> {
 protected:
  std::string Put(const std::string& content) {
    const std::string name = FreshName("object");
    EXPECT_TRUE(IsOk(store_->PutIfAbsent(name, BytesOf(content))));
    return name;
  }
  std::string Read(const std::string& name, ObjectRange range = {}) {
    const absl::StatusOr<ObjectPart> part = store_->Get(name, range);
    return part.ok() ? TextOf(part->bytes) : part.status().ToString();
  }

  const std::shared_ptr<ObjectStore> store_ = GetParam().open();
};

INSTANTIATE_TEST_SUITE_P(Stores, ConformanceTest, testing::ValuesIn(Kinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(ConformanceTest, ReadsWhatWasPut) {
  const std::string name = FreshName("object");
  const absl::StatusOr<ObjectInfo> made = store_->PutIfAbsent(name, BytesOf("0123456789"));
  ASSERT_TRUE(IsOk(made));
  EXPECT_EQ(made->name, name);
  EXPECT_EQ(made->size, 10);
  const absl::StatusOr<ObjectPart> part = store_->Get(name);
  ASSERT_TRUE(IsOk(part));
  EXPECT_EQ(TextOf(part->bytes), "0123456789");
  EXPECT_EQ(part->object.size, 10);
  EXPECT_EQ(part->object.etag, made->etag);
}

TEST_P(ConformanceTest, RangesGiveTheBytesThereAre) {
  const std::string name = Put("0123456789");
  EXPECT_EQ(Read(name, {.offset = 2, .size = 3}), "234");
  EXPECT_EQ(Read(name, {.offset = 8, .size = 30}), "89");
  EXPECT_EQ(Read(name, {.offset = 7}), "789");
  EXPECT_EQ(Read(name, {.offset = -4, .size = 4}), "6789");
  EXPECT_EQ(Read(name, {.offset = -40, .size = 40}), "0123456789");
  EXPECT_EQ(Read(name, {.offset = 10, .size = 5}), "");
  EXPECT_EQ(Read(name, {.offset = 100, .size = 5}), "");
  EXPECT_EQ(Read(name, {.offset = 3, .size = 0}), "");
}

TEST_P(ConformanceTest, RangesSayHowLongTheObjectIs) {
  const std::string name = Put("0123456789");
  for (const ObjectRange range : {ObjectRange{2, 3}, ObjectRange{-4, 4}, ObjectRange{50, 1}}) {
    const absl::StatusOr<ObjectPart> part = store_->Get(name, range);
    ASSERT_TRUE(IsOk(part));
    EXPECT_EQ(part->object.size, 10);
    EXPECT_FALSE(part->object.etag.empty());
  }
}

TEST_P(ConformanceTest, EmptyObjectsAreObjects) {
  const std::string name = Put("");
  EXPECT_EQ(Read(name), "");
  EXPECT_EQ(Read(name, {.offset = -9, .size = 9}), "");
  ASSERT_TRUE(IsOk(store_->Head(name)));
  EXPECT_EQ(store_->Head(name)->size, 0);
}

TEST_P(ConformanceTest, WhatIsNotThereIsNotFound) {
  EXPECT_TRUE(Fails(store_->Get("none").status(), StatusCode::kNotFound, "none"));
  EXPECT_TRUE(Fails(store_->Head("none").status(), StatusCode::kNotFound, "none"));
}

TEST_P(ConformanceTest, RefusesTheSecondPut) {
  const std::string name = Put("first");
  EXPECT_TRUE(Fails(store_->PutIfAbsent(name, BytesOf("second")).status(),
                    StatusCode::kFailedPrecondition, name));
  EXPECT_EQ(Read(name), "first");
}

TEST_P(ConformanceTest, OnlyTheRightEtagIsReplaced) {
  ASSERT_TRUE(IsOk(store_->CheckConditions(FreshName("scratch"))));
  const std::string name = Put("first");
  const std::string etag = store_->Head(name)->etag;
  const absl::StatusOr<ObjectInfo> second = store_->PutIfMatch(name, etag, BytesOf("second"));
  ASSERT_TRUE(IsOk(second));
  EXPECT_NE(second->etag, etag);
  EXPECT_TRUE(Fails(store_->PutIfMatch(name, etag, BytesOf("third")).status(),
                    StatusCode::kFailedPrecondition, name));
  EXPECT_EQ(Read(name), "second");
  EXPECT_TRUE(IsOk(store_->PutIfMatch(name, second->etag, BytesOf("fourth"))));
}

TEST_P(ConformanceTest, WhatIsNotThereIsNotReplaced) {
  const std::string name = FreshName("none");
  const std::string etag(32, '1');
  EXPECT_TRUE(Fails(store_->PutIfMatch(name, etag, BytesOf("text")).status(),
                    StatusCode::kFailedPrecondition, name));
  EXPECT_TRUE(absl::IsNotFound(store_->Head(name).status()));
}

TEST_P(ConformanceTest, GetsMayWantOneEtag) {
  const std::string name = Put("0123456789");
  const std::string etag = store_->Head(name)->etag;
  EXPECT_TRUE(IsOk(store_->Get(name, {0, 4}, etag)));
  EXPECT_TRUE(Fails(store_->Get(name, {0, 4}, std::string(32, '1')).status(),
                    StatusCode::kFailedPrecondition, name));
}

TEST_P(ConformanceTest, ListingsAreInOrderAndGoOn) {
  const std::string folder = FreshName("folder");
  for (const char* const name : {"/b", "/a/2", "/a/10", "/c", "/a b+c", "/ä&<>\"'%"}) {
    ASSERT_TRUE(IsOk(store_->PutIfAbsent(folder + name, BytesOf(name))));
  }
  std::vector<std::string> names;
  absl::StatusOr<ObjectListing> listing = ObjectListing{.objects = {}, .more = true};
  for (std::string after; listing->more; after = names.back()) {
    listing = store_->List(folder + "/", after, 2);
    ASSERT_TRUE(IsOk(listing));
    ASSERT_LE(listing->objects.size(), 2);
    ASSERT_FALSE(listing->objects.empty());
    EXPECT_GT(listing->now, 0);
    for (const ObjectInfo& object : listing->objects) names.push_back(object.name);
  }
  EXPECT_TRUE(std::ranges::is_sorted(names));
  EXPECT_EQ(names.size(), 6);
  EXPECT_EQ(store_->List(folder + "/a/", folder + "/a/10", 10)->objects.size(), 1);
  EXPECT_EQ(store_->List(folder + "/b", "", 10)->objects[0].size, 2);
  EXPECT_TRUE(store_->List(folder + "/none", "", 10)->objects.empty());
}

TEST_P(ConformanceTest, NamesMayHoldWhatUrlsMayNot) {
  for (const std::string text :
       {"a b", "a+b", "a=b,c@d", "a%20b", "a?b#c", "é", "a//b", "a/../b"}) {
    const std::string name = FreshName(text);
    ASSERT_TRUE(IsOk(store_->PutIfAbsent(name, BytesOf(text)))) << text;
    EXPECT_EQ(Read(name), text);
    EXPECT_EQ(store_->List(name, "", 1)->objects.size(), 1) << text;
    EXPECT_TRUE(IsOk(store_->Delete({&name, 1}))) << text;
  }
}

TEST_P(ConformanceTest, DeletingIsDoneOnceAndTwice) {
  std::vector<std::string> names = {Put("1"), Put("2"), Put("3"), FreshName("none")};
  EXPECT_TRUE(IsOk(store_->Delete(names)));
  for (const std::string& name : names) EXPECT_TRUE(absl::IsNotFound(store_->Head(name).status()));
  EXPECT_TRUE(IsOk(store_->Delete(names)));
  EXPECT_TRUE(IsOk(store_->Delete(std::span(names).first(1))));
  EXPECT_TRUE(IsOk(store_->Delete({})));
}

TEST_P(ConformanceTest, ManyAreDeletedAtOnce) {
  const std::string folder = FreshName("many");
  std::vector<std::string> names;
  for (int i = 0; i < 1100; ++i) names.push_back(absl::StrFormat("%s/%04d", folder, i));
  std::latch put(1100);
  for (const std::string& name : names) {
    store_->StartPutIfAbsent(name, BytesOf(name), [&](absl::StatusOr<ObjectInfo> made) {
      EXPECT_TRUE(IsOk(made));
      put.count_down();
    });
  }
  put.wait();
  EXPECT_EQ(store_->List(folder, "", 2000)->more,
            store_->List(folder, "", 2000)->objects.size() < 1100);
  EXPECT_TRUE(IsOk(store_->Delete(names)));
  EXPECT_TRUE(store_->List(folder, "", 10)->objects.empty());
}

TEST_P(ConformanceTest, LargeObjectsComeBackWhole) {
  std::string content(9'000'001, 'x');
  for (size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * i >> 7);
  const std::string name = Put(content);
  EXPECT_EQ(Read(name), content);
  EXPECT_EQ(Read(name, {.offset = 8'000'000, .size = 5}), content.substr(8'000'000, 5));
}

TEST_P(ConformanceTest, OfManyPutsOfOneNameOneIsDone) {
  constexpr int kWriters = 4;
  for (int round = 0; round < 25; ++round) {
    const std::string name = FreshName("race");
    std::vector<std::string> contents;
    for (int i = 0; i < kWriters; ++i) contents.push_back(absl::StrCat("writer ", i));
    std::atomic<int> winner = -1;
    std::latch answers(kWriters);
    for (int i = 0; i < kWriters; ++i) {
      store_->StartPutIfAbsent(name, BytesOf(contents[i]), [&, i](absl::StatusOr<ObjectInfo> made) {
        if (made.ok()) {
          EXPECT_EQ(winner.exchange(i), -1);
        } else {
          EXPECT_TRUE(Fails(made.status(), StatusCode::kFailedPrecondition, name));
        }
        answers.count_down();
      });
    }
    answers.wait();
    ASSERT_GE(winner, 0);
    EXPECT_EQ(Read(name), contents[winner]);
  }
}

// Each writer adds its words to one object. Where it is not known whether a word was added, the
// object shows it: what was put under the condition that failed since can never be done any more.
TEST_P(ConformanceTest, NoWordIsLostAndNoneIsThereTwice) {
  constexpr int kWriters = 3;
  constexpr int kWords = 10;
  ASSERT_TRUE(IsOk(store_->CheckConditions(FreshName("scratch"))));
  const std::string name = Put(";");
  std::vector<std::thread> threads;
  for (int writer = 0; writer < kWriters; ++writer) {
    threads.emplace_back([&, writer] {
      for (int done = 0; done < kWords;) {
        const std::string word = absl::StrFormat(";%d-%d;", writer, done);
        const absl::StatusOr<ObjectPart> part = store_->Get(name);
        ASSERT_TRUE(IsOk(part));
        const std::string text = TextOf(part->bytes);
        if (text.find(word) != std::string::npos) {
          ++done;
          continue;
        }
        const std::string next = text + word;
        const auto put = store_->PutIfMatch(name, part->object.etag, BytesOf(next));
        if (put.ok()) {
          ++done;
        } else {
          ASSERT_TRUE(absl::IsFailedPrecondition(put.status()) ||
                      absl::IsDeadlineExceeded(put.status()))
              << put.status();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string text = Read(name);
  EXPECT_EQ(std::ranges::count(text, '-'), kWriters * kWords);
  for (int writer = 0; writer < kWriters; ++writer) {
    for (int word = 0; word < kWords; ++word) {
      EXPECT_NE(text.find(absl::StrFormat(";%d-%d;", writer, word)), std::string::npos);
    }
  }
}

TEST_P(ConformanceTest, ProbingLeavesNothing) {
  const std::string name = FreshName("scratch");
  EXPECT_TRUE(IsOk(store_->CheckConditions(name)));
  EXPECT_TRUE(IsOk(store_->CheckConditions(name)));
  EXPECT_TRUE(store_->List(name, "", 10)->objects.empty());
}

TEST_P(ConformanceTest, RequestsAreCounted) {
  const std::string name = Put("0123456789");
  const ObjectStoreStats before = store_->stats();
  EXPECT_EQ(Read(name, {2, 3}), "234");
  EXPECT_TRUE(IsOk(store_->Head(name)));
  EXPECT_TRUE(IsOk(store_->PutIfAbsent(name + "b", BytesOf("0123"))));
  EXPECT_TRUE(IsOk(store_->List(name, "", 10)));
  EXPECT_TRUE(IsOk(store_->Delete({&name, 1})));
  const ObjectStoreStats after = store_->stats();
  EXPECT_EQ(after.gets - before.gets, 1);
  EXPECT_EQ(after.heads - before.heads, 1);
  EXPECT_EQ(after.puts - before.puts, 1);
  EXPECT_EQ(after.lists - before.lists, 1);
  EXPECT_EQ(after.deletes - before.deletes, 1);
  EXPECT_EQ(after.bytes_read - before.bytes_read, 3);
  EXPECT_EQ(after.bytes_written - before.bytes_written, 4);
}

TEST_P(ConformanceTest, NothingGoesOnAfterCancel) {
  const std::string name = Put("text");
  store_->Cancel();
  EXPECT_TRUE(absl::IsCancelled(store_->Get(name).status()));
  EXPECT_TRUE(absl::IsCancelled(store_->PutIfAbsent(name, BytesOf("text")).status()));
  EXPECT_TRUE(absl::IsCancelled(store_->List(name, "", 1).status()));
}

}  // namespace
}  // namespace cairn::test
