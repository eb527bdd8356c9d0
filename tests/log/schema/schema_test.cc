#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/record.h"
#include "tests/support/status.h"

namespace cairn {
namespace {

using absl::StatusCode;

Schema Parsed(const std::string& dtype, int32_t size) {
  const absl::StatusOr<Schema> schema = Schema::FromDtype(dtype, size);
  EXPECT_TRUE(IsOk(schema));
  return schema.ok() ? *schema : Schema();
}

TEST(Schema, WritesTheDtypeThatNumPyWrites) {
  const absl::StatusOr<Schema> schema =
      Schema::Make({{.name = "time", .type = FieldType::kTimestamp, .unit = TimeUnit::kNanoseconds},
                    {.name = "temp", .type = FieldType::kFloat, .size = 4},
                    {.name = "ok", .type = FieldType::kBool, .size = 1},
                    {.name = "host", .type = FieldType::kBytes, .size = 16}});
  ASSERT_TRUE(IsOk(schema));
  EXPECT_EQ(schema->record_size(), 29);
  EXPECT_EQ(schema->ToDtype(),
            "[('time', '<M8[ns]'), ('temp', '<f4'), ('ok', '|b1'), ('host', '|S16')]");
  EXPECT_EQ(Parsed(schema->ToDtype(), 29), *schema);
}

TEST(Schema, KeepsGapsAsADictionary) {
  const std::string dtype =
      "{'names': ['a', 'b'], 'formats': ['|u1', '<f8'], 'offsets': [0, 8], 'itemsize': 24}";
  const Schema schema = Parsed(dtype, 24);
  ASSERT_EQ(schema.fields().size(), 2);
  EXPECT_EQ(schema.fields()[1].offset, 8);
  EXPECT_EQ(schema.ToDtype(), dtype);
}

TEST(Schema, ReadsWhatNumPyAndPeopleWrite) {
  EXPECT_EQ(Parsed("[('a', '<i4'), ('', '|V4'), ('b', '<f8')]", 16).fields()[1].offset, 8);
  EXPECT_EQ(Parsed("[('a', 'i1'), ('f1', 'V7'), ('b', '<f8')]", 16).fields()[1].offset, 8);
  EXPECT_EQ(Parsed("[(\"it's\", '<i4')]", 4).ToDtype(), R"([('it\'s', '<i4')])");
  EXPECT_EQ(Parsed(R"([('it\'s', '<i4')])", 4).fields()[0].name, "it's");
  EXPECT_EQ(Parsed("{'names':['x'],'formats':['<i2'],'offsets':[2],'itemsize':4,'aligned':True}", 4)
                .fields()[0]
                .offset,
            2);
  EXPECT_EQ(Parsed("<f8", 8).fields()[0].name, "");
  EXPECT_EQ(Parsed("<M8[ms]", 8).fields()[0].unit, TimeUnit::kMilliseconds);
}

TEST(Schema, RefusesWhatARecordCannotBe) {
  const auto fails = [](const std::string& dtype, int32_t size, StatusCode code,
                        const std::string& part) {
    EXPECT_TRUE(Fails(Schema::FromDtype(dtype, size), code, part)) << dtype;
  };
  fails("[('a', '<i4')]", 8, StatusCode::kInvalidArgument, "describes 4 bytes, an item has 8");
  fails("[('a', '>i4')]", 4, StatusCode::kUnimplemented, "big endian");
  fails("[('a', '|V4')]", 4, StatusCode::kUnimplemented, "no field");
  fails("[('a', '|O')]", 8, StatusCode::kUnimplemented, "|O");
  fails("[('a', '<U4')]", 16, StatusCode::kUnimplemented, "<U4");
  fails("[('a', '<f4', (3,))]", 12, StatusCode::kUnimplemented, "arrays in records");
  fails("[('a', [('b', '<f4')])]", 4, StatusCode::kUnimplemented, "nested");
  fails("[('a', '<M8[D]')]", 8, StatusCode::kUnimplemented, "units");
  fails("[('a', '<f3')]", 3, StatusCode::kInvalidArgument, "3 bytes");
  fails("[('a', '<i4'), ('a', '<i4')]", 8, StatusCode::kInvalidArgument, "twice");
  fails("[('a', '<i4'", 4, StatusCode::kInvalidArgument, "dtype at");
  fails(std::string(40, '['), 4, StatusCode::kInvalidArgument, "nested too deeply");
  fails("[('a', '|S99999999')]", 4, StatusCode::kInvalidArgument, "99999999");
  fails("{'names': ['a'], 'formats': ['<i4'], 'offsets': [-4], 'itemsize': 4}", 4,
        StatusCode::kInvalidArgument, "begins at byte -4");
  fails("", 0, StatusCode::kUnimplemented, "type");
}

TEST(Schema, TakesFieldsAsTheCommandLineDoes) {
  const auto parse = [](const std::string& text) { return Schema::ParseField(text).value(); };
  EXPECT_EQ(parse("time:timestamp[us]"), (Field{.name = "time", .type = FieldType::kTimestamp}));
  EXPECT_EQ(parse("t:f4"), (Field{.name = "t", .type = FieldType::kFloat, .size = 4}));
  EXPECT_EQ(parse("t:float32"), (Field{.name = "t", .type = FieldType::kFloat, .size = 4}));
  EXPECT_EQ(parse("n:uint16"), (Field{.name = "n", .type = FieldType::kUint, .size = 2}));
  EXPECT_EQ(parse("on:bool"), (Field{.name = "on", .type = FieldType::kBool, .size = 1}));
  EXPECT_EQ(parse("host:bytes[16]"),
            (Field{.name = "host", .type = FieldType::kBytes, .size = 16}));
  EXPECT_TRUE(Fails(Schema::ParseField("temp"), StatusCode::kInvalidArgument, "NAME:TYPE"));
  EXPECT_TRUE(Fails(Schema::ParseField(":f4"), StatusCode::kInvalidArgument, "without a name"));
  EXPECT_TRUE(Fails(Schema::ParseField("a\nb:f4"), StatusCode::kInvalidArgument, "control"));
  EXPECT_TRUE(Fails(Schema::ParseField("x:int12"), StatusCode::kUnimplemented, "int12"));
}

}  // namespace
}  // namespace cairn
