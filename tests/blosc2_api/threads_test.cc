// Threads that share contexts, super-chunks, arrays and the state of the process. ThreadSanitizer
// runs these tests too.
#include <array>
#include <atomic>
#include <b2nd.h>
#include <blosc2.h>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

namespace cairn::blosc2_api {
namespace {

using Random = std::mt19937_64;

constexpr int kThreads = 4;
constexpr int kRounds = 300;  // of each thread

int64_t Below(Random& random, int64_t end) {
  return static_cast<int64_t>(random() % static_cast<uint64_t>(end));
}

// Calls `run` in each of some threads at a time, with a source of numbers of its own.
void InThreads(const std::function<void(int thread, Random& random)>& run) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&run, i] {
      Random random(static_cast<uint64_t>(i));
      run(i, random);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

struct Place {
  const char* name;
  bool contiguous;
  bool on_disk;
};

class ThreadsTest : public testing::TestWithParam<Place> {
 protected:
  void SetUp() override {
    blosc2_init();
    char name[] = "/tmp/cairn_threads_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
    path_ = folder_ + "/frame.b2nd";
    cparams_.typesize = 4;
    storage_.contiguous = GetParam().contiguous;
    storage_.urlpath = GetParam().on_disk ? path_.data() : nullptr;
    storage_.cparams = &cparams_;
    storage_.dparams = &dparams_;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Makes a super-chunk whose chunks hold their numbers.
  blosc2_schunk* MakeChunks(int64_t nchunks) {
    blosc2_schunk* const schunk = blosc2_schunk_new(&storage_);
    for (int64_t i = 0; i < nchunks; ++i) Append(schunk);
    return schunk;
  }
  static void Append(blosc2_schunk* schunk) {
    const std::vector<int32_t> items(kItems, static_cast<int32_t>(schunk->nchunks));
    EXPECT_GT(blosc2_schunk_append_buffer(schunk, items.data(), kItems * 4), 0);
  }
  // Returns true if the super-chunk has the chunk, with its number in it.
  static bool HasChunk(blosc2_schunk* schunk, int64_t nchunk) {
    std::vector<int32_t> items(kItems);
    const int size = blosc2_schunk_decompress_chunk(schunk, nchunk, items.data(), kItems * 4);
    return size == kItems * 4 &&
           items == std::vector<int32_t>(kItems, static_cast<int32_t>(nchunk));
  }

  // Makes an array of kSide x kSide items that hold their position.
  b2nd_array_t* MakeSquare() {
    const std::array<int64_t, 2> shape = {kSide, kSide};
    const std::array<int32_t, 2> chunkshape = {40, 30};
    const std::array<int32_t, 2> blockshape = {8, 7};
    b2nd_context_t* const context = b2nd_create_ctx(&storage_, 2, shape.data(), chunkshape.data(),
                                                    blockshape.data(), "|i4", 0, nullptr, 0);
    std::vector<int32_t> items(kSide * kSide);
    for (size_t i = 0; i < items.size(); ++i) items[i] = static_cast<int32_t>(i);
    b2nd_array_t* array = nullptr;
    EXPECT_EQ(b2nd_from_cbuffer(context, &array, items.data(), std::ssize(items) * 4), 0);
    b2nd_free_ctx(context);
    return array;
  }

  static constexpr int32_t kItems = 1000;  // of a chunk
  static constexpr int64_t kSide = 100;
  blosc2_cparams cparams_ = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_dparams dparams_ = BLOSC2_DPARAMS_DEFAULTS;
  blosc2_storage storage_ = BLOSC2_STORAGE_DEFAULTS;
  std::string folder_;
  std::string path_;
};

INSTANTIATE_TEST_SUITE_P(Places, ThreadsTest,
                         testing::Values(Place{"Chunks", false, false}, Place{"Frame", true, false},
                                         Place{"File", true, true}, Place{"Folder", false, true}),
                         [](const auto& place) { return std::string(place.param.name); });

TEST_P(ThreadsTest, ReadBoxesOfOneArray) {
  b2nd_array_t* const array = MakeSquare();
  std::atomic<int> wrong = 0;
  InThreads([&](int /*thread*/, Random& random) {
    for (int round = 0; round < kRounds; ++round) {
      std::array<int64_t, 2> start{};
      std::array<int64_t, 2> stop{};
      std::array<int64_t, 2> shape{};
      for (size_t i = 0; i < 2; ++i) {
        start[i] = Below(random, kSide);
        stop[i] = start[i] + 1 + Below(random, kSide - start[i]);
        shape[i] = stop[i] - start[i];
      }
      std::vector<int32_t> items(static_cast<size_t>(shape[0] * shape[1]));
      const int code = b2nd_get_slice_cbuffer(array, start.data(), stop.data(), items.data(),
                                              shape.data(), std::ssize(items) * 4);
      bool right = code == 0;
      for (int64_t i = 0; i < std::ssize(items); ++i) {
        const int64_t expected = (start[0] + i / shape[1]) * kSide + start[1] + i % shape[1];
        right = right && items[static_cast<size_t>(i)] == expected;
      }
      if (!right) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
  b2nd_free(array);
}

TEST_P(ThreadsTest, ReadSingleItemsOfOneArray) {
  b2nd_array_t* const array = MakeSquare();
  std::atomic<int> wrong = 0;
  InThreads([&](int /*thread*/, Random& random) {
    for (int round = 0; round < kRounds; ++round) {
      std::array<int64_t, 3> rows{};
      std::array<int64_t, 1> column = {Below(random, kSide)};
      for (int64_t& row : rows) row = Below(random, kSide);
      std::array<int64_t*, 2> selection = {rows.data(), column.data()};
      std::array<int64_t, 2> shape = {3, 1};
      std::array<int32_t, 3> items{};
      bool right = b2nd_get_orthogonal_selection(array, selection.data(), shape.data(),
                                                 items.data(), shape.data(), sizeof(items)) == 0;
      for (size_t i = 0; i < 3; ++i) right = right && items[i] == rows[i] * kSide + column[0];
      if (!right) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
  b2nd_free(array);
}

TEST_P(ThreadsTest, ReadOneSuperChunk) {
  constexpr int64_t kChunks = 20;
  blosc2_schunk* const schunk = MakeChunks(kChunks);
  std::array<uint8_t, 3> layer = {1, 2, 3};
  EXPECT_GE(blosc2_vlmeta_add(schunk, "layer", layer.data(), 3, nullptr), 0);
  std::atomic<int> wrong = 0;
  InThreads([&](int thread, Random& random) {
    for (int round = 0; round < kRounds; ++round) {
      const int64_t nchunk = Below(random, kChunks);
      bool right = true;
      if (thread % 4 == 0) {
        right = HasChunk(schunk, nchunk);
      } else if (thread % 4 == 1) {
        int32_t item = 0;
        const int64_t at = nchunk * kItems + Below(random, kItems);
        right = blosc2_schunk_get_slice_buffer(schunk, at, at + 1, &item) == 0 && item == nchunk;
      } else if (thread % 4 == 2) {
        uint8_t* chunk = nullptr;
        bool needs_free = false;
        const int size = blosc2_schunk_get_lazychunk(schunk, nchunk, &chunk, &needs_free);
        int32_t item = 0;
        right = size > 0 &&
                blosc2_getitem_ctx(schunk->dctx, chunk, size, 7, 1, &item, sizeof(item)) == 4 &&
                item == nchunk;
        if (needs_free) std::free(chunk);
      } else {
        uint8_t* content = nullptr;
        int32_t size = 0;
        right = blosc2_vlmeta_get(schunk, "layer", &content, &size) >= 0 && size == 3;
        std::free(content);
      }
      if (!right) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
  blosc2_schunk_free(schunk);
}

// A program's filter that adds the number of the chunk to each item.
int AddNumberOfChunk(blosc2_postfilter_params* params) {
  const auto* const input = reinterpret_cast<const int32_t*>(params->input);
  auto* const output = reinterpret_cast<int32_t*>(params->output);
  for (int32_t i = 0; i < params->size / 4; ++i) {
    output[i] = input[i] + static_cast<int32_t>(params->nchunk);
  }
  return 0;
}

TEST_P(ThreadsTest, PostfiltersKnowTheirChunk) {
  constexpr int64_t kChunks = 20;
  blosc2_postfilter_params postparams{};
  dparams_.postfilter = AddNumberOfChunk;
  dparams_.postparams = &postparams;
  blosc2_schunk* const schunk = MakeChunks(kChunks);
  std::atomic<int> wrong = 0;
  InThreads([&](int /*thread*/, Random& random) {
    for (int round = 0; round < kRounds; ++round) {
      const int64_t nchunk = Below(random, kChunks);
      std::vector<int32_t> items(kItems);
      blosc2_schunk_decompress_chunk(schunk, nchunk, items.data(), kItems * 4);
      if (items != std::vector<int32_t>(kItems, 2 * static_cast<int32_t>(nchunk))) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
  blosc2_schunk_free(schunk);
}

// The files and directories that other handles edit meanwhile.
class SharedThreadsTest : public ThreadsTest {};

INSTANTIATE_TEST_SUITE_P(Places, SharedThreadsTest,
                         testing::Values(Place{"File", true, true}, Place{"Folder", false, true}),
                         [](const auto& place) { return std::string(place.param.name); });

TEST_P(SharedThreadsTest, ReadOneHandleBesideAWriter) {
  blosc2_schunk* const writer = MakeChunks(1);
  std::array<uint8_t, 3> layer = {1, 2, 3};
  EXPECT_GE(blosc2_vlmeta_add(writer, "layer", layer.data(), 3, nullptr), 0);
  blosc2_schunk* const schunk = blosc2_schunk_open(path_.c_str());
  std::atomic<bool> ends = false;
  std::atomic<int64_t> written = 1;
  std::thread thread([&] {
    for (uint8_t i = 0; !ends; ++i) {
      Append(writer);
      written = writer->nchunks;
      blosc2_vlmeta_update(writer, "layer", &i, 1, nullptr);
    }
  });
  std::atomic<int> wrong = 0;
  InThreads([&](int number, Random& random) {
    for (int round = 0; round < kRounds; ++round) {
      const int64_t nchunk = Below(random, written);
      bool right = HasChunk(schunk, nchunk);
      if (number == 0) {
        uint8_t* content = nullptr;
        int32_t size = 0;
        right = right && blosc2_vlmeta_get(schunk, "layer", &content, &size) >= 0;
        std::free(content);
      }
      if (number == 1) {
        int32_t item = 0;
        right = right &&
                blosc2_schunk_get_slice_buffer(schunk, nchunk * kItems, nchunk * kItems + 1,
                                               &item) == 0 &&
                item == nchunk;
      }
      if (!right) ++wrong;
    }
  });
  ends = true;
  thread.join();
  EXPECT_EQ(wrong, 0);
  blosc2_schunk_free(schunk);
  blosc2_schunk_free(writer);
}

// The fields of the super-chunk have no lock against edits of its own, as in C-Blosc2.
TEST_P(SharedThreadsTest, ReadTheHandleThatAnotherThreadEdits) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the fields are written while others read them";
#endif
  setenv("CAIRN_BLOSC2_SYNC", "0", 1);
  blosc2_schunk* const schunk = MakeChunks(10);
  unsetenv("CAIRN_BLOSC2_SYNC");
  std::atomic<bool> done = false;
  std::vector<std::thread> readers;
  for (int i = 0; i < kThreads; ++i) {
    readers.emplace_back([&] {
      while (!done) EXPECT_TRUE(HasChunk(schunk, 3));
    });
  }
  const std::vector<int32_t> items(kItems, 3);
  std::vector<uint8_t> chunk(kItems * 4 + BLOSC2_MAX_OVERHEAD);
  const auto size = static_cast<int32_t>(chunk.size());
  for (int i = 0; i < (GetParam().contiguous ? 5 * kRounds : kRounds / 3); ++i) {
    EXPECT_GT(blosc2_compress_ctx(schunk->cctx, items.data(), kItems * 4, chunk.data(), size), 0);
    EXPECT_EQ(blosc2_schunk_update_chunk(schunk, 3, chunk.data(), true), 10);
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  blosc2_schunk_free(schunk);
}

// A child has what its parent has open, also the lock file of a read.
TEST_P(SharedThreadsTest, ForkedChildrenKeepOutNoWriters) {
  setenv("BLOSC_LOCKING", "1", 1);
  blosc2_schunk* const schunk = MakeChunks(10);
  blosc2_schunk* const other = blosc2_schunk_open(path_.c_str());
  Append(other);  // makes the lock file
  std::atomic<bool> done = false;
  std::thread reader([&] {
    while (!done) EXPECT_TRUE(HasChunk(schunk, 3));
  });
  std::vector<pid_t> children;
  for (int i = 0; i < 40; ++i) {
    children.push_back(fork());
    if (children.back() == 0) {
      pause();
      _exit(0);
    }
  }
  done = true;
  reader.join();
  Append(other);
  unsetenv("BLOSC_LOCKING");
  for (const pid_t child : children) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  blosc2_schunk_free(other);
  blosc2_schunk_free(schunk);
}

// A thread that the child does not have may be in the middle of a call.
TEST_P(SharedThreadsTest, ForkedChildrenReadWhatThreadsOfTheirParentRead) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the allocator of this sanitizer knows nothing of forks";
#endif
  blosc2_schunk* const schunk = MakeChunks(10);
  std::atomic<bool> done = false;
  std::vector<std::thread> readers;
  for (int i = 0; i < kThreads; ++i) {
    readers.emplace_back([&] {
      while (!done) EXPECT_TRUE(HasChunk(schunk, 3));
    });
  }
  for (int i = 0; i < 100; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(10);  // it waits for ever
      _exit(HasChunk(schunk, 3) && HasChunk(schunk, 5) ? 0 : 1);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    if (status != 0) break;
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  blosc2_schunk_free(schunk);
}

TEST_P(SharedThreadsTest, ReadOneArrayThatGrowsMeanwhile) {
  b2nd_array_t* const writer = MakeSquare();
  b2nd_array_t* array = nullptr;
  ASSERT_EQ(b2nd_open(path_.c_str(), &array), 0);
  std::atomic<bool> ends = false;
  std::thread thread([&] {
    for (int64_t rows = kSide; !ends; rows = rows > 3 * kSide ? kSide : rows + 30) {
      const std::array<int64_t, 2> shape = {rows, kSide};
      EXPECT_GE(b2nd_resize(writer, shape.data(), nullptr), 0);
    }
  });
  std::atomic<int> wrong = 0;
  InThreads([&](int /*thread*/, Random& random) {
    for (int round = 0; round < kRounds; ++round) {
      const int64_t row = Below(random, kSide);
      const std::array<int64_t, 2> start = {row, 0};
      const std::array<int64_t, 2> stop = {row + 1, kSide};
      const std::array<int64_t, 2> shape = {1, kSide};
      std::array<int32_t, kSide> items{};
      bool right = b2nd_get_slice_cbuffer(array, start.data(), stop.data(), items.data(),
                                          shape.data(), sizeof(items)) == 0;
      for (size_t i = 0; i < items.size(); ++i) {
        right = right && items[i] == row * kSide + static_cast<int64_t>(i);
      }
      if (!right) ++wrong;
    }
  });
  ends = true;
  thread.join();
  EXPECT_EQ(wrong, 0);
  b2nd_free(array);
  b2nd_free(writer);
}

TEST(ProcessThreadsTest, ReadChunksWithOneContext) {
  blosc2_init();
  constexpr int32_t kItems = 5000;
  std::vector<int32_t> items(kItems);
  for (size_t i = 0; i < items.size(); ++i) items[i] = static_cast<int32_t>(i * i);
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  cparams.blocksize = 2048;
  blosc2_context* const encoder = blosc2_create_cctx(cparams);
  std::vector<uint8_t> chunk(kItems * 4 + BLOSC2_MAX_OVERHEAD);
  const int size = blosc2_compress_ctx(encoder, items.data(), kItems * 4, chunk.data(),
                                       static_cast<int32_t>(chunk.size()));
  ASSERT_GT(size, 0);
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  dparams.nthreads = 2;
  blosc2_context* const context = blosc2_create_dctx(dparams);
  std::atomic<int> wrong = 0;
  InThreads([&](int thread, Random& random) {
    for (int round = 0; round < kRounds; ++round) {
      const int start = static_cast<int>(Below(random, kItems));
      int32_t item = -1;
      if (blosc2_getitem_ctx(context, chunk.data(), size, start, 1, &item, 4) != 4 ||
          item != items[static_cast<size_t>(start)]) {
        ++wrong;
      }
      if (thread != 0) continue;
      std::vector<int32_t> all(kItems);
      blosc2_decompress_ctx(context, chunk.data(), size, all.data(), kItems * 4);
      if (all != items) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
  blosc2_free_ctx(context);
  blosc2_free_ctx(encoder);
}

TEST(ProcessThreadsTest, ShareTheStateOfTheProcess) {
  blosc2_init();
  const std::vector<int32_t> items(2000, 5);
  std::atomic<int> wrong = 0;
  InThreads([&](int thread, Random& random) {
    for (int round = 0; round < kRounds; ++round) {
      blosc2_set_nthreads(static_cast<int16_t>(1 + Below(random, 3)));
      blosc1_set_compressor(Below(random, 2) == 0 ? "lz4" : "zstd");
      blosc1_set_blocksize(static_cast<size_t>(1024 * Below(random, 3)));
      blosc2_filter filter{};
      filter.id = static_cast<uint8_t>(160 + Below(random, 40));
      const std::string name = "filter" + std::to_string(filter.id);
      filter.name = const_cast<char*>(name.c_str());
      blosc2_register_filter(&filter);
      const char* codec = nullptr;
      blosc2_compcode_to_compname(BLOSC_LZ4, &codec);
      std::vector<uint8_t> chunk(8000 + BLOSC2_MAX_OVERHEAD);
      std::vector<int32_t> read(2000);
      const int size = blosc2_compress(5, BLOSC_SHUFFLE, 4, items.data(), 8000, chunk.data(),
                                       static_cast<int32_t>(chunk.size()));
      if (blosc2_decompress(chunk.data(), size, read.data(), 8000) != 8000 || read != items) {
        ++wrong;
      }
      if (thread == 0 && round % 50 == 0) blosc2_free_resources();
    }
  });
  EXPECT_EQ(wrong, 0);
  blosc2_set_nthreads(1);
}

TEST(ProcessThreadsTest, EachEditASuperChunkOfItsOwn) {
  blosc2_init();
  std::atomic<int> wrong = 0;
  InThreads([&](int thread, Random& random) {
    blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
    cparams.typesize = 4;
    cparams.nthreads = 2;
    blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
    storage.contiguous = thread % 2 == 0;
    storage.cparams = &cparams;
    blosc2_schunk* const schunk = blosc2_schunk_new(&storage);
    for (int round = 0; round < 50; ++round) {
      const std::vector<int32_t> items(20'000, round);
      blosc2_schunk_append_buffer(schunk, items.data(), 80'000);
      std::vector<int32_t> read(20'000);
      const int64_t nchunk = Below(random, schunk->nchunks);
      blosc2_schunk_decompress_chunk(schunk, nchunk, read.data(), 80'000);
      if (read != std::vector<int32_t>(20'000, static_cast<int32_t>(nchunk))) ++wrong;
    }
    blosc2_schunk_free(schunk);
  });
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace cairn::blosc2_api
