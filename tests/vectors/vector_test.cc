// Tests each entry of the manifest: every chunk and frame that a real Blosc wrote reads as it
// should, and every hostile one does no harm.
#include <filesystem>

#include <gtest/gtest.h>

#include "tests/vectors/allocation_meter.h"
#include "tests/vectors/chunk_checks.h"
#include "tests/vectors/frame_checks.h"
#include "tests/vectors/manifest.h"
#include "tests/vectors/support.h"

namespace cairn::vectors {
namespace {

bool MustRead(const Entry& entry) { return entry.expect().empty() || entry.expect() == "ok"; }

std::string NameOfParam(const testing::TestParamInfo<Entry>& info) { return NameOf(info.param); }

class ChunkVectorTest : public testing::TestWithParam<Entry> {};

TEST_P(ChunkVectorTest, IsAsTheManifestSays) {
  const Entry& entry = GetParam();
  const std::unique_ptr<GuardedBytes> chunk = ReadFile(VectorFolder() + "/" + entry.path);
  ASSERT_NE(chunk, nullptr) << entry.path << " is not there";
  if (MustRead(entry)) return CheckReadableChunk(entry, chunk->bytes());
  if (entry.expect() == "unsupported") return CheckUnsupportedChunk(chunk->bytes());
  CheckHostileChunk(entry, chunk->bytes());
}

INSTANTIATE_TEST_SUITE_P(Vectors, ChunkVectorTest, testing::ValuesIn(LoadEntries("chunk")),
                         NameOfParam);

class FrameVectorTest : public testing::TestWithParam<Entry> {};

TEST_P(FrameVectorTest, IsAsTheManifestSays) {
  const Entry& entry = GetParam();
  if (entry.NeedsAnotherBuild()) GTEST_SKIP() << "built without libzfp";
  for (const Access access : AccessesOf(entry)) {
    SCOPED_TRACE(ToString(access));
    if (MustRead(entry)) {
      CheckReadableFrame(entry, access);
    } else if (entry.expect() == "unsupported") {
      CheckUnsupportedFrame(entry, access);
    } else {
      CheckHostileFrame(entry, access);
    }
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Vectors, FrameVectorTest, testing::ValuesIn(LoadEntries("cframe")),
                         NameOfParam);
INSTANTIATE_TEST_SUITE_P(Sparse, FrameVectorTest, testing::ValuesIn(LoadEntries("sframe")),
                         NameOfParam);
INSTANTIATE_TEST_SUITE_P(Of2019, FrameVectorTest, testing::ValuesIn(LoadEntries("legacy-frame")),
                         NameOfParam);
INSTANTIATE_TEST_SUITE_P(Of2015, FrameVectorTest, testing::ValuesIn(LoadEntries("packed")),
                         NameOfParam);

// The memory that a hostile file may make us allocate.
constexpr int64_t kAllowedBytes = 64 << 20;

int64_t SizeOf(const std::filesystem::path& path) {
  if (!std::filesystem::is_directory(path)) {
    return static_cast<int64_t>(std::filesystem::file_size(path));
  }
  int64_t size = 0;
  for (const auto& file : std::filesystem::directory_iterator(path)) size += SizeOf(file.path());
  return size;
}

int64_t AllowedFor(const Entry& entry) {
  return kAllowedBytes + 4 * SizeOf(VectorFolder() + "/" + entry.path);
}

void ExpectModest(const AllocationMeter& meter, const Entry& entry) {
  EXPECT_LE(meter.largest(), AllowedFor(entry)) << entry.path;
  EXPECT_LE(meter.peak(), AllowedFor(entry)) << entry.path;
}

TEST(HostileTest, NoChunkMakesUsAllocateMoreThanItsSizeJustifies) {
  for (const Entry& entry : LoadEntries("chunk")) {
    if (entry.Text("class") != "hostile") continue;
    const std::unique_ptr<GuardedBytes> chunk = ReadFile(VectorFolder() + "/" + entry.path);
    ASSERT_NE(chunk, nullptr) << entry.path << " is not there";
    const AllocationMeter meter;
    DecodeAll(chunk->bytes()).IgnoreError();
    ExpectModest(meter, entry);
  }
}

TEST(HostileTest, NoFrameMakesUsAllocateMoreThanItsSizeJustifies) {
  for (const std::string_view kind : {"cframe", "sframe"}) {
    for (const Entry& entry : LoadEntries(kind)) {
      if (entry.Text("class") != "hostile") continue;
      for (const Access access : AccessesOf(entry)) {
        SCOPED_TRACE(ToString(access));
        const AllocationMeter meter;
        ReadEverything(entry, access).IgnoreError();
        ExpectModest(meter, entry);
      }
    }
  }
}

TEST(HostileTest, NoFrameIsOpenedForMoreMemoryThanItsSizeJustifies) {
  for (const std::string_view kind : {"cframe", "sframe"}) {
    for (const Entry& entry : LoadEntries(kind)) {
      if (entry.Text("class") != "hostile") continue;
      const std::string path = VectorFolder() + "/" + entry.path;
      const int64_t size = SizeOf(path);
      for (const bool use_mmap : {true, false}) {
        const AllocationMeter meter;
        const auto frame =
            Frame::Open(path, {.offset = entry.Number("offset"), .use_mmap = use_mmap});
        EXPECT_LE(meter.peak(), AllowedForOpening(size)) << entry.path << ", map: " << use_mmap;
      }
    }
  }
}

TEST(HostileTest, MeterSeesLargeAllocations) {
  const AllocationMeter meter;
  {
    const std::vector<std::byte> large(1 << 20);
    // Or it need not be made.
    [[maybe_unused]] const std::byte* const volatile used = large.data();
  }
  EXPECT_GE(meter.largest(), 1 << 20);
  EXPECT_GE(meter.peak(), 1 << 20);
  EXPECT_LT(meter.peak(), 2 << 20);
}

TEST(ManifestTest, HasChunksAndFrames) {
  EXPECT_GT(LoadEntries("chunk").size(), 100u) << VectorFolder();
  EXPECT_GT(LoadEntries("cframe").size(), 100u) << VectorFolder();
  EXPECT_GT(LoadEntries("sframe").size(), 10u) << VectorFolder();
  EXPECT_GT(LoadEntries("legacy-frame").size(), 5u) << VectorFolder();
  EXPECT_GT(LoadEntries("packed").size(), 5u) << VectorFolder();
}

}  // namespace
}  // namespace cairn::vectors
