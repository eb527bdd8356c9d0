// Compares the speed of coding and decoding chunks with the bare codec, over codecs, levels,
// filters, sizes.

#include "tools/bench/questions/chunk_contest.h"
#include "tools/bench/results/session.h"
#include "tools/status.h"

namespace cairn::bench {

namespace {

absl::Status RunCodec(Session& session) {
  struct Coding {
    Codec codec;
    int clevel;
    Filter filter = Filter::kShuffle;
  };
  constexpr Coding kCodings[] = {
      {Codec::kBloscLz, 5},
      {Codec::kLz4, 1},
      {Codec::kLz4, 5},
      {Codec::kLz4, 9},
      {Codec::kLz4Hc, 9},
      {Codec::kZlib, 1},
      {Codec::kZlib, 5},
      {Codec::kZstd, 1},
      {Codec::kZstd, 5},
      {Codec::kLz4, 5, Filter::kBitShuffle},
      {Codec::kZstd, 5, Filter::kBitShuffle},
  };
  for (const size_t nbytes : {size_t{4} << 20, size_t{64} << 10, size_t{4} << 10}) {
    for (const DataSet set : {DataSet::kA, DataSet::kB}) {
      for (const Coding& coding : kCodings) {
        RETURN_IF_ERROR(CompareChunk(session, {.set = set,
                                               .codec = coding.codec,
                                               .clevel = coding.clevel,
                                               .filter = coding.filter,
                                               .nbytes = nbytes}));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

void AddCodec(CLI::App& app, Session& session) {
  CLI::App* const command =
      app.add_subcommand("codec", "Chunks in memory: codecs, levels, filters and sizes");
  command->callback([&session] { session.run = [&session] { return RunCodec(session); }; });
}

}  // namespace cairn::bench
