// Copies of collections into an object store, next to other copies and after copies that died.
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>

#include <gtest/gtest.h>

#include "cairn/collection.h"
#include "tests/collection/objects/dying_store.h"
#include "tests/collection/objects/object_collection.h"

namespace cairn::test {
namespace {

class ObjectCopyTest : public ObjectCollectionTest {
 protected:
  ObjectCopyTest() {
    Make({{"/a", Range(0, 250)}, {"/g/b", Range(0, 5)}});
    CollectionWriter writer = OpenWriter();
    EXPECT_TRUE(
        IsOk(writer.EditAttributes("/g")->SetVlmetalayer("n", std::as_bytes(std::span("x")))));
    EXPECT_TRUE(IsOk(writer.Commit()));
  }

  static absl::Status Copy(const Collection& from) { return from.snapshot().CopyTo("copy"); }
  // The copy is complete and sound.
  void ExpectCopy(const std::string& when) const {
    SCOPED_TRACE(when);
    const auto copy = Collection::Open("copy", In());
    ASSERT_TRUE(IsOk(copy));
    EXPECT_EQ(ContentOf(copy->snapshot()), Stored());
    const auto report = copy->snapshot().Verify();
    ASSERT_TRUE(IsOk(report));
    EXPECT_TRUE(report->findings.empty()) << report->findings.front().reason;
    EXPECT_TRUE(IsOk(Frame::Open("copy/a.b2nd", In().members))) << "members open alone, too";
  }
  std::set<std::string> Names(const std::string& prefix) const {
    std::set<std::string> names;
    const absl::StatusOr<ObjectListing> listing = store_->List(prefix, "", 1000);
    EXPECT_TRUE(IsOk(listing));
    for (const ObjectInfo& object : listing->objects) names.insert(object.name);
    return names;
  }
  void RemoveCopy() {
    for (const std::string& name : Names("copy/")) ASSERT_TRUE(IsOk(store_->Delete({&name, 1})));
  }
};

// The second copy begins, and ends, between any two requests of the first one.
TEST_F(ObjectCopyTest, OneOfTwoCopiesStandsAndTheOtherLeavesIt) {
  const Collection other = Open();
  bool is_done = false;
  for (int64_t at = 1; !is_done; ++at) {
    RemoveCopy();
    auto store = std::make_shared<DyingStore>(store_);
    const Collection collection = Open(store);
    int64_t visits = 0;
    absl::Status second = absl::UnknownError("not made");
    std::set<std::string> of_second;
    store->OnChange([&] {
      if (++visits != at) return;
      second = Copy(other);
      of_second = Names("copy/");
    });
    const absl::Status first = Copy(collection);
    is_done = visits < at;
    if (is_done) second = absl::AlreadyExistsError("");
    const std::string when = "request " + std::to_string(at);
    EXPECT_NE(first.ok(), second.ok()) << when << ": " << first << ", " << second;
    const absl::Status& loser = first.ok() ? second : first;
    EXPECT_EQ(loser.code(), absl::StatusCode::kAlreadyExists) << when << ": " << loser;
    ExpectCopy(when);
    if (second.ok()) {
      for (const std::string& name : Names("copy/")) EXPECT_TRUE(of_second.contains(name)) << name;
    }
  }
}

TEST_F(ObjectCopyTest, CopyThatDiedIsInNobodysWay) {
  bool is_done = false;
  for (int64_t changes = 0; !is_done; ++changes) {
    RemoveCopy();
    auto store = std::make_shared<DyingStore>(store_);
    const Collection collection = Open(store);
    store->DieAfter(changes);
    Copy(collection).IgnoreError();
    is_done = !store->is_dead();
    const absl::Status next = Copy(Open());
    EXPECT_TRUE(next.ok() || absl::IsAlreadyExists(next)) << next;
    if (absl::IsAlreadyExists(next) && !is_done) {
      EXPECT_TRUE(IsOk(Collection::Open("copy", In()))) << "only a whole copy is in the way";
      continue;  // the frames of members that are opened alone may be missing
    }
    ExpectCopy(std::to_string(changes) + " changes before");
  }
}

TEST_F(ObjectCopyTest, WhatADeadCopyLeftIsCollected) {
  constexpr int64_t kGrace = 24 * 60 * 60;
  int64_t now = 1'800'000'000;
  store_->SetNow(now);
  ASSERT_TRUE(IsOk(Copy(Open())));
  const auto chunks = [&] {
    size_t count = 0;
    for (const std::string& name : Names("copy/")) {
      count += name.starts_with("copy/embed.b2e/") ? 0 : 1;
    }
    return count;
  };
  const size_t count = chunks();
  RemoveCopy();
  for (const int64_t changes : {2, 4, 5}) {
    auto store = std::make_shared<DyingStore>(store_);
    const Collection collection = Open(store);
    store->DieAfter(changes);
    ASSERT_FALSE(Copy(collection).ok());
  }
  ASSERT_TRUE(IsOk(Copy(Open())));
  EXPECT_GT(chunks(), count);
  for (int i = 0; i < 3; ++i) {
    store_->SetNow(now += kGrace);
    auto writer = Collection::Open("copy", In())->OpenWriter();
    ASSERT_TRUE(IsOk(writer->Compact("/a")));
    ASSERT_TRUE(IsOk(writer->Commit()));
  }
  EXPECT_EQ(chunks(), count);
  ExpectCopy("collected");
}

TEST_F(ObjectCopyTest, AnythingElseIsInTheWay) {
  const std::string names[] = {"copy/notes.txt", "copy/a.b2nd/chunks.b2frame",
                               "copy/embed.b2e/chunks.b2frame", "copy/g/embed.b2e/x"};
  for (const std::string& name : names) {
    RemoveCopy();
    ASSERT_TRUE(IsOk(store_->PutIfAbsent(name, {})));
    EXPECT_TRUE(Fails(Copy(Open()), absl::StatusCode::kAlreadyExists, name.substr(5)));
    EXPECT_EQ(Names("copy/"), std::set<std::string>{name});
  }
}

}  // namespace
}  // namespace cairn::test
