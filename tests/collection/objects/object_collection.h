// A collection in an object store, for tests.
#ifndef CAIRN_TESTS_COLLECTION_OBJECTS_OBJECT_COLLECTION_H_
#define CAIRN_TESTS_COLLECTION_OBJECTS_OBJECT_COLLECTION_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "cairn/collection.h"
#include "cairn/object_store.h"
#include "engine/object/memory_object_store.h"
#include "tests/collection/ints.h"
#include "tests/support/status.h"

namespace cairn::test {

// The items of all members, by name.
using Content = std::map<std::string, Ints>;

inline Content ContentOf(const CollectionSnapshot& snapshot) {
  Content content;
  for (const std::string& name : snapshot.Members()) content[name] = IntsOf(snapshot, name);
  return content;
}

inline Ints Range(int32_t begin, int32_t end) {
  Ints numbers;
  for (int32_t number = begin; number < end; ++number) numbers.push_back(number);
  return numbers;
}

// Returns options of an array of numbers, in chunks of `chunk`.
inline CreateOptions Numbers(int32_t chunk = 100) {
  CreateOptions options;
  options.compression.typesize = 4;
  options.array = {.shape = {0}, .chunkshape = {chunk}, .dtype = "<i4"};
  return options;
}

// Does so for chunks that take as many bytes as their numbers.
inline CreateOptions Uncompressed(int32_t chunk) {
  CreateOptions options = Numbers(chunk);
  options.compression.clevel = 0;
  return options;
}

// The collection is "weather" in a store in memory.
class ObjectCollectionTest : public testing::Test {
 protected:
  CollectionOptions In(std::shared_ptr<ObjectStore> store = nullptr) const {
    if (store == nullptr) store = store_;
    CollectionOptions options;
    options.members.file_system = MakeObjectFileSystem(std::move(store), file_options_);
    return options;
  }
  // Each handle has a file system of its own, as in another process.
  Collection Open(std::shared_ptr<ObjectStore> store = nullptr) const {
    auto collection = Collection::Open("weather", In(std::move(store)));
    EXPECT_TRUE(IsOk(collection));
    return *std::move(collection);
  }
  CollectionWriter OpenWriter(std::shared_ptr<ObjectStore> store = nullptr) const {
    auto writer = Open(std::move(store)).OpenWriter();
    EXPECT_TRUE(IsOk(writer));
    return *std::move(writer);
  }
  void Make() { ASSERT_TRUE(IsOk(Collection::Create("weather", In()))); }
  // Stages a new member, or more items of one that is there.
  static absl::Status Stage(CollectionWriter& writer, const std::string& name, const Ints& items) {
    absl::StatusOr<MemberWriter> member = writer.Edit(name);
    if (absl::IsNotFound(member.status())) member = writer.Add(name, Numbers());
    return member.ok() ? member->AppendSlices(0, items) : member.status();
  }
  // Makes the collection with these members.
  void Make(const Content& content) {
    Make();
    CollectionWriter writer = OpenWriter();
    for (const auto& [name, items] : content) ASSERT_TRUE(IsOk(Stage(writer, name, items)));
    ASSERT_TRUE(IsOk(writer.Commit()));
  }
  Content Stored() const { return ContentOf(Open().snapshot()); }

  ObjectFileOptions file_options_;
  std::shared_ptr<object::MemoryObjectStore> store_ = std::make_shared<object::MemoryObjectStore>();
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_COLLECTION_OBJECTS_OBJECT_COLLECTION_H_
