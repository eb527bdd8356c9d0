// Edits a file with both libraries in turn, while handles of ours stay open.
#include <algorithm>
#include <array>
#include <atomic>
#include <blosc2.h>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/blosc2_api/file_test.h"
#include "tests/support/search.h"

namespace cairn::blosc2_api {
namespace {

constexpr int32_t kItems = 1000;
constexpr int32_t kChunks = 40;
constexpr int32_t kLayerSize = 20;
constexpr int kSteps = 40;

using Items = std::vector<int32_t>;
using Layer = std::vector<uint8_t>;

// The content of a file.
struct Content {
  std::vector<int32_t> chunks;  // a number for each, which tells its items
  Layer metalayer;
  std::map<std::string, Layer> vlmetalayers;

  bool operator==(const Content&) const = default;
};

// Chunks of even numbers repeat the number, and those of odd ones do not compress: C-Blosc2
// replaces each kind in place.
Items ItemsOf(int32_t number) {
  Items items(kItems, number);
  std::mt19937 random(static_cast<unsigned>(number));
  if (number % 2 != 0) {
    std::ranges::generate(items, [&] { return static_cast<int32_t>(random()); });
    items[0] = number;
  }
  return items;
}

class TwoLibrariesTest : public FileTest {
 protected:
  blosc2_schunk* CreateWithContent() {
    std::filesystem::remove_all(path_);
    blosc2_schunk* const schunk = Create();
    content_ = {.chunks = {}, .metalayer = Layer(kLayerSize, 1), .vlmetalayers = {}};
    EXPECT_GE(ours_.blosc2_meta_add(schunk, "layer", content_.metalayer.data(), kLayerSize), 0);
    for (int32_t i = 0; i < kChunks; ++i) Append(ours_, schunk, i);
    return schunk;
  }

  void Append(const Calls& calls, blosc2_schunk* schunk, int32_t number) {
    EXPECT_GT(calls.blosc2_schunk_append_buffer(schunk, ItemsOf(number).data(), kItems * 4), 0);
    content_.chunks.push_back(number);
  }
  void Update(const Calls& calls, blosc2_schunk* schunk, int64_t at, int32_t number) {
    std::array<uint8_t, kItems * 4 + BLOSC2_MAX_OVERHEAD> chunk;
    EXPECT_GT(calls.blosc2_compress_ctx(schunk->cctx, ItemsOf(number).data(), kItems * 4,
                                        chunk.data(), chunk.size()),
              0);
    EXPECT_GE(calls.blosc2_schunk_update_chunk(schunk, at, chunk.data(), true), 0);
    content_.chunks[static_cast<size_t>(at)] = number;
  }
  void SetMetalayer(const Calls& calls, blosc2_schunk* schunk, uint8_t value) {
    content_.metalayer.assign(kLayerSize, value);
    EXPECT_GE(calls.blosc2_meta_update(schunk, "layer", content_.metalayer.data(), kLayerSize), 0);
  }
  void SetVlmetalayer(const Calls& calls, blosc2_schunk* schunk, const std::string& name,
                      uint8_t value) {
    Layer layer(kLayerSize, value);
    const bool is_there = content_.vlmetalayers.contains(name);
    const auto set = is_there ? calls.blosc2_vlmeta_update : calls.blosc2_vlmeta_add;
    EXPECT_GE(set(schunk, name.c_str(), layer.data(), kLayerSize, nullptr), 0);
    content_.vlmetalayers[name] = std::move(layer);
  }

  // Makes one of the edits that leave the length of the file alone, or an append.
  void EditAtRandom(const Calls& calls, blosc2_schunk* schunk, std::mt19937& random) {
    const auto number = static_cast<int32_t>(random() % 1000);
    const auto value = static_cast<uint8_t>(number);
    switch (random() % 5) {
      case 0:
        return Append(calls, schunk, number);
      case 1:
        return SetMetalayer(calls, schunk, value);
      case 2:
        return SetVlmetalayer(calls, schunk, random() % 2 == 0 ? "a" : "b", value);
      default: {
        // A chunk of the same kind takes as many bytes.
        const size_t at = random() % content_.chunks.size();
        const int32_t kind = content_.chunks[at] % 2;
        return Update(calls, schunk, static_cast<int64_t>(at), number / 2 * 2 + kind);
      }
    }
  }

  // Returns what a library reads of a handle.
  static Content ContentOf(const Calls& calls, blosc2_schunk* schunk,
                           const std::map<std::string, Layer>& layers) {
    Content content;
    calls.blosc2_schunk_refresh(schunk);
    for (int64_t i = 0; i < schunk->nchunks; ++i) {
      Items items(kItems);
      const int size = calls.blosc2_schunk_decompress_chunk(schunk, i, items.data(), kItems * 4);
      const bool is_right = size == kItems * 4 && items == ItemsOf(items[0]);
      content.chunks.push_back(is_right ? items[0] : -1);
    }
    const blosc2_metalayer& metalayer = *schunk->metalayers[0];
    content.metalayer.assign(metalayer.content, metalayer.content + metalayer.content_len);
    for (const auto& [name, expected] : layers) {
      uint8_t* bytes = nullptr;
      int32_t size = 0;
      if (calls.blosc2_vlmeta_get(schunk, name.c_str(), &bytes, &size) < 0) continue;
      content.vlmetalayers[name].assign(bytes, bytes + size);
      std::free(bytes);
    }
    return content;
  }
  bool Holds(const Calls& calls, blosc2_schunk* schunk) const {
    return ContentOf(calls, schunk, content_.vlmetalayers) == content_;
  }
  bool GenuineReadsIt() const {
    blosc2_schunk* const schunk = genuine_.blosc2_schunk_open(path_.c_str());
    const bool holds = Holds(genuine_, schunk);
    genuine_.blosc2_schunk_free(schunk);
    return holds;
  }

