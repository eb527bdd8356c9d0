// Compares BloscLZ at equal ratio. Both libraries have levels, but a level of one promises another
// ratio than the other's. Next to each level of C-Blosc2 stands the fastest level of Cairn's that
// does not make the chunk larger. Decoders get the same chunk.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "cairn/chunk.h"
#include "tools/bench/contestants/blosc2_chunks.h"
#include "tools/bench/data/datasets.h"
#include "tools/bench/results/contest.h"
#include "tools/bench/results/session.h"
#include "tools/status.h"

namespace cairn::bench {

namespace {

#ifdef CAIRN_HAVE_BLOSC2

constexpr size_t kBloscLzChunk = 4 << 20;
constexpr int kLevels = 9;
constexpr int kTrials = 5;

CompressionOptions BloscLzOptions(DataSet set, int clevel) {
  CompressionOptions options = UsualCompression(set);
  options.codec = Codec::kBloscLz;
  options.clevel = clevel;
  return options;
}

// The result of one of Cairn's levels for the chunk.
struct Level {
  int clevel = 0;
  ChunkCompressor compressor;
  std::vector<std::byte> chunk;
  double seconds = 0;
};

absl::StatusOr<Level> TryLevel(DataSet set, int clevel, Bytes raw) {
  ASSIGN_OR_RETURN(ChunkCompressor made, ChunkCompressor::Make(BloscLzOptions(set, clevel)));
  Level level{.clevel = clevel, .compressor = std::move(made), .chunk = {}};
  level.chunk.resize(MaxCompressedSize(raw.size()));
  std::vector<double> trials;
  absl::StatusOr<size_t> size = 0;
  for (int i = 0; i < kTrials; ++i) {
    const double begin = Now(Clock::kCpu);
    size = level.compressor.Compress(raw, level.chunk);
    if (!size.ok()) return size.status();
    trials.push_back(Now(Clock::kCpu) - begin);
  }
  level.seconds = Median(trials);
  level.chunk.resize(*size);
  return level;
}

absl::Status CompareLevel(Session& session, DataSet set, int clevel, Bytes raw,
                          std::vector<Level>& levels) {
  std::vector<std::byte> coded(2 * raw.size());
  std::vector<std::byte> decoded(raw.size());
  Blosc2Chunks blosc(BloscLzOptions(set, clevel), 1);
  ASSIGN_OR_RETURN(const size_t size, blosc.Compress(raw, coded));
  const auto is_better = [&](const Level& a, const Level& b) {
    const bool a_fits = a.chunk.size() <= size;
    const bool b_fits = b.chunk.size() <= size;
    return a_fits != b_fits ? a_fits : a.seconds < b.seconds;
  };
  Level& level = *std::min_element(levels.begin(), levels.end(), is_better);
  if (level.chunk.size() > size) {
    session.report.Note(absl::StrCat("BloscLZ, data ", NameOf(set), ": no level makes it as small",
                                     " as C-Blosc2's ", clevel));
    return absl::OkStatus();
  }

  const std::string row =
      absl::StrFormat("BloscLZ-%d for C-Blosc2's %d + shuffle, data %s, 4096 KiB", level.clevel,
                      clevel, NameOf(set));
  const auto nbytes = static_cast<int64_t>(raw.size());
  Contest compress(
      {.text = absl::StrFormat("compress %s (%d bytes for %d)", row, level.chunk.size(), size),
       .op_bytes = nbytes});
  compress.Add("Cairn", [&] { return level.compressor.Compress(raw, coded).status(); });
  compress.Add("C-Blosc2", [&] { return blosc.Compress(raw, coded).status(); });
  const ChunkDecompressor decompressor;
  Contest decompress({.text = "decompress " + row, .op_bytes = nbytes});
  decompress.Add("Cairn", [&] { return decompressor.Decompress(level.chunk, decoded); });
  decompress.Add("C-Blosc2", [&] { return blosc.Decompress(level.chunk, decoded); });
  for (const Contest* contest : {&compress, &decompress}) {
    ASSIGN_OR_RETURN(Result result, contest->Run(session.rounds));
    session.report.Add(std::move(result));
  }
  return absl::OkStatus();
}

absl::Status RunBloscLz(Session& session) {
  for (const DataSet set : {DataSet::kA, DataSet::kB}) {
    const std::vector<std::byte> raw = MakeData(set, kBloscLzChunk, 1);
    std::vector<Level> levels;
    for (int clevel = 1; clevel <= kLevels; ++clevel) {
      ASSIGN_OR_RETURN(Level level, TryLevel(set, clevel, raw));
      levels.push_back(std::move(level));
    }
    for (int clevel = 1; clevel <= kLevels; ++clevel) {
      RETURN_IF_ERROR(CompareLevel(session, set, clevel, raw, levels));
    }
  }
  return absl::OkStatus();
}

#else

absl::Status RunBloscLz(Session&) { return absl::OkStatus(); }

#endif

}  // namespace

void AddBloscLz(CLI::App& app, Session& session) {
  CLI::App* const command =
      app.add_subcommand("blosclz", "BloscLZ beside C-Blosc2's at equal ratio, level by level");
  command->callback([&session] { session.run = [&session] { return RunBloscLz(session); }; });
}

}  // namespace cairn::bench
