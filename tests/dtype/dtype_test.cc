#include "cairn/dtype.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/status.h"

namespace cairn {
namespace {

using absl::StatusCode;
using Kind = Dtype::Kind;

Dtype ParsedDtype(const std::string& text) {
  const absl::StatusOr<Dtype> type = Dtype::Parse(text);
  EXPECT_TRUE(IsOk(type)) << text;
  return type.value_or(Dtype());
}

void ExpectType(const std::string& text, Kind kind, int64_t size, const std::string& unit = "") {
  const Dtype type = ParsedDtype(text);
  EXPECT_EQ(type.kind, kind) << text;
  EXPECT_EQ(type.size, size) << text;
  EXPECT_EQ(type.unit, unit) << text;
  EXPECT_EQ(type.text, text);
  EXPECT_EQ(type.big_endian, text[0] == '>');
}

TEST(Dtype, NamesAreShortOrLong) {
  for (const char* const text : {"|b1", "?", "bool"}) ExpectType(text, Kind::kBool, 1);
  for (const char* const text : {"<i4", ">i4", "=i4", "i4", "int32"}) {
    ExpectType(text, Kind::kInt, 4);
  }
  ExpectType("|u1", Kind::kUint, 1);
  ExpectType("uint64", Kind::kUint, 8);
  ExpectType("float16", Kind::kFloat, 2);
  ExpectType("<f16", Kind::kFloat, 16);
  ExpectType("complex128", Kind::kComplex, 16);
  ExpectType("d", Kind::kFloat, 8);
  ExpectType(">q", Kind::kInt, 8);
  ExpectType("<M8[25us]", Kind::kTime, 8, "25us");
  ExpectType(">M8", Kind::kTime, 8);
  ExpectType("datetime64[D]", Kind::kTime, 8, "D");
  ExpectType("timestamp[ms]", Kind::kTime, 8, "ms");
  ExpectType("<m8[s]", Kind::kDuration, 8, "s");
  ExpectType("timedelta64[ns]", Kind::kDuration, 8, "ns");
  ExpectType("|S0", Kind::kBytes, 0);
  ExpectType("bytes[16]", Kind::kBytes, 16);
  ExpectType("bytes16", Kind::kBytes, 16);
  ExpectType("<U3", Kind::kText, 12);
  ExpectType("|V7", Kind::kOpaque, 7);
}

TEST(Dtype, FieldsOfAListFollowEachOther) {
  const Dtype record = ParsedDtype("[('t', '<M8[us]'), (('title', 'x'), '<f4'), ('', '|V4')]");
  ASSERT_EQ(record.kind, Kind::kRecord);
  EXPECT_EQ(record.size, 16);
  ASSERT_EQ(record.fields.size(), 3U);
  EXPECT_EQ(record.fields[1].name, "x");
  EXPECT_EQ(record.fields[1].offset, 8);
  EXPECT_EQ(record.fields[2].offset, 12);
}

TEST(Dtype, FieldsOfADictionaryHaveOffsets) {
  const Dtype record = ParsedDtype(
      "{'names': ['a', 'b'], 'formats': ['|u1', [('c', '>f8')]], 'offsets': [16, 0], "
      "'itemsize': 24, 'aligned': True}");
  EXPECT_EQ(record.size, 24);
  ASSERT_EQ(record.fields.size(), 2U);
  EXPECT_EQ(record.fields[0].offset, 16);
  ASSERT_EQ(record.fields[1].fields.size(), 1U);
  EXPECT_TRUE(record.fields[1].fields[0].big_endian);
  EXPECT_EQ(ParsedDtype("{'names': ['a', 'b'], 'formats': ['|u1', '<f8']}").size, 9);
}

TEST(Dtype, AnArrayOfArraysHasTheAxesOfBoth) {
  const Dtype array = ParsedDtype("(('<f4', (2, 3)), 4)");
  EXPECT_EQ(array.kind, Kind::kFloat);
  EXPECT_EQ(array.size, 4);
  EXPECT_EQ(array.shape, (std::vector<int64_t>{4, 2, 3}));
  EXPECT_EQ(array.TotalSize(), 96);
  EXPECT_EQ(ParsedDtype("[('a', '<i2', (0,)), ('b', '<i2', (5))]").size, 10);
}

void ExpectRefused(const std::string& text, StatusCode code, const std::string& part) {
  EXPECT_TRUE(Fails(Dtype::Parse(text), code, part)) << text;
}

TEST(Dtype, TypesThatDoNotExistAreNamed) {
  ExpectRefused("", StatusCode::kUnimplemented, "type");
  ExpectRefused("<m80", StatusCode::kUnimplemented, "type <m80");
  ExpectRefused("|O", StatusCode::kUnimplemented, "type |O");
  ExpectRefused("int12", StatusCode::kUnimplemented, "type int12");
  ExpectRefused("<i4[us]", StatusCode::kUnimplemented, "type <i4[us]");
  ExpectRefused("[('a', '<f3')]", StatusCode::kInvalidArgument,
                "dtype: field 'a': type <f3 does not exist in 3 bytes");
  ExpectRefused("<b2", StatusCode::kInvalidArgument, "2 bytes");
}

TEST(Dtype, TextsOfAnotherFormAreRefused) {
  ExpectRefused("[('a', '<i4'", StatusCode::kInvalidArgument, "dtype at 12");
  ExpectRefused("[('a', '<i4')] 1", StatusCode::kInvalidArgument, "more than one value");
  ExpectRefused("['<i4']", StatusCode::kInvalidArgument, "tuples of a name and a type");
  ExpectRefused("[('a', '<i4' 3)]", StatusCode::kInvalidArgument, "expected ','");
  ExpectRefused("[('a', None)]", StatusCode::kInvalidArgument, "expected a text");
  ExpectRefused("[('a', 4)]", StatusCode::kInvalidArgument, "expected a name");
  ExpectRefused("[('a', '<i4', ('x',))]", StatusCode::kInvalidArgument, "shape");
  ExpectRefused("('<i4',)", StatusCode::kInvalidArgument, "a type and a shape");
  ExpectRefused("{'names': ['a'], 'formats': []}", StatusCode::kInvalidArgument, "as many of each");
  ExpectRefused(std::string(40, '['), StatusCode::kInvalidArgument, "nested too deeply");
}

TEST(Dtype, SizesAreBounded) {
  ExpectRefused("|S99999999999", StatusCode::kInvalidArgument, "99999999999");
  ExpectRefused("<U4000000000000000000", StatusCode::kInvalidArgument, "bytes");
  ExpectRefused("('<i4', (-1,))", StatusCode::kInvalidArgument, "extent of -1");
  ExpectRefused("('<i4', (65536, 65536))", StatusCode::kInvalidArgument, "in one value");
  ExpectRefused("('<i4', (1073741824,))", StatusCode::kInvalidArgument, "in one value");
  ExpectRefused("((('|S0', 1073741824), 1073741824), 1073741824)", StatusCode::kInvalidArgument,
                "in one value");
  ExpectRefused("{'names': ['a'], 'formats': ['<i4'], 'offsets': [-4]}",
                StatusCode::kInvalidArgument, "begins at byte -4");
  ExpectRefused("{'names': ['a'], 'formats': ['<i4'], 'offsets': [0], 'itemsize': 3}",
                StatusCode::kInvalidArgument, "itemsize 3");
}

}  // namespace
}  // namespace cairn
