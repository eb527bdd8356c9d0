#include "tests/concurrency/roles.h"

#include <random>
#include <thread>
#include <vector>

#include "cairn/frame.h"
#include "engine/base/status.h"
#include "tests/concurrency/observer.h"

namespace cairn::test {

namespace {

using std::chrono::microseconds;

void Pause(microseconds longest, std::mt19937_64& random) {
  if (longest.count() > 0) {
    std::this_thread::sleep_for(microseconds(random() % static_cast<uint64_t>(longest.count())));
  }
}

// Runs a thread of a reader.
absl::Status Observe(const NoticeBoard& board, Frame* frame, const ReaderOptions& options,
                     uint64_t seed) {
  std::mt19937_64 random(seed);
  Observer observer(frame, options.path, options.open, seed);
  bool last = false;
  while (!last) {
    last = board->writers_done;
    const int64_t commit = board->commit;
    const uint64_t generation = board->generation;
    CAIRN_RETURN_IF_ERROR(observer.Step());
    if (observer.commit() < commit || observer.generation() < generation) {
      return absl::DataLossError(
          absl::StrFormat("sees commit %d, generation %d; %d, %d were acknowledged",
                          observer.commit(), observer.generation(), commit, generation));
    }
    // A writer needs its share of the machine too.
    Pause(options.longest_pause, random);
  }
  board->states_seen += observer.states_seen();
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteUntilDone(const NoticeBoard& board, const Author::Options& options,
                            microseconds longest_pause) {
  std::mt19937_64 random(options.seed);
  const int64_t acknowledged = board->commit;
  CAIRN_ASSIGN_OR_RETURN(Frame frame,
                         Frame::Open(options.path, {.file_system = options.file_system}));
  Author author(&frame, options);
  CAIRN_RETURN_IF_ERROR(author.Resume());
  if (author.committed().commit < acknowledged) {
    return absl::DataLossError(absl::StrFormat("finds commit %d, %d was acknowledged",
                                               author.committed().commit, acknowledged));
  }
  ++board->writers_ready;
  while (!board->writers_done) {
    CAIRN_RETURN_IF_ERROR(author.Step());
    board->commit = author.committed().commit;
    board->generation = frame.snapshot().info().generation;
    ++board->steps;
    Pause(longest_pause, random);
  }
  return absl::OkStatus();
}

absl::Status ReadUntilWritersAreDone(const NoticeBoard& board, const ReaderOptions& options) {
  CAIRN_ASSIGN_OR_RETURN(Frame frame, Frame::Open(options.path, options.open));
  std::vector<absl::Status> results(static_cast<size_t>(options.threads));
  std::vector<std::thread> others;
  for (size_t i = 1; i < results.size(); ++i) {
    others.emplace_back([&, i] { results[i] = Observe(board, &frame, options, options.seed + i); });
  }
  results[0] = Observe(board, &frame, options, options.seed);
  for (std::thread& other : others) other.join();
  for (const absl::Status& result : results) CAIRN_RETURN_IF_ERROR(result);
  return absl::OkStatus();
}

}  // namespace cairn::test
