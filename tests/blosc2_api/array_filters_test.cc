// Arrays with the filters NDCELL and NDMEAN, which C-Blosc2 itself and the library with its
// interface write and read for each other.
#include <algorithm>
#include <array>
#include <b2nd.h>
#include <blosc2.h>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <blosc2/filters-registry.h>
#include <gtest/gtest.h>

#include "tests/blosc2_api/calls.h"

namespace cairn::blosc2_api {
namespace {

using Random = std::mt19937_64;
using Buffer = std::vector<uint8_t>;

int Below(Random& random, int end) {
  return static_cast<int>(random() % static_cast<uint64_t>(end));
}

// An array that is to be made.
struct Plan {
  int8_t ndim = 1;
  std::array<int64_t, B2ND_MAX_DIM> shape{};
  std::array<int32_t, B2ND_MAX_DIM> chunkshape{};
  std::array<int32_t, B2ND_MAX_DIM> blockshape{};
  int32_t typesize = 4;
  std::array<uint8_t, BLOSC2_MAX_FILTERS> filters{};
  std::array<uint8_t, BLOSC2_MAX_FILTERS> metas{};
  Buffer items;

  int64_t BlockBytes() const {
    int64_t bytes = typesize;
    for (size_t d = 0; d < static_cast<size_t>(ndim); ++d) bytes *= blockshape[d];
    return bytes;
  }
  std::string Text() const {
    std::string text = "filter " + std::to_string(filters[4]) + " meta " + std::to_string(metas[4]);
    text += " typesize " + std::to_string(typesize) + " shapes";
    for (size_t d = 0; d < static_cast<size_t>(ndim); ++d) {
      text += " " + std::to_string(shape[d]) + "/" + std::to_string(chunkshape[d]) + "/" +
              std::to_string(blockshape[d]);
    }
    return text;
  }
};

// Chooses shapes in which cells, blocks and chunks are cut by borders.
Plan MakePlan(Random& random, uint8_t filter, int32_t typesize) {
  constexpr std::array<int, 5> kMost = {0, 2000, 60, 20, 10};
  Plan plan;
  plan.ndim = static_cast<int8_t>(1 + Below(random, 4));
  plan.typesize = typesize;
  int64_t nitems = 1;
  for (size_t d = 0; d < static_cast<size_t>(plan.ndim); ++d) {
    plan.shape[d] = 1 + Below(random, kMost[static_cast<size_t>(plan.ndim)]);
    plan.chunkshape[d] = 1 + Below(random, static_cast<int>(plan.shape[d]));
    plan.blockshape[d] = 1 + Below(random, plan.chunkshape[d]);
    nitems *= plan.shape[d];
  }
  plan.filters[4] = filter;
  plan.metas[4] = static_cast<uint8_t>(Below(random, 20) == 0 ? random() : 1 + random() % 6);
  constexpr std::array<uint8_t, 3> kNext = {0, BLOSC_SHUFFLE, BLOSC_BITSHUFFLE};
  plan.filters[5] = kNext[static_cast<size_t>(Below(random, 3))];
  plan.items.resize(static_cast<size_t>(nitems * typesize));
  for (int64_t i = 0; i < nitems; ++i) {
    uint8_t* const item = &plan.items[static_cast<size_t>(i * typesize)];
    if (filter == BLOSC_FILTER_NDCELL) {
      for (int k = 0; k < typesize; ++k) item[k] = static_cast<uint8_t>(i / 5 + k + 1);
    } else {
      // Sums of these depend on the order of the additions. They repeat, so that they compress.
      const double value =
          std::ldexp(1.0 + static_cast<int>(i % 16), static_cast<int>(i % 16 * 7 % 31));
      const auto narrow = static_cast<float>(value);
      std::memcpy(item, typesize == 4 ? static_cast<const void*>(&narrow) : &value,
                  static_cast<size_t>(typesize));
    }
  }
  return plan;
}

class ArrayFiltersTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(genuine_.Load(std::getenv("GENUINE_BLOSC2")));
    ASSERT_TRUE(ours_.Load(std::getenv("CAIRN_BLOSC2_API")));
    char name[] = "/tmp/cairn_array_filters_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Makes the array, in memory or at a path, or returns null.
  static b2nd_array_t* Make(const Calls& library, const Plan& plan, char* path = nullptr,
                            bool contiguous = true) {
    blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
    cparams.compcode = BLOSC_ZSTD;
    cparams.typesize = plan.typesize;
    std::ranges::copy(plan.filters, cparams.filters);
    std::ranges::copy(plan.metas, cparams.filters_meta);
    blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
    storage.contiguous = contiguous;
    storage.urlpath = path;
    storage.cparams = &cparams;
    b2nd_context_t* const context =
        library.b2nd_create_ctx(&storage, plan.ndim, plan.shape.data(), plan.chunkshape.data(),
                                plan.blockshape.data(), nullptr, 0, nullptr, 0);
    b2nd_array_t* array = nullptr;
    const int code =
        library.b2nd_from_cbuffer(context, &array, plan.items.data(), std::ssize(plan.items));
    library.b2nd_free_ctx(context);
    if (code >= 0) return array;
    if (array != nullptr) library.b2nd_free(array);
    return nullptr;
  }

