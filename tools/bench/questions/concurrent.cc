// Measures a process that writes and one that reads.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "cairn/frame.h"
#include "tools/bench/contestants/stores.h"
#include "tools/bench/data/datasets.h"
#include "tools/bench/data/samples.h"
#include "tools/bench/results/contest.h"
#include "tools/bench/results/session.h"
#include "tools/status.h"

namespace cairn::bench {

namespace {

constexpr int64_t kReadableBefore = 2000;  // chunks in the frame when the reader comes
constexpr double kTime = 1;                // seconds of a round

struct Reads {
  int64_t count = 0;
  int64_t wrong = 0;
  double seconds = 0;  // time of its processor
};

// Looks for newer commits and reads any chunk, repeatedly.
Reads ReadFor(double seconds, const std::string& path, const std::vector<std::byte>& data) {
  Reads reads;
  absl::StatusOr<Frame> frame = Frame::Open(path);
  if (!frame.ok()) return {.count = 0, .wrong = 1, .seconds = seconds};
  std::mt19937_64 random(5);
  std::vector<std::byte> raw(kSampleSize);
  const double begin = Now(Clock::kWall);
  const double cpu_begin = Now(Clock::kCpu);
  do {
    for (int i = 0; i < 100; ++i) {
      const absl::StatusOr<Snapshot> now = frame->Refresh();
      const int64_t nchunks = now.ok() ? now->info().nchunks : 1;
      const auto at = static_cast<int64_t>(random() % static_cast<uint64_t>(nchunks));
      const bool right = now.ok() && now->ReadChunk(at, raw).ok() &&
                         std::memcmp(raw.data(), SampleAt(data, static_cast<uint64_t>(at)).data(),
                                     raw.size()) == 0;
      if (!right) ++reads.wrong;
      ++reads.count;
    }
    reads.seconds = Now(Clock::kCpu) - cpu_begin;
  } while (Now(Clock::kWall) - begin < seconds);
  return reads;
}

// A child that reads. It shares only the file with the writer.
class Reader {
 public:
  Reader(const std::string& path, const std::vector<std::byte>& data) {
    int ends[2];
    if (::pipe(ends) != 0) return;
    child_ = ::fork();
    if (child_ == 0) {
      const Reads reads = ReadFor(kTime, path, data);
      const bool told = ::write(ends[1], &reads, sizeof(reads)) == sizeof(reads);
      ::_exit(told ? 0 : 1);
    }
    ::close(ends[1]);
    answer_ = ends[0];
  }
  ~Reader() {
    ::close(answer_);
    ::waitpid(child_, nullptr, 0);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  Reads Take() const {
    Reads reads{.count = 0, .wrong = 1, .seconds = kTime};
    if (::read(answer_, &reads, sizeof(reads)) != sizeof(reads)) reads.wrong = 1;
    return reads;
  }

 private:
  pid_t child_ = -1;
  int answer_ = -1;
};

absl::Status RunConcurrent(Session& session) {
  const std::vector<std::byte> data = MakeSamples();
  const std::string path = session.PathFor("concurrent");
  Samples alone{.name = "a read, alone", .rounds = {}};
  Samples grown{.name = "a read, alone, of the frame that the writer left", .rounds = {}};
  Samples beside{.name = "a read, beside the writer", .rounds = {}};
  Samples commits{.name = "an append and its commit, beside the reader", .rounds = {}};
  int64_t wrong = 0;
  for (int round = 0; round < session.rounds; ++round) {
    CreateOptions options;
    options.compression.codec = Codec::kLz4;
    options.compression.clevel = 5;
    options.compression.typesize = TypesizeOf(DataSet::kA);
    options.chunksize = kSampleSize;
    options.overwrite = true;
    ASSIGN_OR_RETURN(Frame frame, Frame::Create(path, options));
    ASSIGN_OR_RETURN(Writer writer, frame.OpenWriter());
    absl::Status status;
    int64_t nchunks = 0;
    while (nchunks < kReadableBefore && status.ok())
      status = writer.Append(SampleAt(data, static_cast<uint64_t>(nchunks++)));
    if (status.ok()) status = writer.Commit(Durability::kProcess).status();
    if (!status.ok()) return status;

    const Reads quiet = Reader(path, data).Take();
    const Reader reader(path, data);
    const double begin = Now(Clock::kWall);
    const double cpu_begin = Now(Clock::kCpu);
    const int64_t before = nchunks;
    while (Now(Clock::kWall) - begin < kTime && status.ok()) {
      for (int i = 0; i < 100 && status.ok(); ++i) {
        status = writer.Append(SampleAt(data, static_cast<uint64_t>(nchunks++)));
        if (status.ok()) status = writer.Commit(Durability::kProcess).status();
      }
    }
    const double took = Now(Clock::kCpu) - cpu_begin;
    if (!status.ok()) return status;
    const Reads busy = reader.Take();
    const Reads after = Reader(path, data).Take();
    grown.rounds.push_back(after.seconds / static_cast<double>(std::max<int64_t>(after.count, 1)));
    alone.rounds.push_back(quiet.seconds / static_cast<double>(std::max<int64_t>(quiet.count, 1)));
    beside.rounds.push_back(busy.seconds / static_cast<double>(std::max<int64_t>(busy.count, 1)));
    commits.rounds.push_back(took / static_cast<double>(nchunks - before));
    wrong += quiet.wrong + busy.wrong + after.wrong;
  }
  RemoveStore(path);
  session.report.Add(Judge({.text = "one process appends and commits each chunk of 4 KiB, one "
                                    "refreshes and reads",
                            .clock = Clock::kCpu},
                           {alone, grown, beside, commits}));
  session.report.Note(std::to_string(wrong) + " reads were wrong or failed");
  return absl::OkStatus();
}

}  // namespace

void AddConcurrent(CLI::App& app, Session& session) {
  CLI::App* const command = app.add_subcommand("concurrent", "A writer and a reader at once");
  command->callback([&session] { session.run = [&session] { return RunConcurrent(session); }; });
}

}  // namespace cairn::bench
