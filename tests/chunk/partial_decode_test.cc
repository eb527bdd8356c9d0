// A part of a block must read as the same bytes of the whole block, however little of it is
// decoded.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "engine/chunk/decoder.h"
#include "tests/chunk/test_chunks.h"
#include "tests/support/status.h"

namespace cairn::chunk {
namespace {

struct Case {
  Codec codec = Codec::kLz4;
  std::vector<FilterStage> filters;
  SplitMode split = SplitMode::kAuto;
  int32_t typesize = 4;
};

const std::vector<std::vector<FilterStage>> kPipelines = {
    {},
    {{Filter::kShuffle}},
    {{Filter::kBitShuffle}},
    {{Filter::kShuffle, 2}},
    {{Filter::kTruncPrec, 10}, {Filter::kShuffle}},
    {{Filter::kDelta}, {Filter::kShuffle}},
    {{Filter::kShuffle}, {Filter::kByteDelta}}};

std::string NameOf(const Case& one) {
  std::string name = absl::StrCat("codec ", static_cast<int>(one.codec), " split ",
                                  static_cast<int>(one.split), " typesize ", one.typesize);
  for (const FilterStage& stage : one.filters) {
    absl::StrAppend(&name, " filter ", static_cast<int>(stage.filter), "/", stage.meta);
  }
  return name;
}

// Every item and some ranges of the chunk, each decoded alone.
void ExpectEveryPartReads(Bytes chunk, int32_t typesize) {
  WorkspacePool pool;
  DecodeContext context;
  context.pool = &pool;
  Decoder decoder;
  ASSERT_TRUE(IsOk(decoder.Open(chunk, context)));
  std::vector<std::byte> whole(static_cast<size_t>(decoder.nbytes()));
  ASSERT_TRUE(IsOk(decoder.Decode(whole)));
  Workspace workspace;
  const auto expect = [&](int64_t begin, size_t size) {
    std::vector<std::byte> part(size, std::byte{0xEE});
    ASSERT_TRUE(IsOk(decoder.DecodeRange(begin, part, workspace))) << begin;
    ASSERT_TRUE(std::ranges::equal(part, Bytes(whole).subspan(static_cast<size_t>(begin), size)))
        << begin << " + " << size;
  };
  const int64_t end = std::ssize(whole);
  for (int64_t at = 0; at + typesize <= end; at += typesize) {
    expect(at, static_cast<size_t>(typesize));
  }
  for (int64_t at = 0; at < end; at += 37) {
    for (const int64_t size : {1, 3, 100, 700}) {
      if (at + size <= end) expect(at, static_cast<size_t>(size));
    }
  }
}

TEST(PartialDecodeTest, EveryItemReadsAsInAFullDecode) {
  for (const Codec codec : kCodecs) {
    for (const std::vector<FilterStage>& filters : kPipelines) {
      for (const SplitMode split : {SplitMode::kAlways, SplitMode::kNever}) {
        for (const Kind kind : {Kind::kMixed, Kind::kCounter, Kind::kRandom}) {
          const Case one{.codec = codec, .filters = filters, .split = split};
          SCOPED_TRACE(absl::StrCat(NameOf(one), " kind ", static_cast<int>(kind)));
          CompressionOptions options;
          options.codec = codec;
          options.typesize = one.typesize;
          options.blocksize = 1024;
          options.split_mode = split;
          options.filters = filters;
          // The last block is short, and not even complete items.
          const auto chunk = Compress(Payload(kind, 3 * 1024 + 333, one.typesize), options);
          ASSERT_NO_FATAL_FAILURE(ExpectEveryPartReads(chunk, one.typesize));
        }
      }
    }
  }
}

TEST(PartialDecodeTest, EveryTypesizeReadsAsInAFullDecode) {
  for (const int32_t typesize : {1, 2, 3, 5, 8, 12, 16, 17, 64}) {
    for (const Filter filter : {Filter::kShuffle, Filter::kBitShuffle}) {
      SCOPED_TRACE(absl::StrCat("typesize ", typesize, " filter ", static_cast<int>(filter)));
      CompressionOptions options;
      options.typesize = typesize;
      options.blocksize = 100 * typesize;
      options.split_mode = SplitMode::kAlways;
      options.filters = {{filter}};
      const auto chunk =
          Compress(Payload(Kind::kMixed, static_cast<size_t>(333 * typesize), typesize), options);
      ASSERT_NO_FATAL_FAILURE(ExpectEveryPartReads(chunk, typesize));
    }
  }
}

TEST(PartialDecodeTest, WithADictionaryPartsReadAsInAFullDecode) {
  CompressionOptions options;
  options.typesize = 4;
  options.blocksize = 4096;
  options.use_dict = true;
  const auto chunk = Compress(Payload(Kind::kMixed, 64 << 10), options);
  ExpectEveryPartReads(chunk, 4096);
}

// The damage lies before the part, and no part may be invented.
TEST(PartialDecodeTest, DamageInWhatAPartNeedsIsFoundOrHarmless) {
  CompressionOptions options;
  options.typesize = 4;
  options.blocksize = 1024;
  const std::vector<std::byte> good = Compress(Payload(Kind::kMixed, 4096), options);
  WorkspacePool pool;
  DecodeContext context;
  context.pool = &pool;
  for (size_t at = 32; at < good.size(); ++at) {
    std::vector<std::byte> chunk = good;
    chunk[at] ^= std::byte{0xFF};
    Decoder decoder;
    if (!decoder.Open(chunk, context).ok()) continue;
    std::vector<std::byte> item(4);
    for (int64_t begin = 0; begin < 4096; begin += 508) {
      const absl::Status status = decoder.DecodeRange(begin, item);
      EXPECT_TRUE(status.ok() || absl::IsDataLoss(status)) << at << ": " << status;
    }
  }
}

}  // namespace
}  // namespace cairn::chunk