  // Returns the items of an array, which is freed, or nothing after an error.
  static std::optional<Buffer> TakeItems(const Calls& library, b2nd_array_t* array) {
    if (array == nullptr) return std::nullopt;
    Buffer items(static_cast<size_t>(array->nitems * array->sc->typesize));
    const int code = library.b2nd_to_cbuffer(array, items.data(), std::ssize(items));
    library.b2nd_free(array);
    return code < 0 ? std::nullopt : std::optional(items);
  }

  static std::optional<Buffer> MakeFrame(const Calls& library, const Plan& plan) {
    b2nd_array_t* const array = Make(library, plan);
    if (array == nullptr) return std::nullopt;
    uint8_t* frame = nullptr;
    int64_t size = 0;
    bool to_free = false;
    EXPECT_GE(library.b2nd_to_cframe(array, &frame, &size, &to_free), 0);
    Buffer copy(frame, frame + size);
    if (to_free) std::free(frame);
    library.b2nd_free(array);
    return copy;
  }

  static std::optional<Buffer> ReadFrame(const Calls& library, Buffer frame) {
    b2nd_array_t* array = nullptr;
    if (library.b2nd_from_cframe(frame.data(), std::ssize(frame), true, &array) < 0)
      return std::nullopt;
    return TakeItems(library, array);
  }

  static std::optional<Buffer> ReadFile(const Calls& library, const std::string& path) {
    b2nd_array_t* array = nullptr;
    if (library.b2nd_open(path.c_str(), &array) < 0) return std::nullopt;
    return TakeItems(library, array);
  }

  // Returns true if both libraries made the array, and read the same out of both frames.
  bool ReadTheSame(const Plan& plan) const {
    // Small chunks are stored as they are, if that is shorter. No filter has seen them then, so
    // the means would depend on what each encoder makes of them.
    if (plan.BlockBytes() < 300) return false;
    const std::optional<Buffer> theirs = MakeFrame(genuine_, plan);
    const std::optional<Buffer> mine = MakeFrame(ours_, plan);
    const std::optional<Buffer> expected =
        theirs.has_value() ? ReadFrame(genuine_, *theirs) : std::nullopt;
    if (!mine.has_value()) {
      EXPECT_FALSE(expected.has_value()) << "only C-Blosc2 makes this: " << plan.Text();
      return false;
    }
    EXPECT_TRUE(expected.has_value()) << "C-Blosc2 makes none: " << plan.Text();
    EXPECT_TRUE(ReadFrame(genuine_, *mine) == expected) << plan.Text();
    EXPECT_TRUE(ReadFrame(ours_, *mine) == expected) << plan.Text();
    EXPECT_TRUE(ReadFrame(ours_, *theirs) == expected) << plan.Text();
    if (plan.filters[4] == BLOSC_FILTER_NDCELL) {
      EXPECT_TRUE(expected == plan.items) << plan.Text();
    }
    return true;
  }

