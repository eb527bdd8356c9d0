// Measures what a second thread gains for a chunk of 4 MiB.

#include "tools/bench/questions/chunk_contest.h"
#include "tools/bench/results/session.h"
#include "tools/status.h"

namespace cairn::bench {

namespace {

absl::Status RunThreads(Session& session) {
  for (const DataSet set : {DataSet::kA, DataSet::kB}) {
    for (const Codec codec :
         {Codec::kBloscLz, Codec::kLz4, Codec::kLz4Hc, Codec::kZlib, Codec::kZstd}) {
      for (const int threads : {1, 2}) {
        RETURN_IF_ERROR(CompareChunk(session, {.set = set, .codec = codec, .threads = threads}));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

void AddThreads(CLI::App& app, Session& session) {
  CLI::App* const command = app.add_subcommand("threads", "Chunks of 4 MiB by one and two threads");
  command->callback([&session] { session.run = [&session] { return RunThreads(session); }; });
}

}  // namespace cairn::bench
