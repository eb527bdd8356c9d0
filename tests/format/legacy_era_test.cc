#include <algorithm>

#include <gtest/gtest.h>

#include "engine/format/legacy/era.h"
#include "tests/format/legacy_frames.h"
#include "tests/support/hex.h"

namespace cairn::format::legacy {
namespace {

Era EraOfFrame(Bytes frame) {
  const auto size = static_cast<int64_t>(frame.size());
  return EraOf(frame.first(std::min(frame.size(), size_t{kEraBytes})), size);
}

TEST(LegacyEraTest, KnowsEveryFormatByItsFirstBytes) {
  EXPECT_EQ(EraOfFrame(test::PackedFrame()), Era::kPacked2015);
  EXPECT_EQ(EraOfFrame(test::PackedDeltaFrame()), Era::kPacked2015);
  EXPECT_EQ(EraOfFrame(test::Frame2019()), Era::kFrame2019);
  EXPECT_EQ(EraOfFrame(test::Frame2019WithLayer()), Era::kFrame2019);
  EXPECT_EQ(EraOfFrame(test::BetaFrame(test::BetaTrailerForm::kBeta2)), Era::kBeta);
  EXPECT_EQ(EraOfFrame(test::BetaFrame(test::BetaTrailerForm::kBeta4)), Era::kBeta);
  EXPECT_EQ(EraOfFrame(Hex("9e a8 62 32 66 72 61 6d 65 00")), Era::kCurrent);
}

TEST(LegacyEraTest, LeavesTheRestToTheParserOfCurrentFrames) {
  EXPECT_EQ(EraOfFrame({}), Era::kCurrent);
  EXPECT_EQ(EraOfFrame(Hex("9b a8 62 32 66 72 61 6d 65")), Era::kCurrent);
  EXPECT_EQ(EraOfFrame(Hex("9b a8 62 32 66 72 61 6d 65 01")), Era::kCurrent);
  EXPECT_EQ(EraOfFrame(Hex("9a a8 62 32 66 72 61 6d 65 00")), Era::kCurrent);
  EXPECT_EQ(EraOfFrame(std::vector<std::byte>(200)), Era::kCurrent);
  std::vector<std::byte> longer = test::PackedFrame();
  longer.push_back({});
  EXPECT_EQ(EraOfFrame(longer), Era::kCurrent) << "a super-chunk tells its own size";
}

}  // namespace
}  // namespace cairn::format::legacy
