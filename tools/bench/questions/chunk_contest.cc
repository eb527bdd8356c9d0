#include "tools/bench/questions/chunk_contest.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "cairn/chunk.h"
#include "cairn/executor.h"
#include "tools/bench/contestants/bare.h"
#include "tools/bench/contestants/blosc2_chunks.h"
#include "tools/bench/results/contest.h"
#include "tools/status.h"

namespace cairn::bench {

namespace {

std::string NameOf(Codec codec) {
  switch (codec) {
    case Codec::kBloscLz:
      return "BloscLZ";
    case Codec::kLz4:
      return "LZ4";
    case Codec::kLz4Hc:
      return "LZ4HC";
    case Codec::kZlib:
      return "zlib";
    case Codec::kZstd:
      return "zstd";
    case Codec::kNdlz:
    case Codec::kZfpAccuracy:
    case Codec::kZfpPrecision:
    case Codec::kZfpRate:
    case Codec::kPco:
    case Codec::kBitpack:
    case Codec::kAuto:
      break;  // these need arrays or numbers
  }
  return "codec";
}

std::string NameOf(const ChunkRow& row) {
  const std::string threads = row.threads > 1 ? absl::StrCat(", ", row.threads, " threads") : "";
  return absl::StrCat(NameOf(row.codec), "-", row.clevel,
                      row.filter == Filter::kShuffle ? " + shuffle" : " + bitshuffle", ", data ",
                      NameOf(row.set), ", ", row.nbytes / 1024, " KiB", threads);
}

// The data that all contestants work on.
struct Desk {
  CompressionOptions options;
  std::vector<std::byte> raw;
  std::vector<std::byte> chunk;  // coded by Cairn
  std::vector<std::byte> coded;  // memory for a coded chunk
  std::vector<std::byte> decoded;
  int64_t repeats = 1;  // in a round
};

// Adds a step that is repeated as often as the round asks.
void AddRepeated(Contest& contest, const Desk& desk, std::string name, Contest::Step step) {
  contest.Add(std::move(name), [step = std::move(step), repeats = desk.repeats] {
    absl::Status status;
    for (int64_t i = 0; i < repeats; ++i) status.Update(step());
    return status;
  });
}

struct Limit {
  std::string name;
  BareCodec codec;
};

// The fastest library comes first, because ratios refer to it.
absl::StatusOr<std::vector<Limit>> MakeLimits(const CompressionOptions& options) {
  std::vector<Limit> limits;
  if (options.codec == Codec::kZlib && HaveLibdeflate()) {
    ASSIGN_OR_RETURN(BareCodec codec, BareCodec::Make(options, ZlibLibrary::kLibdeflate));
    limits.push_back({"limit: libdeflate + kernel", std::move(codec)});
  }
  ASSIGN_OR_RETURN(BareCodec codec, BareCodec::Make(options));
  limits.push_back(
      {limits.empty() ? "limit: bare codec + kernel" : "zlib + kernel", std::move(codec)});
  return limits;
}

absl::Status CompareOnDesk(Session& session, const ChunkRow& row, Desk& desk) {
  ASSIGN_OR_RETURN(const ChunkCompressor compressor, ChunkCompressor::Make(desk.options));
  const ChunkDecompressor decompressor({.executor = desk.options.executor});
  ASSIGN_OR_RETURN(const size_t size, compressor.Compress(desk.raw, desk.chunk));
  desk.chunk.resize(size);
  ASSIGN_OR_RETURN(const ChunkInfo info, InspectChunk(desk.chunk));

  const Clock clock = row.threads > 1 ? Clock::kWall : Clock::kCpu;
  const auto nbytes = static_cast<int64_t>(row.nbytes);
  const double ratio = static_cast<double>(row.nbytes) / static_cast<double>(size);
  std::string ratios = absl::StrFormat("ratio %.2f", ratio);
#ifdef CAIRN_HAVE_BLOSC2
  Blosc2Chunks blosc(desk.options, row.threads);
  ASSIGN_OR_RETURN(const size_t blosc_size, blosc.Compress(desk.raw, desk.coded));
  absl::StrAppendFormat(&ratios, ", C-Blosc2's %.2f",
                        static_cast<double>(row.nbytes) / static_cast<double>(blosc_size));
#endif
  Contest compress({.text = absl::StrCat("compress ", NameOf(row), " (", ratios, ")"),
                    .ops = desk.repeats,
                    .op_bytes = nbytes,
                    .clock = clock});
  Contest decompress({.text = absl::StrCat("decompress ", NameOf(row)),
                      .ops = desk.repeats,
                      .op_bytes = nbytes,
                      .clock = clock});

  std::vector<Limit> limits;
  if (HaveKernels() && row.threads == 1 && row.codec != Codec::kBloscLz && !info.memcpyed) {
    ASSIGN_OR_RETURN(std::vector<Limit> made, MakeLimits(desk.options));
    limits = std::move(made);
  }
  ASSIGN_OR_RETURN(const std::vector<StoredBlock> blocks,
                   limits.empty() ? std::vector<StoredBlock>() : TakeApart(desk.chunk));
  for (Limit& limit : limits) {
    AddRepeated(compress, desk, limit.name,
                [&] { return limit.codec.Encode(desk.raw, info, desk.coded).status(); });
    AddRepeated(decompress, desk, limit.name,
                [&] { return limit.codec.Decode(blocks, desk.decoded); });
  }
  AddRepeated(compress, desk, "Cairn",
              [&] { return compressor.Compress(desk.raw, desk.coded).status(); });
  AddRepeated(decompress, desk, "Cairn",
              [&] { return decompressor.Decompress(desk.chunk, desk.decoded); });
#ifdef CAIRN_HAVE_BLOSC2
  AddRepeated(compress, desk, "C-Blosc2",
              [&] { return blosc.Compress(desk.raw, desk.coded).status(); });
  AddRepeated(decompress, desk, "C-Blosc2",
              [&] { return blosc.Decompress(desk.chunk, desk.decoded); });
#endif
  for (const Contest* contest : {&compress, &decompress}) {
    ASSIGN_OR_RETURN(Result result, contest->Run(session.rounds));
    session.report.Add(std::move(result));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CompareChunk(Session& session, const ChunkRow& row) {
  Desk desk;
  desk.options.codec = row.codec;
  desk.options.clevel = row.clevel;
  desk.options.typesize = TypesizeOf(row.set);
  desk.options.filters = {{.filter = row.filter}};
  std::shared_ptr<Executor> executor;
  if (row.threads > 1) {
    executor = MakeThreadExecutor(row.threads);
    desk.options.executor = executor;
  }
  desk.raw = MakeData(row.set, row.nbytes, 1);
  desk.chunk.resize(MaxCompressedSize(row.nbytes));
  desk.coded.resize(2 * row.nbytes + 65536);
  desk.decoded.resize(row.nbytes);
  // A round takes at least a megabyte, so that clocks do not matter, and many if threads wait for
  // each other.
  const size_t least = row.threads > 1 ? size_t{64} << 20 : size_t{1} << 20;
  desk.repeats = static_cast<int64_t>(std::max<size_t>(1, least / row.nbytes));
  return CompareOnDesk(session, row, desk);
}

}  // namespace cairn::bench
