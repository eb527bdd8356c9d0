// Times contestants side by side. Rounds alternate, so that whatever the machine does meanwhile
// affects all of them, and ratios are taken within a round.
#ifndef CAIRN_TOOLS_BENCH_RESULTS_CONTEST_H_
#define CAIRN_TOOLS_BENCH_RESULTS_CONTEST_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace cairn::bench {

enum class Clock {
  kCpu,   // time of the calling thread
  kWall,  // for operations that wait for a disk, another thread or a process
};

// Returns the seconds since some moment.
double Now(Clock clock);

struct Question {
  std::string text;      // "random chunk read, 4 KiB, data A"
  int64_t ops = 1;       // operations in a round
  int64_t op_bytes = 0;  // decoded bytes of one operation, for GB/s; 0 for microseconds
  Clock clock = Clock::kCpu;
};

// Returns a text such as "2.31 us" or "11.2 GB/s".
std::string Amount(const Question& question, double seconds);

// The seconds for an operation.
struct Score {
  std::string name;
  double median = 0;  // median of the rounds
  double best = 0;
  double ratio = 1;                // to the first contestant: the median over the rounds
  std::optional<double> p99 = {};  // of single operations, if they were timed
};

struct Result {
  Question question;
  std::vector<Score> scores;
};

double Median(std::vector<double> values);
double Percentile(std::vector<double> values, double share);  // share: 0 to 1

// The seconds for an operation that one contestant took, for each round.
struct Samples {
  std::string name;
  std::vector<double> rounds;
  std::vector<double> single_ops = {};  // for p99; may be empty
};
Result Judge(Question question, const std::vector<Samples>& samples);

class Contest {
 public:
  explicit Contest(Question question) : question_(std::move(question)) {}

  using Step = std::function<absl::Status()>;
  // `run` does all operations of one round. `prepare`, if given, comes before it, outside of the
  // clock. Ratios refer to the first contestant.
  void Add(std::string name, Step run, Step prepare = nullptr);
  // Runs one round more than asked, because the first warms up.
  absl::StatusOr<Result> Run(int rounds) const;

 private:
  struct Contestant {
    std::string name;
    Step run;
    Step prepare;
  };
  Question question_;
  std::vector<Contestant> contestants_;
};

}  // namespace cairn::bench

#endif  // CAIRN_TOOLS_BENCH_RESULTS_CONTEST_H_
