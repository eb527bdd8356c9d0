// Compares the codecs for numbers with the other ones, on columns of numbers.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "cairn/chunk.h"
#include "tools/bench/data/number_columns.h"
#include "tools/bench/results/contest.h"
#include "tools/bench/results/session.h"
#include "tools/status.h"

namespace cairn::bench {

namespace {

constexpr int64_t kNumbers = int64_t{1} << 18;

struct Coding {
  const char* name;
  Codec codec;
  int clevel;
  Filter filter = Filter::kShuffle;
};

constexpr Coding kCodings[] = {
    {"pco-5", Codec::kPco, 5},
    {"bitpack", Codec::kBitpack, 5},
    {"auto-5", Codec::kAuto, 5},
    {"zstd-5 + shuffle", Codec::kZstd, 5},
    {"zstd-5 + bytedelta", Codec::kZstd, 5, Filter::kByteDelta},
    {"zstd-9 + shuffle", Codec::kZstd, 9},
    {"LZ4-5 + shuffle", Codec::kLz4, 5},
    {"LZ4-5 + bitshuffle", Codec::kLz4, 5, Filter::kBitShuffle},
};

CompressionOptions CodingOptions(const Coding& coding, const NumberColumn& column) {
  CompressionOptions options = {
      .codec = coding.codec, .clevel = coding.clevel, .typesize = column.size};
  if (CodesNumbers(coding.codec)) {
    options.filters.clear();
    options.codec_meta = column.kind;
  } else if (coding.filter == Filter::kByteDelta) {
    options.filters.push_back({.filter = coding.filter});
  } else {
    options.filters = {{.filter = coding.filter}};
  }
  return options;
}

// A contestant with its chunk.
struct NumberContestant {
  ChunkCompressor compressor;
  std::vector<std::byte> chunk;
};

absl::Status CompareColumn(Session& session, const NumberColumn& column) {
  const ChunkDecompressor decompressor{DecompressionOptions()};
  std::vector<std::byte> coded(MaxCompressedSize(column.bytes.size()));
  std::vector<std::byte> decoded(column.bytes.size());
  std::vector<std::unique_ptr<NumberContestant>> contestants;
  std::string ratios;
  for (const Coding& coding : kCodings) {
    ASSIGN_OR_RETURN(ChunkCompressor compressor,
                     ChunkCompressor::Make(CodingOptions(coding, column)));
    ASSIGN_OR_RETURN(const size_t size, compressor.Compress(column.bytes, coded));
    const double ratio = static_cast<double>(column.bytes.size()) / static_cast<double>(size);
    absl::StrAppendFormat(&ratios, "%s%.2f", ratios.empty() ? "" : ", ", ratio);
    contestants.push_back(std::make_unique<NumberContestant>(NumberContestant{
        std::move(compressor), {coded.begin(), coded.begin() + static_cast<int64_t>(size)}}));
  }
  const auto nbytes = static_cast<int64_t>(column.bytes.size());
  Contest compress(
      {.text = absl::StrCat("code ", column.name, " (ratios ", ratios, ")"), .op_bytes = nbytes});
  Contest decompress({.text = absl::StrCat("decode ", column.name), .op_bytes = nbytes});
  for (size_t i = 0; i < contestants.size(); ++i) {
    NumberContestant& contestant = *contestants[i];
    compress.Add(kCodings[i].name,
                 [&] { return contestant.compressor.Compress(column.bytes, coded).status(); });
    decompress.Add(kCodings[i].name,
                   [&] { return decompressor.Decompress(contestant.chunk, decoded); });
  }
  for (const Contest* contest : {&compress, &decompress}) {
    ASSIGN_OR_RETURN(Result result, contest->Run(session.rounds));
    session.report.Add(std::move(result));
  }
  return absl::OkStatus();
}

absl::Status RunNumbers(Session& session) {
  for (const NumberColumn& column : NumberColumns(kNumbers)) {
    RETURN_IF_ERROR(CompareColumn(session, column));
  }
  return absl::OkStatus();
}

}  // namespace

void AddNumbers(CLI::App& app, Session& session) {
  CLI::App* const command =
      app.add_subcommand("numbers",
                         "Columns of numbers: pco, bitpack and auto beside zstd and LZ4"
                         ", and the ratios");
  command->callback([&session] { session.run = [&session] { return RunNumbers(session); }; });
}

}  // namespace cairn::bench
