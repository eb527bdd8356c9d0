// Metadata made to waste time: what it costs grows no faster than it does.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/endian.h"
#include "engine/chunk/special.h"
#include "engine/format/trailer.h"
#include "tests/support/bytes.h"
#include "tests/support/cost.h"
#include "tests/support/frame_parts.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"

namespace cairn::test {
namespace {

// Names that differ in their last characters only.
std::string LongName(int64_t number) {
  const std::string digits = std::to_string(number);
  return std::string(static_cast<size_t>(kMaxMetalayerName) - digits.size(), 'n') + digits;
}

CreateOptions Unsealed() {
  CreateOptions options = Cut(1, 100);
  options.fingerprint = FingerprintType::kNone;
  return options;
}

// A frame with nothing but vlmetalayers.
Buffer FrameOfVlmetalayers(int64_t count) {
  Frame model = NewInMemory(Unsealed());
  auto writer = model.OpenWriter();
  EXPECT_TRUE(IsOk(writer->SetVlmetalayer("one", {})));  // the header says that there are some
  EXPECT_TRUE(IsOk(writer->Checkpoint()));
  Buffer frame = model.snapshot().ToBuffer().value();
  frame.resize(static_cast<size_t>(PartsOf(frame).trailer_begin));
  const Buffer content = chunk::MemcpyedChunk(MakeItems(10));
  std::vector<std::string> names;
  for (int64_t i = 0; i < count; ++i) names.push_back(LongName(i));
  std::vector<format::NamedBytes> layers;
  for (const std::string& name : names) layers.push_back({name, content});
  AddTo(frame, format::EncodeTrailer(layers, FingerprintType::kNone));
  constexpr size_t kFrameSizeAt = 0x10;
  StoreBe<uint64_t>(frame.data() + kFrameSizeAt, frame.size());
  return frame;
}

TEST(LayerCostsTest, TrailerFullOfVlmetalayersIsOpenedListedAndVerifiedInLinearTime) {
  ExpectLinear(kMaxVlMetalayers / 4, [](int64_t count) {
    return [bytes = FrameOfVlmetalayers(count), count] {
      const auto frame = Frame::OpenBuffer(bytes);
      ASSERT_TRUE(IsOk(frame));
      const Snapshot snapshot = frame->snapshot();
      EXPECT_EQ(std::ssize(snapshot.vlmetalayers()), count);
      EXPECT_EQ(snapshot.GetVlmetalayer(LongName(count - 1)).value(), MakeItems(10));
      EXPECT_TRUE(snapshot.Verify()->ok());
    };
  });
}

TEST(LayerCostsTest, HeaderFullOfLargeMetalayersIsOpenedAndReadInLinearTime) {
  ExpectLinear(20'000, [](int64_t size) {
    std::vector<Metalayer> layers;
    for (int i = 0; i < kMaxMetalayers; ++i) {
      layers.push_back({LongName(i), MakeItems(static_cast<size_t>(size))});
    }
    CreateOptions options = Unsealed();
    options.metalayers = layers;
    return [bytes = NewInMemory(options).snapshot().ToBuffer().value(), layers] {
      const auto frame = Frame::OpenBuffer(bytes);
      ASSERT_TRUE(IsOk(frame));
      const Snapshot snapshot = frame->snapshot();
      EXPECT_EQ(snapshot.metalayers().size(), layers.size());
      for (const Metalayer& layer : layers) {
        EXPECT_TRUE(snapshot.GetMetalayer(layer.name).value() == layer.content);
      }
      EXPECT_TRUE(snapshot.Verify()->ok());
    };
  });
}

}  // namespace
}  // namespace cairn::test
