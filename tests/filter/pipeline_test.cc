#include "engine/filter/pipeline.h"

#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include <gtest/gtest.h>

#include "engine/filter/filters.h"
#include "tests/filter/test_blocks.h"
#include "tests/support/status.h"

namespace cairn::filter {
namespace {

using Stages = std::vector<FilterStage>;

PipelineParams Params(const Stages& stages, int32_t typesize) {
  PipelineParams params;
  std::copy(stages.begin(), stages.end(), params.slots.begin());
  params.typesize = typesize;
  return params;
}

absl::StatusOr<Pipeline> Make(const PipelineParams& params) {
  absl::StatusOr<Pipeline> pipeline = Pipeline();
  if (absl::Status status = pipeline->SetUp(params); !status.ok()) pipeline = status;
  return pipeline;
}

absl::Status MakeStatus(const PipelineParams& params) { return Make(params).status(); }

// Runs the pipeline on a block, in buffers of exactly the block's size.
std::vector<std::byte> Forward(const Pipeline& pipeline, Bytes src, Bytes reference) {
  Block dst = RandomBlock(src.size(), 20, 1);
  Block scratch = RandomBlock(pipeline.active() > 1 ? src.size() : 0, 21, 3);
  EXPECT_TRUE(IsOk(pipeline.Forward(src, reference, dst, scratch)));
  return ToVector(dst);
}

std::vector<std::byte> Backward(const Pipeline& pipeline, std::vector<std::byte> src,
                                Bytes reference) {
  Block dst = RandomBlock(src.size(), 22, 5);
  Block scratch = RandomBlock(pipeline.active() > 1 ? src.size() : 0, 23, 7);
  EXPECT_TRUE(IsOk(pipeline.Backward(src, reference, dst, scratch)));
  return ToVector(dst);
}

// Filters all blocks of a chunk and back, the last one shorter.
void ExpectRoundTrip(const PipelineParams& params, size_t block_size) {
  const auto pipeline = Make(params);
  ASSERT_TRUE(IsOk(pipeline));
  const Block chunk = RandomBlock(2 * block_size + block_size / 3, 24);
  const std::vector<std::byte> before = ToVector(chunk);
  const Bytes all = chunk;
  std::vector<std::byte> decoded_first;
  for (size_t first = 0; first < all.size(); first += block_size) {
    const Bytes block = all.subspan(first, std::min(block_size, all.size() - first));
    const Bytes reference = first == 0 ? Bytes() : all.first(block_size);
    const std::vector<std::byte> filtered = Forward(*pipeline, block, reference);
    const std::vector<std::byte> decoded = Backward(*pipeline, filtered, decoded_first);
    EXPECT_EQ(decoded, ToVector(block)) << "block at " << first;
    if (first == 0) decoded_first = decoded;
  }
  EXPECT_EQ(ToVector(chunk), before) << "Forward changed its source";
}

class AddMeta final : public FilterPlugin {
 public:
  absl::Status Forward(Bytes src, MutableBytes dst, const PluginCall& call) const override {
    for (size_t i = 0; i < src.size(); ++i) {
      dst[i] = static_cast<std::byte>(std::to_integer<int>(src[i]) + call.meta + call.typesize);
    }
    return absl::OkStatus();
  }
  absl::Status Backward(Bytes src, MutableBytes dst, const PluginCall& call) const override {
    if (call.meta == 99) return absl::DataLossError("99");
    for (size_t i = 0; i < src.size(); ++i) {
      dst[i] = static_cast<std::byte>(std::to_integer<int>(src[i]) - call.meta - call.typesize);
    }
    return absl::OkStatus();
  }
};

constexpr FilterStage kShuffle = {.filter = Filter::kShuffle};
constexpr FilterStage kBitShuffle = {.filter = Filter::kBitShuffle};
constexpr FilterStage kDelta = {.filter = Filter::kDelta};
constexpr FilterStage kByteDelta = {.filter = Filter::kByteDelta};
constexpr FilterStage kNone = {};

TEST(PipelineTest, PipelinesOfAnyLengthRoundTrip) {
  const std::vector<Stages> pipelines = {
      {kShuffle},
      {kNone, kNone, kNone, kNone, kNone, kBitShuffle},
      {kDelta},
      {kDelta, kShuffle},
      {kShuffle, kDelta},
      {kDelta, kShuffle, kByteDelta},
      {kShuffle, kDelta, kByteDelta},
      {kShuffle, kByteDelta, kDelta},
      {kBitShuffle, kShuffle, kDelta, kByteDelta},
      {kShuffle, kByteDelta, kBitShuffle, kDelta, kShuffle},
      {kDelta, kShuffle, kDelta, kBitShuffle, kByteDelta, kDelta},
      {{.filter = Filter::kShuffle, .meta = 5}, {.filter = Filter::kByteDelta, .meta = 5}, kDelta},
  };
  for (const Stages& stages : pipelines) {
    for (const int typesize : kTypesizes) {
      for (const size_t block_size : {32, 1000, 1021, 8192}) {
        SCOPED_TRACE(testing::Message()
                     << stages.size() << " stages, the first " << static_cast<int>(stages[0].filter)
                     << ", typesize " << typesize << ", block size " << block_size);
        ExpectRoundTrip(Params(stages, typesize), block_size);
      }
    }
  }
}

TEST(PipelineTest, StagesAreAppliedInOrder) {
  const auto pipeline = Make(Params({kShuffle, kBitShuffle}, 4));
  ASSERT_TRUE(IsOk(pipeline));
  const Block src = RandomBlock(1000, 25);
  Block shuffled(1000);
  Block expected(1000);
  Shuffle(4, src, shuffled);
  BitShuffle(4, shuffled, expected);
  EXPECT_EQ(Forward(*pipeline, src, {}), ToVector(expected));
}

TEST(PipelineTest, DeltaRefersToPlainDataWhereverItStands) {
  const auto pipeline = Make(Params({kShuffle, kDelta}, 4));
  ASSERT_TRUE(IsOk(pipeline));
  EXPECT_TRUE(pipeline->uses_reference());
  const Block src = RandomBlock(100, 26);
  const Block reference = RandomBlock(100, 27);
  Block expected(100);
  Shuffle(4, src, expected);
  for (size_t i = 0; i < 100; ++i) expected.bytes()[i] ^= reference.bytes()[i];
  EXPECT_EQ(Forward(*pipeline, src, reference), ToVector(expected));
}

TEST(PipelineTest, StagesThatChangeNothingAreDropped) {
  const std::vector<std::byte> block = ToVector(RandomBlock(100, 28));
  EXPECT_EQ(Pipeline().active(), 0);
  EXPECT_EQ(Backward(Pipeline(), block, {}), block);
  const auto none = Make(Params({}, 4));
  ASSERT_TRUE(IsOk(none));
  EXPECT_EQ(none->active(), 0);
  EXPECT_FALSE(none->uses_reference());
  const auto identities = Make(Params({{.filter = Filter::kShuffle, .meta = 1},
                                       {.filter = Filter::kIntTrunc, .meta = 32},
                                       {.filter = Filter::kTruncPrec, .meta = 23}},
                                      4));
  ASSERT_TRUE(IsOk(identities));
  EXPECT_EQ(identities->active(), 0);
  EXPECT_EQ(Make(Params({kShuffle}, 1))->active(), 0);
  EXPECT_EQ(Make(Params({{.filter = Filter::kShuffle, .meta = 2}}, 1))->active(), 1);
  const Block src = RandomBlock(50, 28);
  EXPECT_EQ(Forward(*none, src, {}), ToVector(src));
  EXPECT_EQ(Backward(*none, ToVector(src), {}), ToVector(src));
}

TEST(PipelineTest, MetaOfShuffleIsItsWidth) {
  const auto pipeline = Make(Params({{.filter = Filter::kShuffle, .meta = 6}}, 4));
  ASSERT_TRUE(IsOk(pipeline));
  const Block src = RandomBlock(1000, 29);
  Block expected(1000);
  Shuffle(6, src, expected);
  EXPECT_EQ(Forward(*pipeline, src, {}), ToVector(expected));
}

TEST(PipelineTest, LossyStagesLoseOnlyWhatTheyShould) {
  for (const Stages& stages :
       {Stages{{.filter = Filter::kIntTrunc, .meta = 24}},
        Stages{{.filter = Filter::kIntTrunc, .meta = 24}, kShuffle},
        Stages{kDelta, {.filter = Filter::kIntTrunc, .meta = 24}, kShuffle, kBitShuffle}}) {
    const auto pipeline = Make(Params(stages, 4));
    ASSERT_TRUE(IsOk(pipeline));
    Block src = RandomBlock(1000, 30);
    for (size_t i = 0; i < 1000; i += 4) src.bytes()[i] = std::byte{0};
    EXPECT_EQ(Backward(*pipeline, Forward(*pipeline, src, {}), {}), ToVector(src));
  }
}

TEST(PipelineTest, OldBitShuffleCopiesBlocksThatAreNoMultipleOfEight) {
  PipelineParams params = Params({kBitShuffle}, 4);
  const Block odd = RandomBlock(4 * 20 + 1, 31);
  const Block even = RandomBlock(4 * 24 + 1, 32);
  const auto now = Make(params);
  params.whole_block_bitshuffle = true;
  const auto old = Make(params);
  ASSERT_TRUE(now.ok() && old.ok());
  EXPECT_EQ(Forward(*old, odd, {}), ToVector(odd));
  EXPECT_EQ(Backward(*old, ToVector(odd), {}), ToVector(odd));
  EXPECT_NE(Forward(*now, odd, {}), ToVector(odd));
  EXPECT_EQ(Forward(*old, even, {}), Forward(*now, even, {}));
  EXPECT_EQ(Backward(*old, Forward(*old, even, {}), {}), ToVector(even));
}

TEST(PipelineTest, ByteDeltaWithoutMetaTakesTheTypesizeOfTheFrame) {
  PipelineParams params = Params({kByteDelta}, 1);
  params.frame_typesize = 300;
  const auto frame = Make(params);
  params.frame_typesize = 0;
  const auto chunk = Make(params);
  ASSERT_TRUE(frame.ok() && chunk.ok());
  const std::vector<std::byte> ones(600, std::byte{1});
  std::vector<std::byte> expected(600);
  for (size_t i = 0; i < 600; i += 2) expected[i] = std::byte{1};
  EXPECT_EQ(Forward(*frame, ones, {}), expected);
  std::fill(expected.begin() + 1, expected.end(), std::byte{0});
  EXPECT_EQ(Forward(*chunk, ones, {}), expected);
}

TEST(PipelineTest, TheOldByteDeltaIsOnlyUndone) {
  const auto buggy = Make(Params({{.filter = Filter::kByteDeltaBuggy, .meta = 1}}, 4));
  ASSERT_TRUE(IsOk(buggy));
  const Block src = RandomBlock(64, 33);
  Block dst(64);
  EXPECT_TRUE(
      Fails(buggy->Forward(src, {}, dst, {}), absl::StatusCode::kUnimplemented, "filter id 34"));
  EXPECT_EQ(Backward(*buggy, std::vector<std::byte>(3, std::byte{1}), {}), MakeBytes({1, 2, 3}));
}

TEST(PipelineTest, CellsNeedTheShapeOfTheArray) {
  PipelineParams params = Params({{.filter = Filter::kNdCell, .meta = 2}}, 1);
  auto src = MakeBytes({0, 1, 3, 4, 2, 5});
  std::vector<std::byte> dst(6);
  EXPECT_EQ(Make(params)->Backward(src, {}, dst, {}).code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(Make(params)->Forward(src, {}, dst, {}).code(), absl::StatusCode::kUnimplemented);
  const std::vector<int32_t> blockshape = {2, 3};
  params.blockshape = blockshape;
  EXPECT_EQ(Backward(*Make(params), src, {}), MakeBytes({0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(Forward(*Make(params), MakeBytes({0, 1, 2, 3, 4, 5}), {}),
            MakeBytes({0, 1, 3, 4, 2, 5}));
}

TEST(PipelineTest, KnowsWhichFiltersTakeAPartOfABlock) {
  EXPECT_TRUE(Make(Params({kShuffle}, 4))->takes_samples());
  EXPECT_FALSE(Make(Params({{.filter = Filter::kDelta}}, 4))->takes_samples());
  for (const Filter filter : {Filter::kNdCell, Filter::kNdMean}) {
    EXPECT_FALSE(Make(Params({kShuffle, {.filter = filter, .meta = 2}}, 4))->takes_samples());
  }
}

TEST(PipelineTest, UnknownFiltersAreNamed) {
  Registry registry;
  for (const int id : {5, 31, 37, 159, 160, 255}) {
    PipelineParams params = Params({kShuffle, {.filter = static_cast<Filter>(id)}}, 4);
    params.registry = id == 255 ? &registry : nullptr;
    const absl::Status status = MakeStatus(params);
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
    EXPECT_EQ(status.message(), "filter id " + std::to_string(id) + " is not in this build");
  }
}

TEST(PipelineTest, ParametersThatAFilterDoesNotTakeAreInvalid) {
  const FilterStage truncate = {.filter = Filter::kTruncPrec, .meta = 30};
  EXPECT_EQ(MakeStatus(Params({truncate}, 4)).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(IsOk(MakeStatus(Params({truncate}, 8))));
  for (const int typesize : {0, -1, 256}) {
    EXPECT_EQ(MakeStatus(Params({kShuffle}, typesize)).code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST(PipelineTest, FiltersOfTheProgramTakePart) {
  Registry registry;
  ASSERT_TRUE(IsOk(registry.AddFilter(200, std::make_unique<AddMeta>())));
  const FilterStage add = {.filter = static_cast<Filter>(200), .meta = 7};
  PipelineParams params = Params({add}, 4);
  params.registry = &registry;
  EXPECT_EQ(Forward(*Make(params), MakeBytes({1, 2}), {}), MakeBytes({12, 13}));
  params = Params({kDelta, add, kShuffle}, 4);
  params.registry = &registry;
  ExpectRoundTrip(params, 1000);

  params = Params({{.filter = static_cast<Filter>(200), .meta = 99}}, 4);
  params.registry = &registry;
  std::vector<std::byte> block(10);
  std::vector<std::byte> dst(10);
  EXPECT_EQ(Make(params)->Backward(block, {}, dst, {}).message(), "99");
}

}  // namespace
}  // namespace cairn::filter
