// Fields of items must decode to what the items hold, however little of a chunk is decoded.
#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "engine/chunk/decoder.h"
#include "engine/chunk/encoder.h"
#include "engine/chunk/special.h"
#include "tests/chunk/test_chunks.h"
#include "tests/support/bytes.h"
#include "tests/support/reverse_executor.h"
#include "tests/support/status.h"

namespace cairn::chunk {
namespace {

using Buffer = std::vector<std::byte>;

struct Where {
  int32_t offset = 0;
  int32_t size = 1;
};

class DecodeFieldsTest : public testing::Test {
 protected:
  const std::vector<std::vector<FilterStage>> pipelines_ = {
      {},
      {{Filter::kShuffle}},
      {{Filter::kBitShuffle}},
      {{Filter::kShuffle, 2}},
      {{Filter::kTruncPrec, 10}, {Filter::kShuffle}},
      {{Filter::kDelta}, {Filter::kShuffle}},
      {{Filter::kShuffle}, {Filter::kByteDelta}}};

  DecodeContext Context() {
    DecodeContext context;
    context.pool = &pool_;
    context.executor = executor_;
    context.max_memory = memory_;
    return context;
  }

  absl::Status Read(const Decoder& decoder, const ItemRange& items, int64_t item_size,
                    std::span<const FieldSpan> fields) {
    return decoder.DecodeFields(items, ItemFields(item_size, fields), workspace_);
  }

  // Reads one field of all items. It has the size of the item.
  absl::StatusOr<Buffer> ReadAll(Bytes chunk, int32_t item_size, Where where) {
    Decoder decoder;
    absl::Status status = decoder.Open(chunk, Context());
    if (!status.ok()) return status;
    const int64_t count = decoder.nbytes() / item_size;
    Buffer values(static_cast<size_t>(count * where.size));
    const FieldSpan field = {.offset = where.offset, .size = where.size, .dst = values};
    status = Read(decoder, {.begin = 0, .first = 0, .count = count}, item_size, {&field, 1});
    if (!status.ok()) return status;
    return values;
  }

  // Several fields of some items of any size: of all of them, and of parts of the chunk.
  void ExpectFieldsRead(Bytes chunk, int32_t item_size) {
    Decoder decoder;
    ASSERT_TRUE(IsOk(decoder.Open(chunk, Context())));
    Buffer whole(static_cast<size_t>(decoder.nbytes()));
    ASSERT_TRUE(IsOk(decoder.Decode(whole)));
    const int64_t nitems = decoder.nbytes() / item_size;
    for (const int64_t begin : {int64_t{0}, int64_t{item_size}, int64_t{1}, nitems / 2 * item_size,
                                int64_t{decoder.nbytes() - item_size}}) {
      const int64_t most = (decoder.nbytes() - begin) / item_size;
      for (const int64_t count : {most, most / 2, int64_t{1}}) {
        SCOPED_TRACE(absl::StrCat(count, " items of ", item_size, " from byte ", begin));
        ASSERT_NO_FATAL_FAILURE(ExpectSomeRead(decoder, whole, begin, count, item_size));
      }
    }
  }

  void ExpectSomeRead(const Decoder& decoder, Bytes whole, int64_t begin, int64_t count,
                      int32_t item_size) {
    constexpr int64_t kBefore = 3;  // values that are in the arrays already
    const int32_t last = item_size - 1;
    std::vector<std::pair<FieldSpan, Buffer>> fields;
    for (const Where where : {Where{0, 1}, Where{last, 1}, Where{0, item_size},
                              Where{last / 2, item_size - last / 2}, Where{last / 3, last / 2}}) {
      if (where.size == 0) continue;
      Buffer values(static_cast<size_t>((kBefore + count) * where.size), std::byte{0xEE});
      fields.emplace_back(FieldSpan{.offset = where.offset, .size = where.size}, std::move(values));
    }
    std::vector<FieldSpan> spans;
    for (auto& [field, values] : fields) {
      field.dst = values;
      spans.push_back(field);
    }
    const ItemRange items = {.begin = begin, .first = kBefore, .count = count};
    ASSERT_TRUE(IsOk(Read(decoder, items, item_size, spans)));
    const Bytes held = whole.subspan(static_cast<size_t>(begin),
                                     static_cast<size_t>(count) * static_cast<size_t>(item_size));
    for (const auto& [field, values] : fields) {
      Buffer expected(static_cast<size_t>(kBefore * field.size), std::byte{0xEE});
      test::AddTo(expected, test::FieldOf(held, static_cast<size_t>(item_size), field));
      ASSERT_EQ(values, expected) << field.size << " bytes at " << field.offset;
    }
  }

