#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "engine/codec/stream_codec.h"
#include "tests/codec/number_samples.h"
#include "tests/support/status.h"

namespace cairn::codec {
namespace {

using test::Buffer;
using test::kColumns;
using test::kRecord;
using test::NumberKind;
using test::Numbers;
using test::Records;

struct NumberCodec {
  std::string name;
  std::unique_ptr<StreamCodec> (*make)();
};

class ColumnCodecTest : public testing::TestWithParam<NumberCodec> {
 protected:
  ColumnCodecTest() { codec_->UseColumns(kColumns); }

  Buffer Compressed(Bytes records) {
    Buffer stream(records.size());
    stream.resize(codec_->Compress(records, stream, kCall).value());
    return stream;
  }

  static constexpr PluginCall kCall = {.typesize = kRecord, .clevel = 5};
  std::unique_ptr<StreamCodec> codec_ = GetParam().make();
};

TEST_P(ColumnCodecTest, ComesBackWhateverTheParameterSaysOfTheNumbers) {
  codec_->UseColumns({});
  for (const int size : {1, 2, 4, 8}) {
    for (uint8_t meta = 0; meta < 6; ++meta) {
      const Buffer numbers = Numbers({NumberKind::kInt, size}, 1000,
                                     [](size_t i) { return static_cast<double>(i % 100); });
      Buffer stream(numbers.size());
      const PluginCall call = {.typesize = size, .clevel = 5, .meta = meta};
      const auto coded = codec_->Compress(numbers, stream, call);
      ASSERT_TRUE(IsOk(coded));
      ASSERT_GT(*coded, 0U);
      stream.resize(*coded);
      Buffer back(numbers.size());
      ASSERT_TRUE(IsOk(codec_->Decompress(stream, back, call))) << size << " " << int{meta};
      EXPECT_TRUE(back == numbers);
    }
  }
}

TEST_P(ColumnCodecTest, RecordsComeBackAsTheyWere) {
  for (const size_t count : {1, 2, 100, 1000, 5000}) {
    for (const size_t cut : {size_t{0}, size_t{1}, kRecord - 1}) {
      Buffer records = Records(count + 1);
      records.resize(records.size() - kRecord + cut);
      const Buffer stream = Compressed(records);
      if (count < 100) continue;  // so few may take more bytes than they have
      ASSERT_GT(stream.size(), 0U);
      EXPECT_LT(stream.size(), records.size() * 3 / 5);
      Buffer back(records.size());
      ASSERT_TRUE(IsOk(codec_->Decompress(stream, back, kCall)));
      EXPECT_TRUE(back == records) << count << " records and " << cut << " bytes";
    }
  }
}

TEST_P(ColumnCodecTest, PartsAreThoseOfTheWhole) {
  const Buffer records = Records(5000);
  const Buffer stream = Compressed(records);
  std::mt19937_64 dice(7);
  for (int i = 0; i < 200; ++i) {
    const size_t first = dice() % 5000;
    const size_t count = dice() % (5000 - first) + 1;
    Buffer back(records.size());
    const StreamPart part = {.begin = first * kRecord, .end = (first + count) * kRecord};
    ASSERT_TRUE(IsOk(codec_->DecompressPart(stream, back, part, kCall)));
    EXPECT_TRUE(std::equal(back.begin() + static_cast<int64_t>(part.begin),
                           back.begin() + static_cast<int64_t>(part.end),
                           records.begin() + static_cast<int64_t>(part.begin)));
  }
}

TEST_P(ColumnCodecTest, FieldsOfPartsAreThoseOfTheWhole) {
  const Buffer records = Records(5000);
  const Buffer stream = Compressed(records);
  std::mt19937_64 dice(8);
  for (int i = 0; i < 200; ++i) {
    const size_t first = dice() % 5000;
    const size_t count = dice() % (5000 - first) + 1;
    // Whole columns, and what lies anywhere: parts of columns, and of two of them.
    std::vector<FieldSpan> fields;
    int32_t offset = 0;
    for (const ItemColumn& column : kColumns) {
      const int32_t width = column.size * column.count;
      if (dice() % 2 == 0) fields.push_back({.offset = offset, .size = width, .dst = {}});
      offset += width;
    }
    if (dice() % 2 == 0) {
      const auto any = static_cast<int32_t>(dice() % (kRecord - 5));
      fields.push_back({.offset = any, .size = 5, .dst = {}});
    }
    std::vector<Buffer> values;
    for (const FieldSpan& field : fields) {
      values.emplace_back(count * static_cast<size_t>(field.size));
    }
    for (size_t n = 0; n < fields.size(); ++n) fields[n].dst = values[n];
    if (fields.empty()) continue;
    Buffer block(records.size());
    const StreamPart part = {.begin = first * kRecord,
                             .end = (first + count) * kRecord,
                             .item_size = kRecord,
                             .fields = fields};
    ASSERT_TRUE(IsOk(codec_->DecompressPart(stream, block, part, kCall)));
    for (size_t n = 0; n < fields.size(); ++n) {
      const auto size = static_cast<int64_t>(fields[n].size);
      for (size_t item = 0; item < count; ++item) {
        const auto from = static_cast<int64_t>((first + item) * kRecord) + fields[n].offset;
        ASSERT_TRUE(std::equal(records.begin() + from, records.begin() + from + size,
                               values[n].begin() + static_cast<int64_t>(item) * size))
            << item << " of field at " << fields[n].offset;
      }
    }
  }
}

TEST_P(ColumnCodecTest, DamageInAColumnIsNotSeenByTheOthers) {
  const Buffer records = Records(2000);
  Buffer stream = Compressed(records);
  std::fill(stream.end() - 300, stream.end() - 260, std::byte{0xFF});
  Buffer back(records.size());
  EXPECT_FALSE(codec_->Decompress(stream, back, kCall).ok() && back == records);
  Buffer values(2000 * 8);
  const FieldSpan first = {.offset = 0, .size = 8, .dst = values};
  ASSERT_TRUE(IsOk(codec_->DecompressPart(
      stream, back, {.end = back.size(), .item_size = kRecord, .fields = {&first, 1}}, kCall)));
  for (int64_t item = 0; item < 2000; ++item) {
    ASSERT_TRUE(std::equal(values.begin() + item * 8, values.begin() + item * 8 + 8,
                           records.begin() + item * static_cast<int64_t>(kRecord)));
  }
}

TEST_P(ColumnCodecTest, SingleRecordsAreThoseOfTheWhole) {
  const Buffer records = Records(2100);
  const Buffer stream = Compressed(records);
  for (size_t record = 0; record < 2100; record += 7) {
    Buffer back(records.size());
    const size_t begin = record * kRecord;
    ASSERT_TRUE(IsOk(
        codec_->DecompressPart(stream, back, {.begin = begin, .end = begin + kRecord}, kCall)));
    ASSERT_TRUE(std::ranges::equal(Bytes(back).subspan(begin, kRecord),
                                   Bytes(records).subspan(begin, kRecord)))
        << record;
  }
}

TEST_P(ColumnCodecTest, RefusalsNameTheCodec) {
  Buffer stream = Compressed(Records(400));
  Buffer back(400 * kRecord);
  const std::string name = GetParam().name + " stream";
  const bool is_mixed = GetParam().name == "auto";
  const auto refusal = [&](size_t at, int byte) {
    Buffer damaged = stream;
    damaged[at] = static_cast<std::byte>(byte);
    return codec_->Decompress(damaged, back, kCall);
  };
  constexpr auto kLater = absl::StatusCode::kUnimplemented;
  EXPECT_TRUE(Fails(refusal(0, 9), kLater, name + ": version 9"));
  EXPECT_TRUE(IsDamage(refusal(4, 0), name + ": 0 columns"));
  EXPECT_TRUE(IsDamage(refusal(5, 77), name + ": 1 numbers of type 77"));
  const std::string last = is_mixed ? ": a column of coding 9" : ": version 9 of the format";
  EXPECT_TRUE(Fails(refusal(is_mixed ? 22 : 17, 9), kLater, name + last));
}

INSTANTIATE_TEST_SUITE_P(Codecs, ColumnCodecTest,
                         testing::Values(NumberCodec{"pco", MakePco},
                                         NumberCodec{"bitpack", MakeBitpack},
                                         NumberCodec{"auto", MakeAuto}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace cairn::codec
