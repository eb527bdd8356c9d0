// A progress bar on stderr for work that a person waits for: the part that is done, how fast it
// goes, and how long the rest takes at that rate. It appears only on a terminal, and only once the
// work has taken more than a second.
#ifndef CAIRN_TOOLS_CAIRN_IO_PROGRESS_H_
#define CAIRN_TOOLS_CAIRN_IO_PROGRESS_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace cairn::tool {

class Progress {
 public:
  // Without a total it shows only the finished part, without a label nothing. An empty `unit` means
  // bytes.
  Progress(const std::string& label, std::optional<int64_t> total, std::string unit = "");
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();  // wipes the bar

  // Draws at most ten times a second.
  void Show(int64_t done);

 private:
  using Clock = std::chrono::steady_clock;

  void Draw(int64_t done) const;

  std::string label_;
  std::optional<int64_t> total_;
  std::string unit_;
  bool visible_;
  bool drawn_ = false;
  Clock::time_point begin_;
  Clock::time_point next_;  // when the bar is drawn again
};

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_IO_PROGRESS_H_
