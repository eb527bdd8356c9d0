// Typed items: ranges of values go in and out as they are, and values of another size than the
// frame's items are refused.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "tests/support/bytes.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"

namespace cairn::test {
namespace {

static_assert(!std::is_convertible_v<std::string, Items>);
static_assert(!std::is_convertible_v<std::string_view, Items>);
static_assert(!std::is_convertible_v<const char (&)[4], Items>, "text is no item");
static_assert(!std::is_convertible_v<std::vector<std::string>, Items>);
static_assert(!std::is_convertible_v<std::vector<int*>, Items>);
static_assert(!std::is_convertible_v<std::vector<std::span<const float>>, Items>);
static_assert(!std::is_convertible_v<std::vector<float>, MutableItems>, "gone after the call");
static_assert(!std::is_convertible_v<const std::vector<float>&, MutableItems>);
static_assert(!std::is_convertible_v<std::span<const float>, MutableItems>);
static_assert(std::is_convertible_v<std::vector<float>&, MutableItems>);

struct Point {
  float x = 0;
  float y = 0;
  bool operator==(const Point&) const = default;
};

std::vector<float> Floats(size_t count) {
  std::vector<float> floats(count);
  for (size_t i = 0; i < count; ++i) floats[i] = static_cast<float>(i);
  return floats;
}

TEST(TypedItemsTest, EveryContiguousRangeIsAppended) {
  Frame frame = NewInMemory(Cut(4, 64));
  Writer writer = *frame.OpenWriter();
  const std::vector<float> vector = {0, 1};
  const std::array<float, 2> array = {2, 3};
  const float plain[] = {4, 5};
  const float grid[2][1] = {{6}, {7}};
  ASSERT_TRUE(IsOk(writer.Append(vector)));
  ASSERT_TRUE(IsOk(writer.Append(array)));
  ASSERT_TRUE(IsOk(writer.Append(plain)));
  ASSERT_TRUE(IsOk(writer.Append(grid)));
  ASSERT_TRUE(IsOk(writer.Append(std::span(vector))));
  ASSERT_TRUE(IsOk(writer.Append(std::as_bytes(std::span(vector)))));
  ASSERT_TRUE(IsOk(writer.Append(std::vector<float>{1})));
  const Snapshot snapshot = *writer.Commit();
  std::vector<float> items(13);
  ASSERT_TRUE(IsOk(snapshot.ReadItems(0, items)));
  EXPECT_EQ(items, (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 0, 1, 1}));
}

TEST(TypedItemsTest, StructsAreItems) {
  Frame frame = NewInMemory(Cut(sizeof(Point), 64));
  Writer writer = *frame.OpenWriter();
  const std::vector<Point> points = {{1, 2}, {3, 4}};
  ASSERT_TRUE(IsOk(writer.Append(points)));
  const Snapshot snapshot = *writer.Commit();
  std::array<Point, 2> read;
  ASSERT_TRUE(IsOk(snapshot.ReadItems(0, read)));
  EXPECT_EQ(read[1], points[1]);
}

TEST(TypedItemsTest, FieldsOfStructsAre) {
  Frame frame = NewInMemory(Cut(sizeof(Point), 64));
  Writer writer = *frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer.Append(std::vector<Point>{{1, 2}, {3, 4}, {5, 6}})));
  const Snapshot snapshot = *writer.Commit();
  std::vector<float> seconds(2);
  std::vector<float> both(4);
  const std::array fields = {FieldSpan{.offset = 4, .size = 4, .dst = seconds},
                             FieldSpan{.offset = 0, .size = 8, .dst = both}};
  ASSERT_TRUE(IsOk(snapshot.ReadFields(1, 2, fields)));
  EXPECT_EQ(seconds, (std::vector<float>{4, 6}));
  EXPECT_EQ(both, (std::vector<float>{3, 4, 5, 6}));
}

