#include <bit>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "tests/support/bytes.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::frame {
namespace {

using absl::StatusCode;
using test::Buffer;
using test::Cut;
using test::ExpectHolds;
using test::MakeItems;

constexpr SpecialValue kKinds[] = {SpecialValue::kZeros, SpecialValue::kNans, SpecialValue::kRepeat,
                                   SpecialValue::kUninit};

// The item that a special value stands for, little endian; uninitialised ones read as zeros.
Buffer ItemOf(SpecialValue special, int32_t typesize) {
  Buffer item(static_cast<size_t>(typesize));
  if (special == SpecialValue::kRepeat) item = MakeItems(item.size());
  if (special == SpecialValue::kNans && typesize == 4) {
    StoreLe(item.data(), std::bit_cast<uint32_t>(std::numeric_limits<float>::quiet_NaN()));
  } else if (special == SpecialValue::kNans) {
    StoreLe(item.data(), std::bit_cast<uint64_t>(std::numeric_limits<double>::quiet_NaN()));
  }
  return item;
}

Buffer ValueOf(SpecialValue special, int32_t typesize) {
  return special == SpecialValue::kRepeat ? ItemOf(special, typesize) : Buffer();
}

// A writer and what its frame must hold.
struct Case {
  explicit Case(const CreateOptions& options)
      : frame(test::NewInMemory(options)),
        writer(*frame.OpenWriter()),
        typesize(options.compression.typesize) {}

  void Append(Bytes items) {
    ASSERT_TRUE(IsOk(writer.Append(items)));
    test::AddTo(content, items);
  }
  void AppendSpecial(SpecialValue special, size_t nitems) {
    ASSERT_TRUE(IsOk(
        writer.AppendSpecial(special, static_cast<int64_t>(nitems), ValueOf(special, typesize))));
    test::AddTo(content,
                test::Repeated(ItemOf(special, typesize), nitems * static_cast<size_t>(typesize)));
  }
  Snapshot Commit() {
    absl::StatusOr<Snapshot> snapshot = writer.Commit();
    EXPECT_TRUE(IsOk(snapshot));
    ExpectHolds(*snapshot, content);
    return *snapshot;
  }

