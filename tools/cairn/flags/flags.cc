#include "tools/cairn/flags/flags.h"

#include <algorithm>
#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"

#include "tools/cairn/text/times.h"
#include "tools/cairn/text/units.h"

namespace cairn::tool {

int64_t ParseByteSizeOption(const std::string& name, const std::string& text, int64_t min,
                            int64_t max) {
  const absl::StatusOr<int64_t> size = ParseByteSize(text);
  if (absl::IsOutOfRange(size.status()) || (size.ok() && *size > max)) {
    throw CLI::ValidationError(
        name, absl::StrFormat("%s is larger than the largest possible, %d bytes", text, max));
  }
  if (!size.ok()) throw CLI::ValidationError(name, std::string(size.status().message()));
  if (*size < min) {
    throw CLI::ValidationError(name, absl::StrFormat("%s is smaller than the smallest possible, %s",
                                                     text, FormatCount(min, "byte")));
  }
  return *size;
}

CLI::Option* AddPaths(CLI::App& app, const std::string& name, std::vector<std::string>& paths) {
  // More files may follow, so this is not a list: CLI11 reads the file `[a,b]` of a list as two.
  constexpr int kAnyNumber = std::numeric_limits<int>::max();
  return app.add_option(name, paths)
      ->required()
      ->expected(kAnyNumber, kAnyNumber)
      ->take_all()
      ->allow_extra_args(false);
}

CLI::Option* AddOffset(CLI::App& app, int64_t& offset) {
  return AddByteSize(app, "--offset", offset, 0, std::numeric_limits<int64_t>::max());
}

CLI::Option* AddMaxBytes(CLI::App& app, std::optional<int64_t>& max_bytes) {
  return AddByteSize(app, "--max-bytes", max_bytes, 0, std::numeric_limits<int64_t>::max())
      ->description("Print nothing if the data is larger than this");
}

absl::Status CheckMaxBytes(const std::optional<int64_t>& max_bytes, int64_t size) {
  if (!max_bytes || size <= *max_bytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrFormat("%d bytes are more than --max-bytes %d", size, *max_bytes));
}

CLI::Option* AddThreads(CLI::App& app, int& threads) {
  return AddNumber(app, "--threads", threads, 0, 1024)
      ->description("Threads that work on blocks; 0 is one per core")
      ->default_str("0");
}

CLI::Option* AddWait(CLI::App& app, std::chrono::milliseconds& wait) {
  const auto set = [&wait](const std::string& text) {
    constexpr int32_t kMostSeconds = 1'000'000'000;
    double seconds = 0;
    if (const auto duration = ParseDuration(text, TimeUnit::kMilliseconds); duration.ok()) {
      wait = std::chrono::milliseconds(std::min<int64_t>(*duration, 1000 * int64_t{kMostSeconds}));
      return;
    }
    // NaN lies on neither side of a bound.
    if (!absl::SimpleAtod(text, &seconds) || !(seconds >= 0 && seconds <= kMostSeconds)) {
      throw CLI::ValidationError(
          "--wait",
          absl::StrFormat("'%s' is not a duration such as 5s, or a number of seconds from 0 to %d",
                          text, kMostSeconds));
    }
    wait = std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
  };
  return app.add_option_function<std::string>("--wait", set, "How long to wait for another writer")
      ->default_str("0")
      ->type_name("SECONDS");
}

CLI::Option* AddKeep(CLI::App& app, uint64_t& keep) {
  return AddNumber(app, "--keep", keep, uint64_t{0}, std::numeric_limits<uint64_t>::max())
      ->description("Generations before the newest that stay in the history")
      ->default_str("0");
}

CLI::Option* AddMaxSize(CLI::App& app, int64_t& size) {
  return AddByteSize(app, "--max-size", size, 1, std::numeric_limits<int64_t>::max())
      ->description("Refuse what makes the frame's files larger than this together");
}

CLI::Option* AddGeneration(CLI::App& app, std::optional<uint64_t>& generation) {
  return AddNumber(app, "--generation", generation, uint64_t{0},
                   std::numeric_limits<uint64_t>::max())
      ->description("Read this generation, one of those that 'cairn history' lists")
      ->type_name("G");
}

CLI::Option* AddDurable(CLI::App& app, bool& durable) {
  return app.add_flag("--durable", durable, "Leave out commits that a power cut could take back");
}

std::shared_ptr<Executor> MakeExecutor(int threads) {
  return threads == 1 ? nullptr : MakeThreadExecutor(threads);
}

}  // namespace cairn::tool
