// Measures what the journal costs apart from time: bytes, syncs and checkpoints. Also measures what
// a reader pays for asking for news.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "cairn/frame.h"
#include "tools/bench/contestants/stores.h"
#include "tools/bench/data/counting_files.h"
#include "tools/bench/data/datasets.h"
#include "tools/bench/results/contest.h"
#include "tools/bench/results/session.h"
#include "tools/status.h"

namespace cairn::bench {

namespace {

constexpr int64_t kMost = 1'000'000;  // commits
constexpr size_t kJournalChunk = 4096;

CreateOptions JournalOptions(int32_t chunksize, const std::shared_ptr<FileSystem>& files) {
  CreateOptions options;
  options.chunksize = chunksize;
  options.compression = UsualCompression(DataSet::kC);
  options.overwrite = true;
  options.file_system = files;
  return options;
}

// Commits noise, so that the stored bytes are not fewer than the given ones.
absl::Status CommitNoise(Writer& writer, DataSource& source, size_t size) {
  RETURN_IF_ERROR(writer.Append(source.Next().first(size)));
  return writer.Commit(Durability::kProcess).status();
}

struct Costs {
  Curve bytes;
  Curve syncs;
  Curve checkpoints;
};

absl::StatusOr<Costs> CountCommits(const std::string& path, size_t size, int32_t chunksize) {
  const std::string name = absl::StrCat(size, " bytes a commit, chunks of ", chunksize);
  Costs costs{.bytes = {.name = name, .points = {}},
              .syncs = {.name = name + ": syncs", .points = {}},
              .checkpoints = {.name = name + ": checkpoints", .points = {}}};
  const auto files = std::make_shared<CountingFileSystem>();
  ASSIGN_OR_RETURN(Frame frame, Frame::Create(path, JournalOptions(chunksize, files)));
  ASSIGN_OR_RETURN(Writer writer, frame.OpenWriter());
  DataSource source(DataSet::kC, kJournalChunk);
  files->Reset();
  int64_t next = 1000;
  for (int64_t i = 1; i <= kMost; ++i) {
    RETURN_IF_ERROR(CommitNoise(writer, source, size));
    if (i != next) continue;
    const Counts& counts = files->counts();
    const auto commits = static_cast<double>(i);
    costs.bytes.points.emplace_back(
        commits, static_cast<double>(counts.bytes_written) / (commits * static_cast<double>(size)));
    costs.syncs.points.emplace_back(commits, static_cast<double>(counts.syncs));
    costs.checkpoints.points.emplace_back(commits, static_cast<double>(counts.header_writes));
    next *= 10;
  }
  return costs;
}

absl::Status CompareJournals(Session& session) {
  Growth bytes{.question = "bytes written, without durable commits",
               .x_title = "commits",
               .y_title = "for each byte given",
               .curves = {}};
  Growth calls{.question = "syncs and checkpoints, without durable commits",
               .x_title = "commits",
               .y_title = "so far",
               .curves = {}};
  for (const auto& [size, chunksize] :
       {std::pair{kJournalChunk, int32_t{kJournalChunk}}, {size_t{100}, int32_t{1} << 20}}) {
    const std::string path = session.PathFor("journal");
    absl::StatusOr<Costs> costs = CountCommits(path, size, chunksize);
    RemoveStore(path);
    if (!costs.ok()) return costs.status();
    bytes.curves.push_back(std::move(costs->bytes));
    calls.curves.push_back(std::move(costs->syncs));
    calls.curves.push_back(std::move(costs->checkpoints));
  }
  session.report.Add(std::move(bytes));
  session.report.Add(std::move(calls));
  return absl::OkStatus();
}

absl::Status CompareRefresh(Session& session) {
  constexpr int64_t kTimes = 100'000;
  const std::string path = session.PathFor("refresh");
  ASSIGN_OR_RETURN(Frame made, Frame::Create(path, JournalOptions(1 << 20, nullptr)));
  ASSIGN_OR_RETURN(Writer writer, made.OpenWriter());
  DataSource source(DataSet::kC, kJournalChunk);
  for (int i = 0; i < 1000; ++i) {
    RETURN_IF_ERROR(CommitNoise(writer, source, 16));
  }
  ASSIGN_OR_RETURN(Frame mapped, Frame::Open(path));
  ASSIGN_OR_RETURN(Frame unmapped, Frame::Open(path, {.use_mmap = false}));
  Contest contest({.text = "refresh without news", .ops = kTimes});
  for (const auto& [name, frame] : {std::pair{"mapped", &mapped}, {"without a map", &unmapped}}) {
    contest.Add(name, [frame = frame] {
      absl::Status status;
      for (int64_t i = 0; i < kTimes; ++i) status.Update(frame->Refresh().status());
      return status;
    });
  }
  absl::StatusOr<Result> result = contest.Run(session.rounds);
  RemoveStore(path);
  if (!result.ok()) return result.status();
  session.report.Add(*std::move(result));
  return absl::OkStatus();
}

absl::Status RunJournal(Session& session) {
  const absl::Status status = CompareJournals(session);
  return status.ok() ? CompareRefresh(session) : status;
}

}  // namespace

void AddJournal(CLI::App& app, Session& session) {
  CLI::App* const command =
      app.add_subcommand("journal", "Bytes, syncs and checkpoints of many commits; needs 5 GB");
  command->callback([&session] { session.run = [&session] { return RunJournal(session); }; });
}

}  // namespace cairn::bench