  Frame frame;
  Writer writer;
  int32_t typesize;
  Buffer content;
};

TEST(AppendSpecialTest, EveryKindReadsBackFromAFixedFrame) {
  for (const int32_t typesize : {4, 8}) {
    for (const SpecialValue special : kKinds) {
      SCOPED_TRACE(testing::Message() << typesize << " " << static_cast<int>(special));
      Case c(Cut(typesize, 1000));
      c.AppendSpecial(special, 3100 / static_cast<size_t>(typesize));
      const Snapshot snapshot = c.Commit();
      EXPECT_EQ(snapshot.info().nchunks, 4);
      const bool stored = special == SpecialValue::kRepeat;
      EXPECT_EQ(snapshot.GetEntry(0)->special, stored ? SpecialValue::kNone : special);
      EXPECT_EQ(InspectChunk(snapshot.GetChunk(0)->bytes())->special, special);
      // A short stored chunk would be dead at the next append, so the items stay pending.
      EXPECT_EQ(InspectChunk(snapshot.GetChunk(3)->bytes())->special,
                stored ? SpecialValue::kNone : special);
    }
  }
}

TEST(AppendSpecialTest, EveryKindIsOneStoredChunkOfAVariableFrame) {
  for (const SpecialValue special : kKinds) {
    SCOPED_TRACE(static_cast<int>(special));
    Case c(Cut(8, ChunkSize::Variable()));
    c.AppendSpecial(special, 1000);
    c.AppendSpecial(special, 1);
    const Snapshot snapshot = c.Commit();
    EXPECT_EQ(snapshot.info().nchunks, 2);
    EXPECT_EQ(snapshot.GetEntry(0)->special, SpecialValue::kNone);
    EXPECT_LT(snapshot.info().cbytes, 100);
  }
}

TEST(AppendSpecialTest, ValuesMayBeWiderThanAChunkCanSay) {
  for (const ChunkSize chunksize : {ChunkSize(900), ChunkSize::Variable()}) {
    Case c(Cut(300, chunksize));
    c.AppendSpecial(SpecialValue::kRepeat, 7);
    c.AppendSpecial(SpecialValue::kZeros, 5);
    c.AppendSpecial(SpecialValue::kUninit, 4);
    c.Commit();
  }
}

TEST(AppendSpecialTest, ValuesGoOnFromAPartialChunk) {
  for (const SpecialValue special : kKinds) {
    SCOPED_TRACE(static_cast<int>(special));
    Case c(Cut(4, 1000));
    c.Append(MakeItems(1200));
    c.AppendSpecial(special, 10);
    EXPECT_EQ(c.Commit().info().nchunks, 2);
    c.AppendSpecial(special, 1000);
    c.Commit();
    c.Append(MakeItems(84));
    c.AppendSpecial(special, 20);
    const Snapshot snapshot = c.Commit();
    EXPECT_EQ(snapshot.info().nchunks, 6);
  }
}

TEST(AppendSpecialTest, ItemsGoOnFromAShortSpecialChunk) {
  for (const SpecialValue special : kKinds) {
    SCOPED_TRACE(static_cast<int>(special));
    Case c(Cut(4, 1000));
    c.AppendSpecial(special, 300);
    c.Append(MakeItems(2000));
    EXPECT_EQ(c.Commit().info().nchunks, 4);
  }
}

TEST(AppendSpecialTest, RunGoesOnFromAShortChunkOfTheSameValueWithoutStoringItems) {
  for (const SpecialValue special :
       {SpecialValue::kZeros, SpecialValue::kNans, SpecialValue::kUninit}) {
    SCOPED_TRACE(static_cast<int>(special));
    Case c(Cut(4, 1000));
    for (int i = 0; i < 5; ++i) c.AppendSpecial(special, 300);
    EXPECT_EQ(c.Commit().info().nchunks, 6);
    c.AppendSpecial(special, 70);
    const Snapshot snapshot = c.Commit();
    EXPECT_EQ(snapshot.info().nchunks, 7);
    EXPECT_EQ(snapshot.info().cbytes, 0);
    for (int64_t i = 0; i < 7; ++i) EXPECT_EQ(snapshot.GetEntry(i)->special, special) << i;
  }
}

TEST(AppendSpecialTest, ValuesAreRefusedAfterAPartOfAnItem) {
  for (const ChunkSize chunksize : {ChunkSize(1000), ChunkSize::Variable()}) {
    Case c(Cut(4, chunksize));
    c.Append(MakeItems(1003));
    for (const SpecialValue special : kKinds) {
      EXPECT_EQ(c.writer.AppendSpecial(special, 5, ValueOf(special, 4)).code(),
                StatusCode::kFailedPrecondition);
    }
    c.Append(MakeItems(1));
    c.AppendSpecial(SpecialValue::kZeros, 5);
    c.Commit();
  }
}

TEST(AppendSpecialTest, PetabyteOfZerosIsASmallFile) {
  const test::TempDir dir;
  const std::string path = dir.Path("petabyte");
  constexpr int64_t kItems = (int64_t{1} << 50) / 8;
  {
    Frame frame = *Frame::Create(path, Cut(8, 1 << 30));
    Writer writer = *frame.OpenWriter();
    ASSERT_TRUE(IsOk(writer.AppendSpecial(SpecialValue::kZeros, kItems)));
    ASSERT_TRUE(IsOk(writer.Close()));
  }
  EXPECT_LT(std::filesystem::file_size(path), 64u << 10);
  const Snapshot snapshot = Frame::Open(path)->snapshot();
  EXPECT_EQ(snapshot.info().nitems, kItems);
  EXPECT_EQ(snapshot.info().nchunks, 1 << 20);
  EXPECT_TRUE(snapshot.info().sealed);
  Buffer items = MakeItems(8000);
  ASSERT_TRUE(IsOk(snapshot.ReadItems(kItems - 1000, items)));
  EXPECT_EQ(items, Buffer(8000));
  ASSERT_TRUE(IsOk(snapshot.ReadItemsAt(std::vector<int64_t>{kItems - 1, 0, kItems / 2},
                                        MutableBytes(items).first(24))));
  EXPECT_EQ(snapshot.GetEntry((1 << 20) - 1)->special, SpecialValue::kZeros);
}

TEST(AppendSpecialTest, RefusedArgumentsChangeNothing) {
  Case c(Cut(4, 1000));
  c.Append(MakeItems(1200));
  const uint64_t generation = c.Commit().info().generation;
  const auto refusal = [&c](SpecialValue special, int64_t nitems, size_t value_size = 0) {
    return c.writer.AppendSpecial(special, nitems, MakeItems(value_size)).code();
  };
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(refusal(SpecialValue::kNone, 1), StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal(SpecialValue::kZeros, -1), StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal(SpecialValue::kZeros, kHuge), StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal(SpecialValue::kZeros, kHuge / 4), StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal(SpecialValue::kZeros, kHuge / 8), StatusCode::kResourceExhausted);
  EXPECT_EQ(refusal(SpecialValue::kZeros, 1, 4), StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal(SpecialValue::kRepeat, 1), StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal(SpecialValue::kRepeat, 1, 8), StatusCode::kInvalidArgument);
  EXPECT_EQ(c.Commit().info().generation, generation);
}

TEST(AppendSpecialTest, NansNeedATypesizeThatHasThem) {
  for (const int32_t typesize : {1, 2, 3, 16}) {
    Case c(Cut(typesize, 960));
    EXPECT_EQ(c.writer.AppendSpecial(SpecialValue::kNans, 1).code(), StatusCode::kInvalidArgument);
  }
}

TEST(AppendSpecialTest, ChunkOfAVariableFrameHasALargestSize) {
  Case c(Cut(4, ChunkSize::Variable()));
  EXPECT_EQ(c.writer.AppendSpecial(SpecialValue::kZeros, kMaxChunkBytes / 4 + 1).code(),
            StatusCode::kInvalidArgument);
}

TEST(AppendSpecialTest, NoItemsAreNoEdit) {
  Case c(Cut(4, 1000));
  c.AppendSpecial(SpecialValue::kZeros, 5);
  const uint64_t generation = c.Commit().info().generation;
  c.AppendSpecial(SpecialValue::kZeros, 0);
  EXPECT_EQ(c.Commit().info().generation, generation);
}

}  // namespace
}  // namespace cairn::frame
