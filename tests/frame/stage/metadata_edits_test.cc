#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/bytes.h"
#include "tests/support/bytes.h"
#include "tests/support/files.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::frame {
namespace {

using absl::StatusCode;
using test::Buffer;
using test::ExpectHolds;
using test::MakeItems;

std::string NumberedName(int i) { return "layer " + std::to_string(i); }

CreateOptions WithMetalayers(int count, size_t size) {
  CreateOptions options = test::Cut(4, 1000);
  for (int i = 0; i < count; ++i) {
    options.metalayers.push_back(
        {.name = NumberedName(i), .content = MakeItems(size, static_cast<uint64_t>(i))});
  }
  return options;
}

void ExpectLayers(const Snapshot& snapshot, const std::vector<Metalayer>& expected) {
  std::vector<std::string> names;
  for (const Metalayer& layer : expected) {
    names.push_back(layer.name);
    const absl::StatusOr<Buffer> content = snapshot.GetVlmetalayer(layer.name);
    ASSERT_TRUE(IsOk(content));
    EXPECT_TRUE(*content == layer.content) << layer.name;
  }
  EXPECT_EQ(snapshot.vlmetalayers(), names);
}

class MetadataEditsTest : public testing::Test {
 protected:
  // Edits the frame at path_ in a writer of its own.
  template <typename Edit>
  void EditFrame(Edit edit) {
    Frame frame = *Frame::Open(path_);
    Writer writer = *frame.OpenWriter();
    edit(writer);
    ASSERT_TRUE(IsOk(writer.Close()));
  }
  Snapshot Open() const { return Frame::Open(path_)->snapshot(); }

