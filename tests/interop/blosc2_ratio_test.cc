// Cairn compresses as well as C-Blosc2 with the same settings and block size.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/chunk.h"
#include "tests/interop/chunk_case.h"
#include "tests/interop/peer.h"
#include "tests/support/status.h"

namespace cairn::interop {
namespace {

constexpr size_t kDataBytes = 1 << 19;
constexpr double kAllowedBytes = 64;

// By how much Cairn's bytes may exceed the peer's.
struct Allowed {
  double one = 0.02;  // data set
  double all = 0.02;
};

struct DataSet {
  DataKind kind;
  int32_t typesize;
};

constexpr DataSet kDataSets[] = {
    {DataKind::kWalk, 4},   {DataKind::kWalk, 8},     {DataKind::kSine, 4},
    {DataKind::kSine, 8},   {DataKind::kText, 1},     {DataKind::kSparse, 4},
    {DataKind::kSparse, 2}, {DataKind::kRecords, 24}, {DataKind::kRecords, 16}};

constexpr Filter kFilters[] = {Filter::kNone, Filter::kShuffle, Filter::kBitShuffle};

// BloscLZ is Cairn's own, so that each of its levels may be worse.
std::vector<int> LevelsOf(Codec codec) {
  if (codec == Codec::kBloscLz) return {1, 2, 3, 4, 5, 6, 7, 8, 9};
  return {1, 5, 9};
}

// Wheels bring zlib-ng, whose versions begin at 2. At the same level it is not zlib's equal: zlib
// 1.2.13 takes up to 13.2% more for one of the data sets and up to 2.2% more for all of them, or up
// to 60% less.
bool PeerHasZlibNg() {
  char* name = nullptr;
  char* version = nullptr;
  if (blosc2_get_complib_info("zlib", &name, &version) < 0) return false;
  const bool is_ng = version[0] >= '2';
  std::free(name);
  std::free(version);
  return is_ng;
}

Allowed AllowedFor(Codec codec) {
  if (codec == Codec::kZlib && PeerHasZlibNg()) return {.one = 0.14, .all = 0.025};
  return {};
}

// Sums over the data sets, for the table.
struct Total {
  double ours = 0;
  double theirs = 0;
  double worst = -1;  // excess of one data set
};

void Compare(const DataSet& set, CompressionOptions options, double allowed, Total* total) {
  Random random(static_cast<uint64_t>(set.typesize));
  const Buffer data = MakeData(set.kind, kDataBytes, set.typesize, random);
  options.typesize = set.typesize;
  const auto theirs = PeerCompress(data, options);
  ASSERT_TRUE(theirs.has_value());
  int32_t blocksize = 0;
  blosc2_cbuffer_sizes(theirs->data(), nullptr, nullptr, &blocksize);
  options.blocksize = blocksize;
  Buffer chunk(MaxCompressedSize(data.size()));
  const auto size = CompressChunk(data, options, chunk);
  ASSERT_TRUE(IsOk(size));

  const auto ours_size = static_cast<double>(*size);
  const auto their_size = static_cast<double>(theirs->size());
  EXPECT_LE(ours_size, their_size * (1 + allowed) + kAllowedBytes)
      << ToString(set.kind) << " typesize " << set.typesize << " block " << blocksize;
  total->ours += ours_size;
  total->theirs += their_size;
  total->worst = std::max(total->worst, (ours_size - kAllowedBytes) / their_size - 1);
}

class RatioTest : public testing::TestWithParam<Codec> {};

TEST_P(RatioTest, StaysWithinTwoPercentOfThePeer) {
  const Allowed allowed = AllowedFor(GetParam());
  const double raw = static_cast<double>(kDataBytes * std::size(kDataSets));
  std::printf("  codec level filter    ours   peer  excess  worst one\n");
  for (const int level : LevelsOf(GetParam())) {
    for (const Filter filter : kFilters) {
      CompressionOptions options;
      options.codec = GetParam();
      options.clevel = level;
      options.filters = {{.filter = filter, .meta = 0}};
      if (filter == Filter::kNone) options.filters.clear();
      SCOPED_TRACE(testing::Message()
                   << "level " << level << " filter " << static_cast<int>(filter));
      Total total;
      for (const DataSet& set : kDataSets) Compare(set, options, allowed.one, &total);
      if (HasFatalFailure()) return;
      EXPECT_LE(total.ours,
                total.theirs * (1 + allowed.all) + kAllowedBytes * std::size(kDataSets));
      std::printf("%7s %5d %6d  %6.2f %6.2f %6.2f%%   %6.2f%%\n", ToString(GetParam()).data(),
                  level, static_cast<int>(filter), raw / total.ours, raw / total.theirs,
                  100 * (total.ours / total.theirs - 1), 100 * total.worst);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllCodecs, RatioTest, testing::ValuesIn(kAllCodecs),
                         [](const auto& info) { return std::string(ToString(info.param)); });

}  // namespace
}  // namespace cairn::interop