TEST(TypedItemsTest, EditsTakeThem) {
  Frame frame = NewInMemory(Cut(4, 16));
  Writer writer = *frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer.Append(Floats(8))));
  ASSERT_TRUE(IsOk(writer.InsertChunk(1, std::vector<float>{20, 21, 22, 23})));
  ASSERT_TRUE(IsOk(writer.UpdateChunk(0, std::vector<float>{10, 11, 12, 13})));
  ASSERT_TRUE(IsOk(writer.WriteItems(4, std::vector<float>{30})));
  ASSERT_TRUE(IsOk(writer.AppendSpecial(SpecialValue::kRepeat, 1, std::vector<float>{9})));
  const Snapshot snapshot = *writer.Commit();
  std::vector<float> items(13);
  ASSERT_TRUE(IsOk(snapshot.ReadItems(0, items)));
  EXPECT_EQ(items, (std::vector<float>{10, 11, 12, 13, 30, 21, 22, 23, 4, 5, 6, 7, 9}));
  float chunk[4];
  ASSERT_TRUE(IsOk(snapshot.ReadChunk(2, chunk)));
  EXPECT_EQ(chunk[3], 7);
  const std::array<int64_t, 2> wanted = {12, 0};
  std::array<float, 2> gathered;
  ASSERT_TRUE(IsOk(snapshot.ReadItemsAt(wanted, gathered)));
  EXPECT_EQ(gathered, (std::array<float, 2>{9, 10}));
}

TEST(TypedItemsTest, BoxesTakeThem) {
  Frame frame = NewInMemory(OfArray({.shape = {2, 3}}, 4));
  Writer writer = *frame.OpenWriter();
  const int64_t start[] = {0, 1};
  const int64_t shape[] = {2, 2};
  const int32_t box[2][2] = {{1, 2}, {3, 4}};
  ASSERT_TRUE(IsOk(writer.WriteBox(start, shape, box)));
  ASSERT_TRUE(IsOk(writer.AppendSlices(0, std::vector<int32_t>{5, 6, 7})));
  const Snapshot snapshot = *writer.Commit();
  std::vector<int32_t> items(9);
  ASSERT_TRUE(IsOk(snapshot.ReadBox(std::vector<int64_t>{0, 0}, snapshot.array()->shape, items)));
  EXPECT_EQ(items, (std::vector<int32_t>{0, 1, 2, 0, 3, 4, 5, 6, 7}));
}

class OtherSizeTest : public testing::Test {
 protected:
  static testing::AssertionResult IsRefused(const absl::Status& status) {
    return Fails(status, absl::StatusCode::kInvalidArgument,
                 "values of 8 bytes are not items of a frame with typesize 4");
  }

  Frame frame_ = NewInMemory(OfArray({.shape = {8}, .chunkshape = {4}, .blockshape = {4}}, 4));
  std::vector<double> doubles_ = {1, 2};
};

TEST_F(OtherSizeTest, IsRefusedByEveryEdit) {
  const int64_t start[] = {0};
  const int64_t shape[] = {4};
  Writer writer = *frame_.OpenWriter();
  EXPECT_TRUE(IsRefused(writer.Append(doubles_)));
  EXPECT_TRUE(IsRefused(writer.AppendSpecial(SpecialValue::kRepeat, 4, doubles_)));
  EXPECT_TRUE(IsRefused(writer.InsertChunk(0, doubles_)));
  EXPECT_TRUE(IsRefused(writer.UpdateChunk(0, doubles_)));
  EXPECT_TRUE(IsRefused(writer.WriteItems(0, doubles_)));
  EXPECT_TRUE(IsRefused(writer.WriteBox(start, shape, doubles_)));
  EXPECT_TRUE(IsRefused(writer.AppendSlices(0, doubles_)));
  EXPECT_TRUE(IsOk(writer.UpdateChunk(0, std::as_bytes(std::span(doubles_)))));
}

TEST_F(OtherSizeTest, IsRefusedByEveryRead) {
  const int64_t start[] = {0};
  const int64_t shape[] = {4};
  const Snapshot snapshot = frame_.snapshot();
  EXPECT_TRUE(IsRefused(snapshot.ReadItems(0, doubles_)));
  EXPECT_TRUE(IsRefused(snapshot.ReadItemsAt(shape, doubles_)));
  EXPECT_TRUE(IsRefused(snapshot.ReadChunk(0, doubles_)));
  EXPECT_TRUE(IsRefused(snapshot.ReadBox(start, shape, doubles_)));
  EXPECT_EQ(doubles_, (std::vector<double>{1, 2}));
  EXPECT_TRUE(IsOk(snapshot.ReadChunk(0, std::as_writable_bytes(std::span(doubles_)))));
}

}  // namespace
}  // namespace cairn::test
