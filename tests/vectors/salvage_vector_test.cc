// Chunks that real Blosc2 versions wrote are saved where only they are left of a frame.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "cairn/recover.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/vectors/allocation_meter.h"
#include "tests/vectors/manifest.h"
#include "tests/vectors/support.h"

namespace cairn::vectors {
namespace {

using Buffer = std::vector<std::byte>;

void WriteFile(const std::string& path, Bytes bytes) {
  std::ofstream stream(path, std::ios::binary);
  stream.write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
  ASSERT_TRUE(stream.flush().good());
}

bool IsReadable(const Entry& entry) {
  return entry.Text("class") != "hostile" && entry.expect().empty() && !entry.NeedsAnotherBuild();
}

// Returns true for facts that chunks do not tell: blocks of arrays, a typesize that does not fit
// into a byte.
bool NeedsHeader(const FrameInfo& info) {
  return info.typesize > 255 || info.codec >= Codec::kNdlz ||
         std::ranges::any_of(info.filters, [](const FilterStage& stage) {
           return stage.filter == Filter::kNdCell || stage.filter == Filter::kNdMean;
         });
}

// The stored chunks in the order in which they lie in the file, decoded.
std::vector<Buffer> StoredChunks(const Snapshot& snapshot) {
  std::vector<std::pair<int64_t, int64_t>> places;
  for (int64_t i = 0; i < snapshot.info().nchunks; ++i) {
    const auto entry = snapshot.GetEntry(i);
    if (entry.ok() && entry->offset) places.emplace_back(*entry->offset, i);
  }
  std::ranges::sort(places);
  std::vector<Buffer> chunks;
  for (const auto& [offset, number] : places) {
    chunks.emplace_back(static_cast<size_t>(snapshot.ChunkNbytes(number).value()));
    EXPECT_TRUE(IsOk(snapshot.ReadChunk(number, chunks.back()))) << number;
  }
  return chunks;
}

std::vector<Buffer> AllChunks(const Snapshot& snapshot) {
  std::vector<Buffer> chunks;
  for (int64_t i = 0; i < snapshot.info().nchunks; ++i) {
    chunks.emplace_back(static_cast<size_t>(snapshot.ChunkNbytes(i).value()));
    EXPECT_TRUE(IsOk(snapshot.ReadChunk(i, chunks.back()))) << i;
  }
  return chunks;
}

// Whether `few` are among `all`, in this order: dead chunks may lie between them.
bool AreAmong(const std::vector<Buffer>& few, const std::vector<Buffer>& all) {
  auto at = all.begin();
  for (const Buffer& chunk : few) {
    at = std::find(at, all.end(), chunk);
    if (at == all.end()) return false;
    ++at;
  }
  return true;
}

class SalvageVectorTest : public testing::TestWithParam<Entry> {
 protected:
  void SetUp() override {
    const auto file = ReadFile(VectorFolder() + "/" + GetParam().path);
    ASSERT_NE(file, nullptr);
    bytes_.assign(file->bytes().begin(), file->bytes().end());
  }

  void Overwrite(int64_t begin, int64_t end) {
    auto random = RandomFor(GetParam().path);
    for (int64_t i = begin; i < end; ++i) {
      bytes_[static_cast<size_t>(i)] = static_cast<std::byte>(random());
    }
  }

  // The chunks that are saved of the bytes as they are now.
  std::vector<Buffer> SaveAll() {
    const test::TempDir dir;
    WriteFile(dir.Path("damaged"), bytes_);
    const auto report = Salvage(dir.Path("damaged"), dir.Path("saved"));
    if (absl::IsNotFound(report.status())) return {};
    EXPECT_TRUE(IsOk(report));
    const auto frame = Frame::Open(dir.Path("saved"));
    EXPECT_TRUE(IsOk(frame));
    return frame.ok() ? AllChunks(frame->snapshot()) : std::vector<Buffer>();
  }

  Buffer bytes_;
};

TEST_P(SalvageVectorTest, StoredChunksAreSavedWithoutHeaderIndexAndTrailer) {
  OpenOptions options;
  options.offset = GetParam().Number("offset");
  const auto frame = Frame::OpenBuffer(bytes_, options);
  ASSERT_TRUE(IsOk(frame));
  const FrameInfo info = frame->snapshot().info();
  if (NeedsHeader(info)) GTEST_SKIP();
  const std::vector<Buffer> chunks = StoredChunks(frame->snapshot());
  // In the order of the index, where there is one.
  const std::vector<Buffer> undamaged = SaveAll();
  for (const Buffer& chunk : chunks) EXPECT_GT(std::ranges::count(undamaged, chunk), 0);
  const int64_t begin = options.offset;
  const int64_t area = info.nchunks == 0 ? 0 : info.cbytes + info.dead_bytes.value_or(0);
  Overwrite(begin, begin + info.header_len);
  Overwrite(begin + info.header_len + area, begin + info.frame_size);
  const std::vector<Buffer> saved = SaveAll();
  EXPECT_TRUE(AreAmong(chunks, saved)) << saved.size() << " chunks of " << chunks.size();
}

std::vector<Entry> ReadableFrames() {
  std::vector<Entry> entries = LoadEntries("cframe");
  std::erase_if(entries, [](const Entry& entry) { return !IsReadable(entry); });
  return entries;
}

INSTANTIATE_TEST_SUITE_P(Vectors, SalvageVectorTest, testing::ValuesIn(ReadableFrames()),
                         [](const auto& info) { return NameOf(info.param); });

TEST(HostileSalvageTest, NoFileMakesUsAllocateMoreThanItsSizeJustifies) {
  const test::TempDir dir;
  for (const std::string_view kind : {"chunk", "cframe"}) {
    for (const Entry& entry : LoadEntries(kind)) {
      if (entry.Text("class") != "hostile") continue;
      const std::string path = VectorFolder() + "/" + entry.path;
      const int64_t allowed =
          (int64_t{64} << 20) + 4 * static_cast<int64_t>(std::filesystem::file_size(path));
      const AllocationMeter meter;
      const auto report = Salvage(path, dir.Path("saved"));
      EXPECT_LE(meter.peak(), allowed) << entry.path;
      if (!report.ok()) {
        EXPECT_TRUE(absl::IsNotFound(report.status())) << entry.path << ": " << report.status();
        continue;
      }
      const auto frame = Frame::Open(dir.Path("saved"));
      ASSERT_TRUE(IsOk(frame)) << entry.path;
      std::filesystem::remove(dir.Path("saved"));
    }
  }
}

}  // namespace
}  // namespace cairn::vectors
