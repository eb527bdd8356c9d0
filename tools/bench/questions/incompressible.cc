// Measures the cost of noise: data that no codec makes smaller.

#include "tools/bench/questions/chunk_contest.h"
#include "tools/bench/results/session.h"
#include "tools/status.h"

namespace cairn::bench {

namespace {

absl::Status RunIncompressible(Session& session) {
  for (const size_t nbytes : {size_t{4} << 20, size_t{4} << 10}) {
    for (const Codec codec :
         {Codec::kBloscLz, Codec::kLz4, Codec::kLz4Hc, Codec::kZlib, Codec::kZstd}) {
      RETURN_IF_ERROR(
          CompareChunk(session, {.set = DataSet::kC, .codec = codec, .nbytes = nbytes}));
    }
  }
  return absl::OkStatus();
}

}  // namespace

void AddIncompressible(CLI::App& app, Session& session) {
  CLI::App* const command = app.add_subcommand("incompressible", "Chunks of noise in memory");
  command->callback(
      [&session] { session.run = [&session] { return RunIncompressible(session); }; });
}

}  // namespace cairn::bench
