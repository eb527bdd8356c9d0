#include "engine/frame/index/chunk_index.h"

#include <random>

#include <gtest/gtest.h>

#include "tests/support/status.h"

namespace cairn::frame {
namespace {

IndexEntry E(int64_t value) {
  return {.value = value, .fingerprint = static_cast<uint64_t>(value)};
}

std::vector<int64_t> ValuesOf(const ChunkIndex& index) {
  std::vector<int64_t> values;
  const absl::Status status = index.ForEach([&](const IndexEntry& entry) {
    values.push_back(entry.value);
    return absl::OkStatus();
  });
  EXPECT_TRUE(IsOk(status));
  return values;
}

TEST(ChunkIndexTest, KeepsTheOrderOfAnyRowOfEdits) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::vector<int64_t> model;
    for (int64_t i = 0; i < 5000; ++i) model.push_back(i);
    std::vector<IndexEntry> entries;
    for (const int64_t value : model) entries.push_back(E(value));
    ChunkIndex index(std::move(entries));
    for (int64_t step = 0; step < 2000; ++step) {
      const auto at = static_cast<std::ptrdiff_t>(random() % (model.size() + 1));
      const int64_t value = 10'000 + step;
      switch (random() % 4) {
        case 0:
          index.Append(E(value));
          model.push_back(value);
          break;
        case 1:
          index.Insert(at, E(value));
          model.insert(model.begin() + at, value);
          break;
        case 2:
          if (at == std::ssize(model)) break;
          index.Replace(at, E(value));
          model[static_cast<size_t>(at)] = value;
          break;
        default: {
          const auto count =
              static_cast<std::ptrdiff_t>(random() % std::min<size_t>(model.size() - at + 1, 5));
          index.Erase(at, count);
          model.erase(model.begin() + at, model.begin() + at + count);
        }
      }
      ASSERT_EQ(index.size(), std::ssize(model));
    }
    ASSERT_EQ(ValuesOf(index), model);
    for (size_t i = 0; i < model.size(); i += 7) {
      ASSERT_EQ(index.Get(static_cast<int64_t>(i))->value, model[i]);
    }
  }
}

// Deep trees would overflow the stack, and chains of them take minutes.
TEST(ChunkIndexTest, StaysFlatWhateverTheOrderOfEdits) {
  constexpr int64_t kCount = 50'000;
  const std::vector<IndexEntry> entries(static_cast<size_t>(2 * kCount), E(1));
  ChunkIndex ascending(entries);
  for (int64_t i = 0; i < kCount; ++i) ascending.Erase(i, 1);
  ChunkIndex descending(entries);
  for (int64_t i = kCount - 1; i >= 0; --i) descending.Erase(2 * i, 1);
  ChunkIndex front(entries);
  for (int64_t i = 0; i < kCount; ++i) front.Insert(0, E(i));
  for (const ChunkIndex* index : {&ascending, &descending}) EXPECT_EQ(index->size(), kCount);
  EXPECT_EQ(front.size(), 3 * kCount);
  EXPECT_EQ(ValuesOf(descending).size(), static_cast<size_t>(kCount));
}

TEST(ChunkIndexTest, CopiesDoNotSeeLaterEdits) {
  ChunkIndex index;
  for (int64_t i = 0; i < 3000; ++i) index.Append(E(i));
  const ChunkIndex copy = index;
  index.Erase(0, 2999);
  index.Replace(0, E(-1));
  EXPECT_EQ(ValuesOf(index), std::vector<int64_t>{-1});
  EXPECT_EQ(copy.size(), 3000);
  EXPECT_EQ(copy.Get(2999)->value, 2999);
}

TEST(ChunkIndexTest, CopiesMadeBetweenEditsKeepWhatTheyHad) {
  std::mt19937_64 random(1);
  std::vector<int64_t> model(3000, 1);
  ChunkIndex index(std::vector<IndexEntry>(model.size(), E(1)));
  std::vector<std::pair<ChunkIndex, std::vector<int64_t>>> copies;
  for (int64_t step = 0; step < 300; ++step) {
    if (step % 20 == 0) copies.emplace_back(index, model);
    const auto at = static_cast<std::ptrdiff_t>(random() % model.size());
    switch (step % 4) {
      case 0:
        index.Insert(at, E(step));
        model.insert(model.begin() + at, step);
        break;
      case 1:
        index.Replace(at, E(step));
        model[static_cast<size_t>(at)] = step;
        break;
      case 2:
        index.Append(E(step));
        model.push_back(step);
        break;
      default:
        index.Erase(at, 1);
        model.erase(model.begin() + at);
    }
  }
  copies.emplace_back(index, model);
  for (const auto& [copy, expected] : copies) EXPECT_EQ(ValuesOf(copy), expected);
}

TEST(ChunkIndexTest, CountsTheUnchangedPartOfTheCommittedIndex) {
  const ChunkIndex none(std::vector<IndexEntry>{E(1), E(2)});
  EXPECT_EQ(none.base(), nullptr);
  EXPECT_EQ(none.unchanged(), 0);
  EXPECT_EQ(ChunkIndex().unchanged(), 0);
}

TEST(ChunkIndexTest, CanBeEmptiedAndFilledAgain) {
  ChunkIndex index(std::vector<IndexEntry>{E(1), E(2)});
  index.Erase(0, 2);
  EXPECT_EQ(index.size(), 0);
  index.Insert(0, E(3));
  index.Append(E(4));
  index.Insert(1, E(5));
  EXPECT_EQ(ValuesOf(index), (std::vector<int64_t>{3, 5, 4}));
}

}  // namespace
}  // namespace cairn::frame