  const test::TempDir dir_;
  const std::string path_ = dir_.Path("frame");
};

TEST_F(MetadataEditsTest, MetalayerTakesContentOfTheSameSizeOnly) {
  const CreateOptions options = WithMetalayers(3, 20);
  ASSERT_TRUE(IsOk(Frame::Create(path_, options)));
  const Buffer content = MakeItems(20, 99);
  EditFrame([&](Writer& writer) {
    ASSERT_TRUE(IsOk(writer.Append(MakeItems(1500))));
    EXPECT_EQ(writer.SetMetalayer(NumberedName(1), MakeItems(19)).code(),
              StatusCode::kInvalidArgument);
    EXPECT_EQ(writer.SetMetalayer(NumberedName(1), MakeItems(21)).code(),
              StatusCode::kInvalidArgument);
    EXPECT_EQ(writer.SetMetalayer("nowhere", content).code(), StatusCode::kNotFound);
    EXPECT_TRUE(IsOk(writer.SetMetalayer(NumberedName(1), content)));
  });
  std::vector<Metalayer> expected = options.metalayers;
  expected[1].content = content;
  EXPECT_EQ(Open().metalayers(), expected);
  EXPECT_EQ(*Open().GetMetalayer(NumberedName(1)), content);
  EXPECT_EQ(Open().GetMetalayer("nowhere").status().code(), StatusCode::kNotFound);
  ExpectHolds(Open(), MakeItems(1500));
}

TEST_F(MetadataEditsTest, MetalayerOfAnEmptyFrameChanges) {
  ASSERT_TRUE(IsOk(Frame::Create(path_, WithMetalayers(2, 0))));
  EditFrame([](Writer& writer) { EXPECT_TRUE(IsOk(writer.SetMetalayer(NumberedName(0), {}))); });
  EXPECT_EQ(Open().metalayers(), WithMetalayers(2, 0).metalayers);
  EXPECT_TRUE(Open().info().sealed);
}

TEST_F(MetadataEditsTest, MetalayersAfterTheFirstSectorChangeToo) {
  const CreateOptions options = WithMetalayers(kMaxMetalayers, 64);
  ASSERT_TRUE(IsOk(Frame::Create(path_, options)));
  EditFrame([](Writer& writer) {
    ASSERT_TRUE(IsOk(writer.Append(MakeItems(2500))));
    ASSERT_TRUE(IsOk(writer.AppendSpecial(SpecialValue::kZeros, 1000)));
    ASSERT_TRUE(IsOk(writer.SetVlmetalayer("note", MakeItems(7))));
  });
  const Snapshot before = Open();
  ASSERT_GT(before.info().header_len, 512);
  std::vector<Metalayer> expected = options.metalayers;
  EditFrame([&](Writer& writer) {
    for (const size_t i : {size_t{0}, size_t{15}}) {
      expected[i].content = MakeItems(64, 100 + i);
      ASSERT_TRUE(IsOk(writer.SetMetalayer(expected[i].name, expected[i].content)));
    }
    const Snapshot committed = *writer.Commit();
    EXPECT_EQ(committed.metalayers(), expected);
    ASSERT_TRUE(IsOk(writer.Append(MakeItems(10))));  // the writer continues in the new file
  });
  Buffer content = MakeItems(2500);
  test::AddTo(content, Buffer(4000));
  ExpectHolds(before, content);
  EXPECT_EQ(before.metalayers(), options.metalayers);
  test::AddTo(content, MakeItems(10));
  ExpectHolds(Open(), content);
  EXPECT_EQ(Open().metalayers(), expected);
  EXPECT_TRUE(Open().info().sealed);
  ExpectLayers(Open(), {{.name = "note", .content = MakeItems(7)}});
}

TEST_F(MetadataEditsTest, VlmetalayersAreAddedReplacedAndDeleted) {
  ASSERT_TRUE(IsOk(Frame::Create(path_)));
  EditFrame([](Writer& writer) {
    for (int i = 0; i < 4; ++i) {
      ASSERT_TRUE(IsOk(writer.SetVlmetalayer(NumberedName(i), MakeItems(10))));
    }
  });
  EditFrame([](Writer& writer) {
    ASSERT_TRUE(IsOk(writer.SetVlmetalayer(NumberedName(1), MakeItems(5000))));
    ASSERT_TRUE(IsOk(writer.DeleteVlmetalayer(NumberedName(2))));
    EXPECT_EQ(writer.DeleteVlmetalayer(NumberedName(2)).code(), StatusCode::kNotFound);
  });
  ExpectLayers(Open(), {{.name = NumberedName(0), .content = MakeItems(10)},
                        {.name = NumberedName(1), .content = MakeItems(5000)},
                        {.name = NumberedName(3), .content = MakeItems(10)}});
  EXPECT_EQ(Open().GetVlmetalayer(NumberedName(2)).status().code(), StatusCode::kNotFound);
}

TEST_F(MetadataEditsTest, VlmetalayersMayBeEmptyOrLarge) {
  ASSERT_TRUE(IsOk(Frame::Create(path_)));
  const std::string longest(kMaxMetalayerName, 'n');
  const std::vector<Metalayer> layers = {{.name = "empty"},
                                         {.name = "large", .content = MakeItems(1 << 20)},
                                         {.name = "noise", .content = test::MakeNoise(1 << 20)},
                                         {.name = "zeros", .content = Buffer(1 << 20)},
                                         {.name = longest, .content = MakeItems(1)}};
  EditFrame([&](Writer& writer) {
    for (const Metalayer& layer : layers) {
      ASSERT_TRUE(IsOk(writer.SetVlmetalayer(layer.name, layer.content)));
    }
    ExpectLayers(*writer.StagedSnapshot(), layers);
  });
  ExpectLayers(Open(), layers);
  ExpectHolds(Open(), {});
}

TEST_F(MetadataEditsTest, RefusedNamesChangeNothing) {
  Frame frame = *Frame::Create(path_);
  Writer writer = *frame.OpenWriter();
  const uint64_t generation = frame.snapshot().info().generation;
  const std::string too_long(kMaxMetalayerName + 1, 'n');
  for (const std::string_view name : {"cairn", "cairn.fp", too_long.c_str()}) {
    EXPECT_EQ(writer.SetVlmetalayer(name, MakeItems(5)).code(), StatusCode::kInvalidArgument)
        << name;
  }
  for (const std::string_view name : {"cairn", "cairn.fp"}) {
    EXPECT_EQ(writer.DeleteVlmetalayer(name).code(), StatusCode::kNotFound) << name;
    EXPECT_EQ(frame.snapshot().GetVlmetalayer(name).status().code(), StatusCode::kNotFound);
  }
  EXPECT_EQ(writer.Commit()->info().generation, generation);
  EXPECT_TRUE(writer.Commit()->vlmetalayers().empty());
}

TEST_F(MetadataEditsTest, FifteenVlmetalayersLeaveNoRoomForTheSeal) {
  ASSERT_TRUE(IsOk(Frame::Create(path_, test::Cut(4, 1000))));
  EditFrame([](Writer& writer) {
    ASSERT_TRUE(IsOk(writer.Append(MakeItems(2500))));
    for (int i = 0; i < 14; ++i) {
      ASSERT_TRUE(IsOk(writer.SetVlmetalayer(NumberedName(i), MakeItems(10))));
    }
  });
  EXPECT_TRUE(Open().info().sealed);
  EXPECT_TRUE(Open().Verify()->notes.empty());

  EditFrame([](Writer& writer) {
    ASSERT_TRUE(IsOk(writer.SetVlmetalayer(NumberedName(14), MakeItems(10))));
  });
  EXPECT_FALSE(Open().info().sealed);
  ASSERT_EQ(Open().Verify()->notes.size(), 1u);
  EXPECT_NE(Open().Verify()->notes[0].find("15 vlmetalayers"), std::string::npos);
  ExpectHolds(Open(), MakeItems(2500));

  EditFrame([](Writer& writer) { ASSERT_TRUE(IsOk(writer.DeleteVlmetalayer(NumberedName(3)))); });
  EXPECT_EQ(Open().vlmetalayers().size(), 14u);
  ExpectHolds(Open(), MakeItems(2500));
}

TEST_F(MetadataEditsTest, PartialChunkGoesOnInAFrameWithoutRoomForTheSeal) {
  ASSERT_TRUE(IsOk(Frame::Create(path_, test::Cut(4, 1000))));
  EditFrame([](Writer& writer) {
    for (int i = 0; i < 15; ++i) {
      ASSERT_TRUE(IsOk(writer.SetVlmetalayer(NumberedName(i), MakeItems(10))));
    }
    ASSERT_TRUE(IsOk(writer.Append(MakeItems(100))));
  });
  EditFrame([](Writer& writer) {
    ASSERT_TRUE(IsOk(writer.Append(Bytes(MakeItems(1500)).subspan(100))));
  });
  ExpectHolds(Open(), MakeItems(1500));
  EXPECT_EQ(Open().info().nchunks, 2);
}

TEST_F(MetadataEditsTest, DuplicateVlmetalayerIsDeletedTwice) {
  CreateOptions options = test::Cut(4, 1000);
  options.fingerprint = FingerprintType::kNone;
  ASSERT_TRUE(
      IsOk(test::WriteFrame(path_, options, MakeItems(20), {{"twin 1", "a"}, {"twin 2", "b"}})));
  Buffer frame = test::FileBytes(path_);
  const Bytes name = AsBytes("twin 2");
  const auto at = std::search(frame.begin(), frame.end(), name.begin(), name.end());
  ASSERT_NE(at, frame.end());
  CopyBytes(AsBytes("twin 1"), MutableBytes(&*at, name.size()));
  test::PutFileBytes(path_, frame);
  ASSERT_EQ(Open().vlmetalayers(), (std::vector<std::string>{"twin 1", "twin 1"}));
  Frame opened = *Frame::Open(path_);
  Writer writer = *opened.OpenWriter();
  ASSERT_TRUE(IsOk(writer.DeleteVlmetalayer("twin 1")));
  const absl::StatusOr<Snapshot> committed = writer.Commit();
  ASSERT_TRUE(IsOk(committed));
  EXPECT_TRUE(committed->vlmetalayers().empty());
  EXPECT_TRUE(Open().vlmetalayers().empty());
}

}  // namespace
}  // namespace cairn::frame
