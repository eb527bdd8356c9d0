// The wrappers around C-Blosc2's frames themselves, without Cairn.
#include "tests/interop/peer_frame.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "tests/interop/peer_edits.h"

namespace cairn::interop {
namespace {

TEST(PeerFrameTest, ReadsWhatItWrote) {
  const std::string path = FreshPath("peer");
  Random random(1);
  CompressionOptions options;
  options.typesize = 4;
  const Layers metalayers = {{"m", MakeData(DataKind::kText, 20, 1, random)}, {"none", {}}};
  std::vector<Buffer> chunks;
  {
    auto frame = PeerFrame::Create(path, options, metalayers);
    ASSERT_TRUE(frame.has_value());
    for (int i = 0; i < 3; ++i) {
      chunks.push_back(MakeData(DataKind::kWalk, 4000, 4, random));
      ASSERT_TRUE(frame->Append(chunks.back()));
    }
    chunks[1] = MakeData(DataKind::kRandom, 4000, 4, random);
    ASSERT_TRUE(frame->Update(1, chunks[1]));
    chunks.insert(chunks.begin(), MakeData(DataKind::kText, 4000, 4, random));
    ASSERT_TRUE(frame->Insert(0, chunks[0]));
    chunks.pop_back();
    ASSERT_TRUE(frame->Delete(3));
    ASSERT_TRUE(frame->SetVlmetalayer("v", metalayers.at("m")));
    ASSERT_TRUE(frame->SetVlmetalayer("gone", metalayers.at("m")));
    ASSERT_TRUE(frame->DeleteVlmetalayer("gone"));
    ASSERT_TRUE(frame->UpdateMetalayer("m", MakeData(DataKind::kText, 20, 1, random)));
    ASSERT_TRUE(frame->UpdateMetalayer("m", metalayers.at("m")));
  }
  for (const auto& frame : {PeerFrame::Open, PeerFrame::OpenMapped}) {
    const auto opened = frame(path);
    ASSERT_TRUE(opened.has_value());
    EXPECT_EQ(opened->nchunks(), 3);
    EXPECT_EQ(opened->nbytes(), 12000);
    EXPECT_TRUE(opened->ReadChunks() == chunks);
    EXPECT_EQ(opened->metalayers(), metalayers);
    EXPECT_EQ(opened->vlmetalayers(), (Layers{{"v", metalayers.at("m")}}));
    const auto items = opened->ReadItems(999, 2);
    ASSERT_TRUE(items.has_value());
    EXPECT_TRUE(std::equal(items->begin(), items->begin() + 4, chunks[0].end() - 4));
  }
  std::filesystem::remove(path);
}

TEST(PeerFrameTest, RandomEditsEqualTheModel) {
  const std::string path = FreshPath("edits");
  Random random(2);
  for (int i = 0; i < 200; ++i) {
    std::filesystem::remove(path);
    FrameCase c = MakeEditableFrameCase(random);
    SCOPED_TRACE(testing::Message() << "case " << i << ": " << c);
    CreateByPeer(path, random, &c);
    if (HasFailure()) return;
    ExpectPeerReadsFile(path, c, random);
    EditByPeer(path, random, &c);
    if (HasFailure()) return;
    ExpectPeerReadsFile(path, c, random);
    if (HasFailure()) return;
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace cairn::interop
