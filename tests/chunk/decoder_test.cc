#include "engine/chunk/decoder.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "tests/chunk/test_chunks.h"
#include "tests/support/hex.h"
#include "tests/support/status.h"

namespace cairn::chunk {
namespace {

CompressionOptions Options(Codec codec, int32_t typesize, int32_t blocksize,
                           std::vector<FilterStage> filters) {
  CompressionOptions options;
  options.codec = codec;
  options.typesize = typesize;
  options.blocksize = blocksize;
  options.filters = std::move(filters);
  return options;
}

const std::vector<FilterStage> kDeltaShuffle = {{Filter::kDelta}, {Filter::kShuffle}};

absl::StatusOr<Decoder> Make(Bytes chunk, WorkspacePool* pool) {
  DecodeContext context;
  context.pool = pool;
  absl::StatusOr<Decoder> decoder = Decoder();
  if (absl::Status status = decoder->Open(chunk, context); !status.ok()) decoder = status;
  return decoder;
}

// The bytes [begin, begin + size) of the chunk.
absl::StatusOr<std::vector<std::byte>> Range(Bytes chunk, int64_t begin, size_t size) {
  WorkspacePool pool;
  const auto decoder = Make(chunk, &pool);
  if (!decoder.ok()) return decoder.status();
  std::vector<std::byte> out(size);
  const absl::Status status = decoder->DecodeRange(begin, out);
  if (!status.ok()) return status;
  return out;
}

// Chunks of every form, and the payload of all of them.
struct Form {
  const char* name;
  std::vector<std::byte> chunk;
};

const std::vector<std::byte>& FormPayload() {
  static const auto& payload = *new std::vector<std::byte>(Payload(Kind::kMixed, 5003, 4));
  return payload;
}

std::vector<Form> Forms() {
  const std::vector<std::byte>& payload = FormPayload();
  std::vector<Form> forms;
  const auto shuffle = std::vector<FilterStage>{{Filter::kShuffle}};
  forms.push_back({"split", Compress(payload, Options(Codec::kLz4, 4, 512, shuffle))});
  forms.push_back({"plain blocks", Compress(payload, Options(Codec::kZstd, 1, 700, {}))});
  forms.push_back({"delta", Compress(payload, Options(Codec::kBloscLz, 4, 512, kDeltaShuffle))});
  CompressionOptions options = Options(Codec::kLz4, 4, 512, shuffle);
  options.use_dict = true;
  options.split_mode = SplitMode::kNever;
  forms.push_back({"dictionary", Compress(payload, options)});
  options.use_dict = false;
  options.clevel = 0;
  forms.push_back({"copy", Compress(payload, options)});
  options = Options(Codec::kZlib, 4, 512, {{Filter::kBitShuffle}});
  options.format = ChunkFormat::kBlosc1;
  forms.push_back({"Blosc1", Compress(payload, options)});
  const Bytes all = payload;
  const Bytes blocks[] = {all.first(1), all.subspan(1, 2000), all.subspan(2001, 3), all.last(2999)};
  forms.push_back({"vlblocks", CompressBlocks(blocks, Options(Codec::kLz4, 4, 0, kDeltaShuffle))});
  forms.push_back({"repeat", *MakeSpecialChunk(SpecialValue::kRepeat, 5003, payload,
                                               Options(Codec::kLz4, 1, 0, {}))});
  return forms;
}

TEST(DecoderTest, GivesAnyRangeAsTheChunkHasIt) {
  std::mt19937 random(3);
  const std::vector<std::byte>& payload = FormPayload();
  for (const Form& form : Forms()) {
    EXPECT_EQ(Decoded(form.chunk), payload) << form.name;
    for (int i = 0; i < 500; ++i) {
      const size_t begin = random() % (payload.size() + 1);
      const size_t size = random() % (std::min<size_t>(payload.size() - begin, 1500) + 1);
      const auto range = Range(form.chunk, static_cast<int64_t>(begin), size);
      ASSERT_TRUE(IsOk(range));
      ASSERT_TRUE(*range == ToVector(Bytes(payload).subspan(begin, size)))
          << form.name << ": " << size << " bytes at " << begin;
    }
  }
}

TEST(DecoderTest, RefusesRangesOutsideOfThePayload) {
  for (const Form& form : Forms()) {
    for (const auto& [begin, size] : {std::pair<int64_t, size_t>(-1, 1),
                                      {5003, 1},
                                      {5000, 4},
                                      {5004, 0},
                                      {INT64_MAX, 1},
                                      {INT64_MIN, 1}}) {
      EXPECT_TRUE(Fails(Range(form.chunk, begin, size), absl::StatusCode::kOutOfRange, "of 5003"))
          << form.name << " " << begin;
    }
  }
}

TEST(DecoderTest, WantsABufferOfThePayloadsSize) {
  WorkspacePool pool;
  const std::vector<Form> forms = Forms();
  const auto decoder = Make(forms[0].chunk, &pool);
  std::vector<std::byte> dst(5004);
  for (const size_t size : {0, 5002, 5004}) {
    EXPECT_TRUE(Fails(decoder->Decode(MutableBytes(dst).first(size)),
                      absl::StatusCode::kInvalidArgument, "decodes to 5003 bytes"));
  }
}

// Makes the first csize of a block nonsense.
std::vector<std::byte> WithDamagedBlock(std::vector<std::byte> chunk, size_t block) {
  const auto start = static_cast<size_t>(Int32At(chunk, 32 + 4 * block));
  SetInt32(chunk, start, INT32_MAX);
  return chunk;
}

TEST(DecoderTest, DecodesOnlyTheBlocksOfTheRange) {
  const std::vector<std::byte> payload = Payload(Kind::kCounter, 4096, 4);
  const auto chunk = Compress(payload, Options(Codec::kLz4, 4, 512, {{Filter::kShuffle}}));
  for (size_t bad = 0; bad < 8; ++bad) {
    const std::vector<std::byte> damaged = WithDamagedBlock(chunk, bad);
    EXPECT_TRUE(IsDamage(Decompress(damaged), "chunk stream: content"));
    for (size_t block = 0; block < 8; ++block) {
      const auto range = Range(damaged, static_cast<int64_t>(512 * block + 5), 500);
      ASSERT_EQ(range.ok(), block != bad) << range.status();
      if (block == bad) continue;
      EXPECT_EQ(*range, ToVector(Bytes(payload).subspan(512 * block + 5, 500)));
    }
  }
}

TEST(DecoderTest, NeedsBlockZeroForEveryRangeOfDelta) {
  const std::vector<std::byte> payload = Payload(Kind::kCounter, 4096, 4);
  const auto chunk = Compress(payload, Options(Codec::kLz4, 4, 512, kDeltaShuffle));
  EXPECT_TRUE(IsDamage(Range(WithDamagedBlock(chunk, 0), 2000, 10), "chunk stream"));
  EXPECT_TRUE(IsOk(Range(WithDamagedBlock(chunk, 1), 0, 512)));
  EXPECT_EQ(*Range(WithDamagedBlock(chunk, 1), 2000, 10),
            ToVector(Bytes(payload).subspan(2000, 10)));
}

TEST(DecoderTest, FindsTheBlockOfAPosition) {
  WorkspacePool pool;
  const std::vector<Form> forms = Forms();
  const auto split = Make(forms[0].chunk, &pool);
  EXPECT_EQ(split->nblocks(), 10);
  EXPECT_EQ(split->BlockAt(511), 0);
  EXPECT_EQ(split->BlockAt(512), 1);
  EXPECT_EQ(split->BlockAt(5002), 9);
  EXPECT_EQ(split->PlaceOf(9)->nbytes, 5003 - 9 * 512);
  const auto vlblocks = Make(forms[6].chunk, &pool);
  EXPECT_EQ(vlblocks->BlockAt(0), 0);
  EXPECT_EQ(vlblocks->BlockAt(1), 1);
  EXPECT_EQ(vlblocks->BlockAt(2000), 1);
  EXPECT_EQ(vlblocks->BlockAt(2003), 2);
  EXPECT_EQ(vlblocks->BlockAt(2004), 3);
  EXPECT_EQ(vlblocks->PlaceOf(3)->begin, 2004);
}

TEST(DecoderTest, LeavesOutWhatFollowsTheChunk) {
  for (Form& form : Forms()) {
    WorkspacePool pool;
    const size_t cbytes = form.chunk.size();
    form.chunk.resize(cbytes + 100, std::byte{0xAB});
    const auto decoder = Make(form.chunk, &pool);
    EXPECT_EQ(decoder->bytes().size(), cbytes);
    EXPECT_EQ(Decoded(form.chunk), FormPayload()) << form.name;
  }
}

// A chunk of 16 bytes in one block of the given streams, version 5.
std::vector<std::byte> OneBlock(std::string_view flags, std::string_view streams) {
  std::vector<std::byte> chunk =
      Hex("05 01 15 04  10 00 00 00  10 00 00 00  00 00 00 00"
          "00 00 00 00 00 00  00 00  00 00 00 00 00 00  00 00  24 00 00 00");
  chunk[2] = Hex(flags)[0];
  const std::vector<std::byte> tail = Hex(streams);
  chunk.insert(chunk.end(), tail.begin(), tail.end());
  SetInt32(chunk, 12, static_cast<int64_t>(chunk.size()));
  return chunk;
}

TEST(DecoderTest, ReadsEveryFormOfAStream) {
  // Unsplit, and split into four streams of four bytes.
  EXPECT_EQ(ToHex(Decoded(OneBlock("15", "00 00 00 00"))), std::string(32, '0'));
  EXPECT_EQ(ToHex(Decoded(OneBlock("15", "f9 ff ff ff 01"))), "07070707070707070707070707070707");
  EXPECT_EQ(ToHex(Decoded(OneBlock("15", "01 ff ff ff 01"))), std::string(32, 'f'));
  EXPECT_EQ(ToHex(Decoded(OneBlock("15", "f9 ff ff ff 03"))), "07070707070707070707070707070707")
      << "only bit 0 of the token counts";
  EXPECT_EQ(ToHex(Decoded(OneBlock("15", "10 00 00 00 000102030405060708090a0b0c0d0e0f"))),
            "000102030405060708090a0b0c0d0e0f");
  EXPECT_EQ(ToHex(Decoded(OneBlock("05",
                                   "00 00 00 00  04 00 00 00 01020304"
                                   "ff ff ff ff 01  00 00 00 00"))),
            "00000000010203040101010100000000");
}

TEST(DecoderTest, RefusesStreamsThatAreNone) {
  EXPECT_TRUE(IsDamage(Decompress(OneBlock("15", "f9 ff ff ff 00")), "chunk stream: csize"));
  EXPECT_TRUE(IsDamage(Decompress(OneBlock("15", "f9 ff ff ff 02")), "chunk stream: csize"));
  EXPECT_TRUE(IsDamage(Decompress(OneBlock("15", "00 ff ff ff 01")), "-256 with token 1"));
  EXPECT_TRUE(IsDamage(Decompress(OneBlock("15", "00 00 00 80 01")), "-2147483648 with token 1"));
  EXPECT_TRUE(IsDamage(Decompress(OneBlock("15", "f9 ff ff ff")), "chunk stream: token"));
  EXPECT_TRUE(IsDamage(Decompress(OneBlock("15", "00 00 00")), "chunk stream: csize"));
  EXPECT_TRUE(IsDamage(Decompress(OneBlock("15", "10 00 00 00 00")), "chunk stream: content"));
  EXPECT_TRUE(IsDamage(Decompress(OneBlock("15", "ff ff ff 7f 00")), "chunk stream: content"));
  EXPECT_TRUE(IsDamage(Decompress(OneBlock("15", "02 00 00 00 21 00")), "chunk block 0, stream 0"));
  EXPECT_TRUE(IsDamage(Decompress(OneBlock("05", "00000000 00000000 00000000 04000000 01")),
                       "chunk stream: content"));
}

TEST(DecoderTest, RefusesPositionsOutsideOfTheBlocks) {
  for (const int64_t start : {int64_t{0}, int64_t{32}, int64_t{35}, int64_t{41}, int64_t{INT32_MAX},
                              int64_t{-1}, int64_t{INT32_MIN}}) {
    std::vector<std::byte> chunk = OneBlock("15", "f9 ff ff ff 01");
    SetInt32(chunk, 32, start);
    EXPECT_TRUE(IsDamage(Decompress(chunk), "chunk blocks: position of block 0")) << start;
  }
}

TEST(DecoderTest, ReadsBlocksInAnyPhysicalOrder) {
  const std::vector<std::byte> payload = Payload(Kind::kMixed, 4000, 4);
  const auto chunk = Compress(payload, Options(Codec::kLz4, 4, 512, kDeltaShuffle));
  const size_t nblocks = 8;
  std::vector<std::byte> reversed(chunk.begin(), chunk.begin() + 32 + 4 * nblocks);
  size_t end = chunk.size();
  for (size_t block = nblocks; block-- > 0;) {
    const auto start = static_cast<size_t>(Int32At(chunk, 32 + 4 * block));
    SetInt32(reversed, 32 + 4 * block, static_cast<int64_t>(reversed.size()));
    const Bytes stored = Bytes(chunk).subspan(start, end - start);
    reversed.insert(reversed.end(), stored.begin(), stored.end());
    end = start;
  }
  EXPECT_EQ(Decoded(reversed), payload);
}

}  // namespace
}  // namespace cairn::chunk