  WorkspacePool pool_;
  Workspace workspace_;
  Executor* executor_ = nullptr;
  int64_t memory_ = Limits().max_decode_memory;
};

TEST_F(DecodeFieldsTest, EveryCodecFilterAndSplitReadsAsInAFullDecode) {
  for (const Codec codec : kCodecs) {
    for (const std::vector<FilterStage>& filters : pipelines_) {
      for (const SplitMode split : {SplitMode::kAlways, SplitMode::kNever}) {
        for (const Kind kind : {Kind::kMixed, Kind::kRandom}) {
          SCOPED_TRACE(absl::StrCat("codec ", static_cast<int>(codec), " split ",
                                    static_cast<int>(split), " kind ", static_cast<int>(kind)));
          for (const FilterStage& stage : filters) {
            SCOPED_TRACE(absl::StrCat("filter ", static_cast<int>(stage.filter)));
          }
          CompressionOptions options;
          options.codec = codec;
          options.typesize = 4;
          options.blocksize = 1024;
          options.split_mode = split;
          options.filters = filters;
          // The last block is short, and not even complete items.
          const Buffer chunk = Compress(Payload(kind, 3 * 1024 + 333), options);
          for (const int32_t item_size : {4, 1, 6, 1500}) {
            ASSERT_NO_FATAL_FAILURE(ExpectFieldsRead(chunk, item_size));
          }
        }
      }
    }
  }
}

TEST_F(DecodeFieldsTest, EveryTypesizeReadsAsInAFullDecode) {
  for (const int32_t typesize : {1, 2, 3, 5, 8, 12, 16, 17, 40, 255}) {
    for (const SplitMode split : {SplitMode::kAlways, SplitMode::kNever}) {
      CompressionOptions options;
      options.typesize = typesize;
      options.blocksize = 100 * typesize;
      options.split_mode = split;
      const auto size = static_cast<size_t>(333 * typesize + typesize / 2);
      const Buffer chunk = Compress(Payload(Kind::kMixed, size, typesize), options);
      ASSERT_NO_FATAL_FAILURE(ExpectFieldsRead(chunk, typesize));
    }
  }
}

TEST_F(DecodeFieldsTest, ChunksWithoutBlocksRead) {
  const Buffer payload = Payload(Kind::kRandom, 1000);
  ExpectFieldsRead(MemcpyedChunk(payload, 4), 4);
  ExpectFieldsRead(ZerosChunk(1000), 8);
}

TEST_F(DecodeFieldsTest, SpecialValuesReadAlsoWhereItemsAreNoMultipleOfThem) {
  CompressionOptions options;
  options.typesize = 8;
  const Encoder encoder = *Encoder::Make(options, &pool_);
  const Buffer value = Payload(Kind::kRandom, 8);
  for (const int32_t item_size : {8, 24, 12, 5}) {
    ExpectFieldsRead(*encoder.EncodeSpecial(SpecialValue::kRepeat, 960, value), item_size);
    ExpectFieldsRead(*encoder.EncodeSpecial(SpecialValue::kNans, 960, {}), item_size);
  }
}

TEST_F(DecodeFieldsTest, BlocksOfAnySizeRead) {
  const Buffer payload = Payload(Kind::kMixed, 5000);
  const Bytes all = payload;
  const std::array blocks = {all.first(1000), all.subspan(1000, 13), all.subspan(1013)};
  CompressionOptions options;
  options.typesize = 4;
  const Buffer chunk = CompressBlocks(blocks, options);
  for (const int32_t item_size : {4, 7, 2000}) ExpectFieldsRead(chunk, item_size);
}

TEST_F(DecodeFieldsTest, WithADictionaryFieldsRead) {
  for (const Codec codec : {Codec::kLz4, Codec::kZstd}) {
    CompressionOptions options;
    options.codec = codec;
    options.typesize = 4;
    options.blocksize = 4096;
    options.use_dict = true;
    ExpectFieldsRead(Compress(Payload(Kind::kMixed, 64 << 10), options), 4);
  }
}

TEST_F(DecodeFieldsTest, ThreadsReadTheSame) {
  ReverseExecutor executor(3);
  executor_ = &executor;
  for (const std::vector<FilterStage>& filters : pipelines_) {
    CompressionOptions options;
    options.typesize = 8;
    options.blocksize = 32 << 10;
    options.filters = filters;
    ExpectFieldsRead(Compress(Payload(Kind::kMixed, 600 << 10, 8), options), 8);
  }
  EXPECT_GT(executor.runs(), 0);
}

// Every stream ends with a byte that no run has, so that none is stored as one.
Buffer ItemsOfManyStreams(int32_t typesize, size_t nitems) {
  Buffer items(nitems * static_cast<size_t>(typesize));
  for (size_t i = 0; i < items.size(); ++i) {
    items[i] = static_cast<std::byte>(i / static_cast<size_t>(typesize) / 40);
  }
  return items;
}

TEST_F(DecodeFieldsTest, DamageInTheStreamsOfOtherBytesIsNotSeen) {
  constexpr int32_t kTypesize = 4;
  const Buffer items = ItemsOfManyStreams(kTypesize, 1000);
  CompressionOptions options;
  options.typesize = kTypesize;
  options.blocksize = static_cast<int32_t>(items.size());
  options.split_mode = SplitMode::kAlways;
  Buffer chunk = Compress(items, options);
  const auto first_stream = static_cast<size_t>(Int32At(chunk, 32));
  chunk[first_stream + 4] = std::byte{0xFF};  // a literal longer than the stream
  EXPECT_FALSE(Decompress(chunk).ok());
  EXPECT_TRUE(absl::IsDataLoss(ReadAll(chunk, kTypesize, {.offset = 0}).status()));
  const absl::StatusOr<Buffer> values = ReadAll(chunk, kTypesize, {.offset = 1, .size = 3});
  ASSERT_TRUE(IsOk(values));
  const FieldSpan field = {.offset = 1, .size = 3};
  EXPECT_EQ(*values, test::FieldOf(items, kTypesize, field));
}

CompressionOptions WithColumns(int32_t blocksize) {
  CompressionOptions options;
  options.codec = Codec::kPco;
  options.typesize = 12;
  options.blocksize = blocksize;
  options.filters.clear();
  options.columns = {{.kind = 2, .size = 4},
                     {.kind = 0, .count = 3},
                     {.kind = 3, .size = 2, .count = 2},
                     {.kind = 0}};
  return options;
}

TEST_F(DecodeFieldsTest, ColumnsReadAsInAFullDecode) {
  for (const int32_t blocksize : {1200, 60'000}) {
    const CompressionOptions options = WithColumns(blocksize);
    const Buffer chunk = Compress(Payload(Kind::kMixed, 150'007, 12), options);
    EXPECT_LT(chunk.size(), 100'000U);
    for (const int32_t item_size : {12, 4, 24, 7}) {
      ASSERT_NO_FATAL_FAILURE(ExpectFieldsRead(chunk, item_size));
    }
  }
}

// A codec of bytes would decode its column again for each item.
TEST_F(DecodeFieldsTest, ItemsBesideBytesAreDecodedTogether) {
  const Buffer items = Payload(Kind::kMixed, 15'000, 12);
  const auto gap = [&](const CompressionOptions& options) {
    const Buffer chunk = Compress(items, options);
    Decoder decoder;
    EXPECT_TRUE(IsOk(decoder.Open(chunk, Context())));
    return MaxGap(decoder);
  };
  CompressionOptions options = WithColumns(12'000);
  EXPECT_EQ(gap(options), std::ssize(items));
  options.columns = {{.kind = 2, .size = 4}, {.kind = 2, .size = 4, .count = 2}};
  EXPECT_EQ(gap(options), 256 * 12);
  options.codec = Codec::kBitpack;
  EXPECT_EQ(gap(options), 32 * 12);
  options.columns = {{.kind = 2, .size = 4}, {.kind = 0, .count = 8}};
  EXPECT_EQ(gap(options), std::ssize(items));
}

TEST_F(DecodeFieldsTest, DamageInOtherColumnsIsNotSeen) {
  const Buffer items = Payload(Kind::kCounter, 12'000, 12);
  Buffer chunk = Compress(items, WithColumns(12'000));
  // The version of pco's format ends the head. The description of the first column follows its
  // size.
  const auto stream = static_cast<size_t>(Int32At(chunk, 32)) + 4;
  constexpr size_t kHead = 1 + 2 + 1 + 1 + 4 * 2 + 2;
  ASSERT_EQ(chunk[stream + kHead - 2], std::byte{4});
  chunk[stream + kHead + 1] = std::byte{0xFF};  // a mode that does not exist
  EXPECT_FALSE(Decompress(chunk).ok());
  EXPECT_FALSE(ReadAll(chunk, 12, {.offset = 0, .size = 4}).ok());
  for (const Where where : {Where{4, 3}, Where{7, 4}, Where{9, 2}, Where{11, 1}}) {
    const absl::StatusOr<Buffer> values = ReadAll(chunk, 12, where);
    ASSERT_TRUE(IsOk(values)) << where.offset;
    const FieldSpan field = {.offset = where.offset, .size = where.size};
    EXPECT_EQ(*values, test::FieldOf(items, 12, field)) << where.offset;
  }
}

TEST_F(DecodeFieldsTest, BlocksThatPassTheMemoryLimitAreRefused) {
  constexpr int32_t kBlock = 64 << 10;
  for (const Filter filter : {Filter::kShuffle, Filter::kBitShuffle}) {
    CompressionOptions options;
    options.typesize = 8;
    options.blocksize = kBlock;
    options.filters = {{filter}};
    const Buffer chunk = Compress(Payload(Kind::kMixed, 4 * kBlock, 8), options);
    memory_ = 4 * kBlock;
    EXPECT_TRUE(IsOk(ReadAll(chunk, 8, {.offset = 3})));
    memory_ = 3 * kBlock - 1;
    EXPECT_TRUE(absl::IsResourceExhausted(ReadAll(chunk, 8, {.offset = 3}).status()));
  }
}

TEST_F(DecodeFieldsTest, ItemsPastTheChunkAreRefused) {
  CompressionOptions options;
  options.typesize = 4;
  const Buffer chunk = Compress(Payload(Kind::kMixed, 400), options);
  Decoder decoder;
  ASSERT_TRUE(IsOk(decoder.Open(chunk, Context())));
  Buffer values(101);
  const FieldSpan field = {.offset = 0, .size = 1, .dst = values};
  for (const ItemRange& items : {ItemRange{.begin = 0, .first = 0, .count = 101},
                                 ItemRange{.begin = 4, .first = 0, .count = 100},
                                 ItemRange{.begin = -4, .first = 0, .count = 1},
                                 ItemRange{.begin = 0, .first = 0, .count = int64_t{1} << 62}}) {
    EXPECT_TRUE(absl::IsOutOfRange(Read(decoder, items, 4, {&field, 1}))) << items.count;
  }
}

}  // namespace
}  // namespace cairn::chunk
