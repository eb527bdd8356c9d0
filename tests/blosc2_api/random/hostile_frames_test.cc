// Damages frames that either library makes, and reads and edits them with both. Whatever Cairn
// reads must be what C-Blosc2 reads too, unless that gives an error or does not survive.
//   CAIRN_DIFFERENTIAL_SEED=7, CAIRN_SEARCH_PERCENT=5000, CAIRN_DIFFERENTIAL_RUN=1234
// do what they do for random_calls_test.cc.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "tests/blosc2_api/random/player.h"
#include "tests/support/search.h"
#include "tests/support/temp_dir.h"

namespace cairn::blosc2_api {
namespace {

Buffer BufferOf(const Calls& calls, blosc2_schunk* schunk) {
  uint8_t* cframe = nullptr;
  bool needs_free = false;
  const int64_t size = calls.blosc2_schunk_to_buffer(schunk, &cframe, &needs_free);
  if (size <= 0) return {};
  Buffer buffer(cframe, cframe + size);
  if (needs_free) std::free(cframe);
  return buffer;
}

Buffer FileOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Makes a frame in memory, or one in a file, which Cairn seals.
Buffer MakeFrame(const Calls& calls, Dice& dice, std::string path) {
  blosc2_cparams cparams = MakeParameters(dice);
  const int32_t items = 20 + dice.Below(400);
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  storage.contiguous = true;
  storage.cparams = &cparams;
  const bool in_file = dice.OneIn(3);
  if (in_file) storage.urlpath = path.data();
  blosc2_schunk* const schunk = calls.blosc2_schunk_new(&storage);
  Buffer layer = MakePayload(dice, 20);
  if (dice.OneIn(2)) calls.blosc2_meta_add(schunk, "meta", layer.data(), 20);
  const size_t size = static_cast<size_t>(items * cparams.typesize);
  for (int i = dice.Below(5); i > 0; --i) {
    const Buffer payload = MakePayload(dice, size);
    calls.blosc2_schunk_append_buffer(schunk, payload.data(), static_cast<int32_t>(size));
  }
  if (dice.OneIn(2)) calls.blosc2_vlmeta_add(schunk, "vlmeta", layer.data(), 20, nullptr);
  Buffer frame = BufferOf(calls, schunk);
  calls.blosc2_schunk_free(schunk);
  return in_file ? FileOf(path) : frame;
}

Buffer MakeArrayFrame(const Calls& calls, Dice& dice) {
  blosc2_cparams cparams = MakeParameters(dice);
  cparams.blocksize = 0;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  storage.contiguous = true;
  storage.cparams = &cparams;
  const int64_t shape[2] = {1 + dice.Below(30), 1 + dice.Below(30)};
  const int32_t chunkshape[2] = {1 + dice.Below(30), 1 + dice.Below(30)};
  const int32_t blockshape[2] = {1 + dice.Below(chunkshape[0]), 1 + dice.Below(chunkshape[1])};
  b2nd_context_t* const context =
      calls.b2nd_create_ctx(&storage, 2, shape, chunkshape, blockshape, nullptr, 0, nullptr, 0);
  const Buffer items =
      MakePayload(dice, static_cast<size_t>(shape[0] * shape[1] * cparams.typesize));
  b2nd_array_t* array = nullptr;
  calls.b2nd_from_cbuffer(context, &array, items.data(), static_cast<int64_t>(items.size()));
  calls.b2nd_free_ctx(context);
  Buffer frame = BufferOf(calls, array->sc);
  calls.b2nd_free(array);
  return frame;
}

void Damage(Buffer& frame, Dice& dice) {
  constexpr uint8_t kBytes[] = {0, 1, 0x7f, 0x80, 0xff};
  for (int i = dice.Below(3); i >= 0; --i) {
    // Headers and trailers say more than chunks do.
    const size_t part = std::min<size_t>(frame.size(), 200);
    size_t at = dice.Below(frame.size());
    if (dice.OneIn(3)) at = dice.Below(part);
    if (dice.OneIn(3)) at = frame.size() - part + dice.Below(part);
    switch (dice.Below(5)) {
      case 0:
        frame[at] ^= static_cast<uint8_t>(1 << dice.Below(8));
        break;
      case 1:
        frame[at] = dice.Byte();
        break;
      case 2:
        frame[at] = kBytes[dice.Below(5)];
        break;
      case 3:
        for (size_t k = 0; k < 8 && at + k < frame.size(); ++k)
          frame[at + k] = kBytes[dice.Below(5)];
        break;
      default:
        if (dice.OneIn(3)) frame.resize(1 + dice.Below(frame.size()));
    }
  }
}

// Edits an array of few chunks.
void EditArray(const Calls& calls, blosc2_schunk* schunk) {
  b2nd_array_t* array = nullptr;
  if (calls.b2nd_from_schunk(schunk, &array) < 0) return;
  const int64_t size = array->extchunknitems * schunk->typesize;
  if (array->ndim == 2 && array->nitems > 0 && schunk->nchunks < 1000 && size < (1 << 20)) {
    const int64_t start[2] = {array->shape[0] - 1, 0};
    const int64_t extent[2] = {1, 1};
    const int64_t stop[2] = {array->shape[0], 1};
    const Buffer item(static_cast<size_t>(schunk->typesize), 5);
    calls.b2nd_set_slice_cbuffer(item.data(), extent, schunk->typesize, start, stop, array);
    int64_t first[2] = {0, 0};
    int64_t* chunks = nullptr;
    calls.blosc2_get_slice_nchunks(schunk, first, array->shape, &chunks);
    std::free(chunks);
    const int64_t shape[2] = {array->shape[0] / 2, array->shape[1] + 1};
    if (array->shape[0] < 1000 && array->shape[1] < 1000) calls.b2nd_resize(array, shape, nullptr);
  }
  array->sc = nullptr;
  calls.b2nd_free(array);
}

// Edits a super-chunk as far as it lets itself be edited.
void Edit(const Calls& calls, blosc2_schunk* schunk) {
  EditArray(calls, schunk);
  Buffer layer(40, 3);
  calls.blosc2_vlmeta_add(schunk, "another", layer.data(), 40, nullptr);
  if (schunk->nmetalayers > 0) {
    calls.blosc2_meta_update(schunk, schunk->metalayers[0]->name, layer.data(), 1);
  }
  if (schunk->chunksize > 0 && schunk->chunksize < (1 << 20) && schunk->typesize > 0) {
    const Buffer payload(static_cast<size_t>(schunk->chunksize), 5);
    calls.blosc2_schunk_append_buffer(schunk, payload.data(), schunk->chunksize);
  }
  calls.blosc2_schunk_delete_chunk(schunk, 0);
  BufferOf(calls, schunk);
}

void Read(const Calls& calls, Buffer frame, int way, const std::string& folder, bool edits,
          Transcript& transcript) {
  blosc2_schunk* schunk = nullptr;
  if (way == 0) {
    const std::string path = folder + "/frame";
    FILE* const file = std::fopen(path.c_str(), "wb");
    std::fwrite(frame.data(), 1, frame.size(), file);
    std::fclose(file);
    schunk = calls.blosc2_schunk_open(path.c_str());
  } else {
    schunk =
        calls.blosc2_schunk_from_buffer(frame.data(), static_cast<int64_t>(frame.size()), way == 1);
    if (schunk != nullptr) calls.blosc2_schunk_avoid_cframe_free(schunk, true);
  }
  if (schunk == nullptr) return;
  SayContent(calls, schunk, transcript);
  if (edits) Edit(calls, schunk);
  calls.blosc2_schunk_free(schunk);
}

// Returns what each line of content says, without errors.
std::map<std::string, std::string> ContentOf(const Lines& lines) {
  std::map<std::string, std::string> content;
  for (const std::string& line : lines) {
    const size_t colon = line.find(": ");
    if (colon != std::string::npos && line.find(" bytes ") != std::string::npos) {
      content.emplace(line.substr(0, colon), line.substr(colon));
    }
  }
  return content;
}

TEST(HostileFramesTest, AreRefusedOrReadAlike) {
  Calls genuine;
  Calls ours;
  ASSERT_TRUE(genuine.Load(std::getenv("GENUINE_BLOSC2")));
  ASSERT_TRUE(ours.Load(std::getenv("CAIRN_BLOSC2_API")));
  const uint64_t only = test::NumberIn("CAIRN_DIFFERENTIAL_RUN", 0);
  const uint64_t first = only != 0 ? only : test::NumberIn("CAIRN_DIFFERENTIAL_SEED", 1);
  const int64_t runs = only != 0 ? 1 : test::SearchRuns(200);
  const uint64_t end = first + static_cast<uint64_t>(runs);
  int64_t read = 0;
  for (uint64_t seed = first; seed < end; ++seed) {
    Dice dice(seed);
    const Calls& maker = dice.OneIn(2) ? genuine : ours;
    const test::TempDir folder;
    Buffer frame =
        dice.OneIn(2) ? MakeFrame(maker, dice, folder.Path("made")) : MakeArrayFrame(maker, dice);
    const Buffer intact = frame;
    Damage(frame, dice);
    const int way = dice.Below(3);
    const Lines got = InChild(
        [&](Transcript& transcript) { Read(ours, frame, way, folder.path(), true, transcript); });
    if (!got.empty() && got.back().starts_with("ended")) {
      ADD_FAILURE() << "seed " << seed << ": " << got.back();
    }
    const Lines expected = InChild([&](Transcript& transcript) {
      Read(genuine, frame, way, folder.path(), false, transcript);
    });
    const auto theirs = ContentOf(expected);
    for (const auto& [what, content] : ContentOf(got)) {
      const auto same = theirs.find(what);
      if (same == theirs.end()) continue;
      read += 1;
      EXPECT_EQ(content, same->second) << "seed " << seed << " " << what;
    }
    if (only != 0) {
      std::printf("%zd bytes of %zd\n", std::ssize(frame), std::ssize(intact));
      for (size_t i = 0; i < frame.size(); ++i) {
        if (frame[i] != intact[i])
          std::printf("byte %zu: %02x, was %02x\n", i, frame[i], intact[i]);
      }
      for (const std::string& line : got) std::printf("%s\n", line.c_str());
      for (const std::string& line : expected) std::printf("C-Blosc2: %s\n", line.c_str());
    }
  }
  EXPECT_TRUE(only != 0 || read > runs) << read;
}

}  // namespace
}  // namespace cairn::blosc2_api
