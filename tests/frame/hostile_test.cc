// Frames whose bytes lie, in ways that fuzzing found to be answered wrongly.
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/endian.h"
#include "tests/frame/frame_test_data.h"
#include "tests/frame/small_frames.h"
#include "tests/support/temp_dir.h"

namespace cairn::frame {
namespace {

using absl::StatusCode;
using test::Buffer;
using test::IsOk;

// Where the header has the typesize.
constexpr size_t kTypesizeAt = 0x30;

TEST(HostileFrameTest, NansOfATypesizeThatHasNoneAreDamage) {
  const test::TempDir dir;
  CreateOptions options = test::Cut(4, 40);
  options.fingerprint = FingerprintType::kNone;
  absl::StatusOr<Writer> writer = Frame::Build(dir.Path("f"), options);
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->AppendSpecial(SpecialValue::kNans, 10)));
  ASSERT_TRUE(IsOk(writer->Close()));
  Buffer bytes = test::FileBytes(dir.Path("f"));
  StoreBe<uint32_t>(bytes.data() + kTypesizeAt, 5);

  const absl::StatusOr<Frame> frame = Frame::OpenBuffer(bytes);
  ASSERT_TRUE(IsOk(frame));
  Buffer chunk(40);
  EXPECT_EQ(frame->snapshot().ReadChunk(0, chunk).code(), StatusCode::kDataLoss);
  EXPECT_EQ(frame->snapshot().GetChunk(0).status().code(), StatusCode::kDataLoss);
}

}  // namespace
}  // namespace cairn::frame
