#include <algorithm>

#include <gtest/gtest.h>

#include "engine/format/legacy/era.h"
#include "tests/format/legacy_frames.h"
#include "tests/support/hex.h"

namespace cairn::format::legacy {
namespace {

absl::StatusOr<Era> FindEra(Bytes frame) {
  const auto size = static_cast<int64_t>(frame.size());
  return EraOf(frame.first(std::min(frame.size(), size_t{kEraBytes})), size);
}

Era EraOfFrame(Bytes frame) { return FindEra(frame).value(); }

bool IsNoFrame(Bytes frame) {
  return FindEra(frame).status() == absl::InvalidArgumentError("not a Blosc2 frame");
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

TEST(LegacyEraTest, LeavesDamageToTheParserOfCurrentFrames) {
  EXPECT_EQ(EraOfFrame(Hex("9b a8 62 32 66 72 61 6d 65")), Era::kCurrent);
  EXPECT_EQ(EraOfFrame(Hex("9b a8 62 32 66 72 61 6d 65 01")), Era::kCurrent);
  EXPECT_EQ(EraOfFrame(Hex("9a a8 62 32 66 72 61 6d 65 00")), Era::kCurrent);
  EXPECT_EQ(EraOfFrame(Hex("9e a8 62 32")), Era::kCurrent) << "cut short";
  EXPECT_EQ(EraOfFrame(Hex("9e 00 62 30 66 72 61 6d 65 00")), Era::kCurrent) << "damaged";
}

TEST(LegacyEraTest, RefusesWhatIsNotAFrame) {
  EXPECT_TRUE(IsNoFrame({}));
  EXPECT_TRUE(IsNoFrame(Hex("9e")));
  EXPECT_TRUE(IsNoFrame(Hex("89 48 44 46 0d 0a 1a 0a 00 00")));
  EXPECT_TRUE(IsNoFrame(std::vector<std::byte>(200)));
  std::vector<std::byte> longer = test::PackedFrame();
  longer.push_back({});
  EXPECT_TRUE(IsNoFrame(longer)) << "a super-chunk gives its own size";
}

}  // namespace
}  // namespace cairn::format::legacy