  // Returns the size of the frame's file, or of the files in its directory.
  int64_t BytesOnDisk() const {
    if (GetParam()) return static_cast<int64_t>(std::filesystem::file_size(path_));
    int64_t sum = 0;
    for (const auto& file : std::filesystem::directory_iterator(path_)) {
      sum += static_cast<int64_t>(file.file_size());
    }
    return sum;
  }

  void EditInTurn(uint64_t seed);
  // Appends these chunks. Sets a vlmetalayer after each, in one sequence with `is_locked`.
  void AppendBesideOthers(const Calls& calls, const std::vector<int32_t>& numbers,
                          const std::string& layer, bool is_locked) const;

  Content content_;
};

INSTANTIATE_TEST_SUITE_P(Layouts, TwoLibrariesTest, testing::Bool(),
                         [](const auto& layout) { return layout.param ? "Contiguous" : "Sparse"; });

// Two handles of ours are open all the time, and C-Blosc2 opens the file for each edit.
void TwoLibrariesTest::EditInTurn(uint64_t seed) {
  SCOPED_TRACE(seed);
  std::mt19937 random(static_cast<unsigned>(seed));
  std::array<blosc2_schunk*, 2> handles = {CreateWithContent(), nullptr};
  handles[1] = ours_.blosc2_schunk_open(path_.c_str());
  for (int step = 0; step < kSteps && !HasFailure(); ++step) {
    SCOPED_TRACE(step);
    if (random() % 2 == 0) {
      blosc2_schunk* const other = genuine_.blosc2_schunk_open(path_.c_str());
      EditAtRandom(genuine_, other, random);
      genuine_.blosc2_schunk_free(other);
    } else {
      EditAtRandom(ours_, handles[random() % 2], random);
    }
    // A handle that reads nothing meanwhile has more to take over.
    for (blosc2_schunk* const handle : handles) {
      const bool reads = random() % 2 == 0;
      EXPECT_TRUE(!reads || Holds(ours_, handle));
    }
    EXPECT_TRUE(GenuineReadsIt());
  }
  for (blosc2_schunk* const handle : handles) ours_.blosc2_schunk_free(handle);
  EXPECT_TRUE(GenuineReadsIt());
}

TEST_P(TwoLibrariesTest, EditsInTurnAllStay) {
  test::ForEachSeed(20, [&](uint64_t seed) { EditInTurn(seed); });
}

// C-Blosc2 overwrites chunks where they are.
TEST_P(TwoLibrariesTest, ReadsUnderTheLockFileWaitForEditsOfTheOtherLibrary) {
  setenv("BLOSC_LOCKING", "1", 1);
  blosc2_schunk* const schunk = CreateWithContent();
  blosc2_schunk* const other = genuine_.blosc2_schunk_open(path_.c_str());
  ASSERT_GE(genuine_.blosc2_schunk_lock(other), 0);
  std::atomic<bool> has_read = false;
  std::thread reader([&] {
    Items items(kItems);
    EXPECT_GT(ours_.blosc2_schunk_decompress_chunk(schunk, 0, items.data(), kItems * 4), 0);
    has_read = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(has_read);
  EXPECT_GE(genuine_.blosc2_schunk_unlock(other), 0);
  reader.join();
  genuine_.blosc2_schunk_free(other);
  ours_.blosc2_schunk_free(schunk);
  unsetenv("BLOSC_LOCKING");
}

TEST_P(TwoLibrariesTest, LinkLeadsToTheLockFileOfItsOwnFrameAlone) {
  if (!GetParam()) GTEST_SKIP() << "the lock file of a directory lies in it";
  setenv("BLOSC_LOCKING", "1", 1);
  blosc2_schunk* const schunk = CreateWithContent();
  ours_.blosc2_schunk_free(schunk);
  const std::string link = folder_ + "/link.b2frame";
  std::filesystem::create_symlink(path_, link);
  std::filesystem::create_symlink(path_ + ".b2lock", link + ".b2lock");
  blosc2_schunk* const linked = ours_.blosc2_schunk_open(link.c_str());
  ASSERT_NE(linked, nullptr);
  EXPECT_TRUE(Holds(ours_, linked));
  ours_.blosc2_schunk_free(linked);
  std::filesystem::remove(link + ".b2lock");
  std::filesystem::create_symlink(path_, link + ".b2lock");
  EXPECT_EQ(ours_.blosc2_schunk_open(link.c_str()), nullptr);
  unsetenv("BLOSC_LOCKING");
}

// C-Blosc2 does not tell which bytes of a file its edits leave unused.
TEST_P(TwoLibrariesTest, FrameThatBothEditStaysShort) {
  setenv("CAIRN_BLOSC2_SYNC", "0", 1);
  blosc2_schunk* const schunk = CreateWithContent();
  unsetenv("CAIRN_BLOSC2_SYNC");
  const int64_t before = BytesOnDisk();
  for (int32_t i = 0; i < 100; ++i) {
    Update(ours_, schunk, i % kChunks, i * 2);
    blosc2_schunk* const other = genuine_.blosc2_schunk_open(path_.c_str());
    Update(genuine_, other, (i + 7) % kChunks, i * 2 + 1);
    genuine_.blosc2_schunk_free(other);
  }
  EXPECT_TRUE(Holds(ours_, schunk));
  ours_.blosc2_schunk_free(schunk);
  EXPECT_TRUE(GenuineReadsIt());
  EXPECT_LT(BytesOnDisk(), before * 3);
}

TEST_P(TwoLibrariesTest, JournalLeavesNoOldBytesWhenItsHandleIsFreed) {
  setenv("CAIRN_BLOSC2_SYNC", "0", 1);
  setenv("CAIRN_BLOSC2_JOURNAL", "1", 1);
  blosc2_schunk* const schunk = CreateWithContent();
  unsetenv("CAIRN_BLOSC2_JOURNAL");
  unsetenv("CAIRN_BLOSC2_SYNC");
  for (int32_t i = 0; i < 500; ++i) Update(ours_, schunk, i % kChunks, i);
  ours_.blosc2_schunk_free(schunk);
  EXPECT_TRUE(GenuineReadsIt());
  EXPECT_LT(BytesOnDisk(), kChunks * kItems * 4);
}

void TwoLibrariesTest::AppendBesideOthers(const Calls& calls, const std::vector<int32_t>& numbers,
                                          const std::string& layer, bool is_locked) const {
  blosc2_schunk* const schunk = calls.blosc2_schunk_open(path_.c_str());
  ASSERT_NE(schunk, nullptr);
  for (const int32_t number : numbers) {
    Items items = ItemsOf(number);
    EXPECT_GT(calls.blosc2_schunk_append_buffer(schunk, items.data(), kItems * 4), 0);
    Layer content(kLayerSize, static_cast<uint8_t>(number));
    EXPECT_EQ(is_locked ? calls.blosc2_schunk_lock(schunk) : 0, 0);
    EXPECT_GE(
        calls.blosc2_vlmeta_update(schunk, layer.c_str(), content.data(), kLayerSize, nullptr), 0);
    EXPECT_EQ(is_locked ? calls.blosc2_schunk_unlock(schunk) : 0, 0);
  }
  calls.blosc2_schunk_free(schunk);
}

// C-Blosc2 reads the file before it takes the lock under which it writes vlmetalayers. So the
// program holds the lock around that call.
TEST_P(TwoLibrariesTest, EditsAtOnceAllStayIfTheOtherLibraryLocks) {
  setenv("BLOSC_LOCKING", "1", 1);
  setenv("CAIRN_BLOSC2_SYNC", "0", 1);
  blosc2_schunk* const schunk = CreateWithContent();
  SetVlmetalayer(ours_, schunk, "ours", 0);
  SetVlmetalayer(ours_, schunk, "theirs", 0);
  ours_.blosc2_schunk_free(schunk);
  std::vector<int32_t> ours(100);
  std::vector<int32_t> theirs(100);
  std::ranges::generate(ours, [number = 1000]() mutable { return number++; });
  std::ranges::generate(theirs, [number = 2000]() mutable { return number++; });
  std::thread other([&] { AppendBesideOthers(genuine_, theirs, "theirs", true); });
  AppendBesideOthers(ours_, ours, "ours", false);
  other.join();
  unsetenv("BLOSC_LOCKING");
  unsetenv("CAIRN_BLOSC2_SYNC");

  content_.vlmetalayers["ours"].assign(kLayerSize, static_cast<uint8_t>(ours.back()));
  content_.vlmetalayers["theirs"].assign(kLayerSize, static_cast<uint8_t>(theirs.back()));
  content_.chunks.insert(content_.chunks.end(), ours.begin(), ours.end());
  content_.chunks.insert(content_.chunks.end(), theirs.begin(), theirs.end());
  for (const Calls* const calls : {&ours_, &genuine_}) {
    blosc2_schunk* const after = calls->blosc2_schunk_open(path_.c_str());
    ASSERT_NE(after, nullptr);
    Content content = ContentOf(*calls, after, content_.vlmetalayers);
    // The chunks of the two have got between each other.
    std::ranges::stable_sort(content.chunks, {}, [](int32_t number) { return number / 1000; });
    EXPECT_EQ(content.chunks, content_.chunks);
    EXPECT_EQ(content.vlmetalayers, content_.vlmetalayers);
    calls->blosc2_schunk_free(after);
  }
}

}  // namespace
}  // namespace cairn::blosc2_api
