// Verification of whole collections.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/collection.h"
#include "engine/base/bytes.h"
#include "tests/support/bytes.h"
#include "tests/support/files.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

class CollectionVerifyTest : public testing::Test {
 protected:
  // Makes the members /a and /g/b of some chunks, and attributes of /g.
  static CollectionSnapshot Make(const std::string& path) {
    EXPECT_TRUE(IsOk(Collection::Create(path)));
    CollectionWriter writer = Collection::Open(path)->OpenWriter().value();
    for (const std::string name : {"/a", "/g/b"}) {
      CreateOptions options;
      options.compression.typesize = 4;
      options.chunksize = ChunkSize(4000);
      EXPECT_TRUE(IsOk(writer.Add(name, options)->Append(std::vector<int32_t>(2500, 7))));
    }
    EXPECT_TRUE(IsOk(writer.EditAttributes("/g")->SetVlmetalayer("unit", {})));
    EXPECT_TRUE(IsOk(writer.Close()));
    return Collection::Open(path)->snapshot();
  }

  absl::StatusOr<VerifyReport> Verify(const VerifyOptions& options = {}) const {
    return snapshot_.Verify(options);
  }
  std::vector<std::string> Sections() const {
    std::vector<std::string> sections;
    const VerifyReport report = Verify().value();
    for (const Finding& finding : report.findings) sections.push_back(finding.section);
    return sections;
  }
  void Overwrite(const std::string& file, int64_t offset) const {
    std::fstream(path_ + file, std::ios::in | std::ios::out | std::ios::binary).seekp(offset)
        << "damage";
  }

  TempDir dir_;
  const std::string path_ = dir_.Path("c.b2d");
  const CollectionSnapshot snapshot_ = Make(path_);
};

TEST_F(CollectionVerifyTest, IntactCollectionHasNoFindings) {
  const VerifyReport report = Verify().value();
  EXPECT_TRUE(report.ok());
  EXPECT_TRUE(report.sealed);
  EXPECT_GE(report.nchunks, 6);
  EXPECT_TRUE(report.notes.empty());
}

TEST_F(CollectionVerifyTest, DamageIsFoundInEveryFrame) {
  const Snapshot b = snapshot_.OpenMember("/g/b").value();
  Overwrite("/g/b.b2f", b.GetEntry(1)->offset.value() + 33);
  Overwrite("/embed.b2e", 40);
  std::ofstream(path_ + "/a.b2f") << "no frame";
  EXPECT_EQ(Sections(), (std::vector<std::string>{"embed.b2e", "/a", "/g/b: chunk 1"}));
}

TEST_F(CollectionVerifyTest, MissingFilesAreDamage) {
  std::filesystem::remove(path_ + "/g/b.b2f");
  std::filesystem::remove(path_ + "/g/__vlmeta__.b2f");
  EXPECT_EQ(Sections(), (std::vector<std::string>{"/g/__vlmeta__", "/g/b"}));
}

TEST_F(CollectionVerifyTest, ProgressCountsTheChunksOfAllFramesAndStops) {
  std::vector<int64_t> seen;
  const auto note = [&](int64_t chunks) {
    seen.push_back(chunks);
    return true;
  };
  const VerifyReport report = Verify({.progress = note}).value();
  EXPECT_TRUE(std::ranges::is_sorted(seen));
  EXPECT_EQ(seen.back(), report.nchunks);
  const auto stop = [](int64_t chunks) { return chunks < 4; };
  EXPECT_TRUE(Fails(Verify({.progress = stop}), absl::StatusCode::kCancelled, ""));
}

// Chunks have fingerprints, and headers a copy in the seal.
TEST(CollectionHeaderTest, EachFlippedBitIsToldOrChangesNothing) {
  const TempDir dir;
  const std::string path = dir.Path("c.b2d");
  std::vector<int32_t> values(300);
  std::iota(values.begin(), values.end(), 0);
  {
    CollectionWriter writer = Collection::Create(path)->OpenWriter().value();
    CreateOptions options;
    options.compression.typesize = 4;
    options.array = {.shape = {300}, .chunkshape = {64}, .dtype = "<i4"};
    ASSERT_TRUE(IsOk(writer.Add("/a", options)->WriteItems(0, values)));
    ASSERT_TRUE(IsOk(writer.Close()));
  }
  const uint64_t content = Collection::Open(path)->snapshot().ContentHash().value();
  const std::string file = path + "/a.b2nd";
  const Buffer intact = FileBytes(file);
  const size_t header = AsText(intact).find("dtype_format") + 40;
  ASSERT_LT(header, 400U);
  int told = 0;
  for (size_t at = 0; at < header; ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      Buffer flipped = intact;
      flipped[at] ^= std::byte{1} << bit;
      PutFileBytes(file, flipped);
      const CollectionSnapshot state = Collection::Open(path)->snapshot();
      const absl::StatusOr<Snapshot> member = state.OpenMember("/a");
      const bool is_right_size = member.ok() && member->info().nitems == 300;
      ASSERT_TRUE(is_right_size || !member.ok()) << at << " " << bit;
      std::vector<int32_t> items(is_right_size ? 300 : 0);
      if (!member.ok() || !member->ReadItems(0, items).ok()) {
        EXPECT_FALSE(state.Verify()->ok()) << at << " " << bit;
        ++told;
        continue;
      }
      EXPECT_EQ(items, values) << at << " " << bit;
      EXPECT_EQ(member->array()->dtype, "<i4") << at << " " << bit;
      EXPECT_EQ(member->array()->shape, std::vector<int64_t>{300}) << at << " " << bit;
      if (bit != static_cast<int>(at % 8)) continue;
      const std::string copy = dir.Path("copy.b2z");
      ASSERT_TRUE(IsOk(state.CopyTo(copy))) << at << " " << bit;
      EXPECT_EQ(Collection::Open(copy)->snapshot().ContentHash().value(), content);
      std::filesystem::remove(copy);
    }
  }
  EXPECT_GT(told, 200);
}

}  // namespace
}  // namespace cairn::test