  std::string folder_;
  Calls genuine_;
  Calls ours_;
};

TEST_F(ArrayFiltersTest, CellsOfItemsOfAnySizeAreReadByBoth) {
  Random random(41);
  int made = 0;
  for (int i = 0; i < 480; ++i) {
    made += ReadTheSame(MakePlan(random, BLOSC_FILTER_NDCELL, 1 + i % 16)) ? 1 : 0;
  }
  EXPECT_GT(made, 150);
}

TEST_F(ArrayFiltersTest, MeansAreTheSame) {
  Random random(42);
  int made = 0;
  for (int i = 0; i < 400; ++i) {
    made += ReadTheSame(MakePlan(random, BLOSC_FILTER_NDMEAN, i % 2 == 0 ? 4 : 8)) ? 1 : 0;
  }
  EXPECT_GT(made, 100);
}

TEST_F(ArrayFiltersTest, WrongMetasAndTypesizesAreRefusedByBoth) {
  for (const auto& [filter, meta, typesize] :
       std::vector<std::array<int, 3>>{{BLOSC_FILTER_NDCELL, 0, 4},
                                       {BLOSC_FILTER_NDCELL, 255, 4},
                                       {BLOSC_FILTER_NDMEAN, 0, 4},
                                       {BLOSC_FILTER_NDMEAN, 128, 4},
                                       {BLOSC_FILTER_NDMEAN, 255, 8},
                                       {BLOSC_FILTER_NDMEAN, 4, 2}}) {
    Random random(43);
    Plan plan = MakePlan(random, BLOSC_FILTER_NDCELL, typesize);
    plan.filters[4] = static_cast<uint8_t>(filter);
    plan.metas[4] = static_cast<uint8_t>(meta);
    EXPECT_FALSE(MakeFrame(genuine_, plan).has_value()) << plan.Text();
    EXPECT_FALSE(MakeFrame(ours_, plan).has_value()) << plan.Text();
  }
}

TEST_F(ArrayFiltersTest, FilesAndDirectoriesGrow) {
  for (const bool contiguous : {true, false}) {
    std::string path = folder_ + (contiguous ? "/file.b2nd" : "/folder.b2nd");
    Random random(44);
    Plan plan = MakePlan(random, BLOSC_FILTER_NDCELL, 8);
    plan.ndim = 1;
    plan.shape[0] = 1000;
    plan.chunkshape[0] = 300;
    plan.blockshape[0] = 70;
    plan.metas[4] = 4;
    plan.items.resize(8000);
    for (size_t i = 0; i < plan.items.size(); ++i) plan.items[i] = static_cast<uint8_t>(i / 40);
    b2nd_array_t* const array = Make(ours_, plan, path.data(), contiguous);
    ASSERT_NE(array, nullptr);
    const std::array<int64_t, 1> start = {1000};
    const std::array<int64_t, 1> stop = {1500};
    const std::array<int64_t, 1> shape = {500};
    ASSERT_GE(ours_.b2nd_resize(array, stop.data(), nullptr), 0);
    ASSERT_GE(ours_.b2nd_set_slice_cbuffer(plan.items.data(), shape.data(), 4000, start.data(),
                                           stop.data(), array),
              0);
    ours_.b2nd_free(array);
    Buffer expected = plan.items;
    expected.insert(expected.end(), plan.items.begin(), plan.items.begin() + 4000);
    EXPECT_TRUE(ReadFile(genuine_, path) == expected);
    EXPECT_TRUE(ReadFile(ours_, path) == expected);
  }
}

}  // namespace
}  // namespace cairn::blosc2_api
