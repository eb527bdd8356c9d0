// Options that several subcommands share.
#ifndef CAIRN_TOOLS_CAIRN_FLAGS_FLAGS_H_
#define CAIRN_TOOLS_CAIRN_FLAGS_FLAGS_H_

#include <charconv>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include <CLI/CLI.hpp>

#include "cairn/executor.h"
#include "cairn/types.h"

namespace cairn::tool {

// Parses a count of bytes, perhaps with a unit. Throws CLI::ValidationError, which names the
// option, if the text is not one or is not within [min, max].
int64_t ParseByteSizeOption(const std::string& name, const std::string& text, int64_t min,
                            int64_t max);

// Adds an option that takes such a count. T is int64_t or an optional one.
template <typename T>
CLI::Option* AddByteSize(CLI::App& app, const std::string& name, T& value, int64_t min,
                         int64_t max) {
  const auto parse = [name, &value, min, max](const std::string& text) {
    value = ParseByteSizeOption(name, text, min, max);
  };
  return app.add_option_function<std::string>(name, parse)->type_name("BYTES");
}

// Parses a decimal whole number. Throws CLI::ValidationError, which names the option, if the text
// is not one or is not within [min, max].
template <typename T>
T ParseNumberOption(const std::string& name, const std::string& text, T min, T max) {
  const char* const end = text.data() + text.size();
  T number = 0;
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const bool large = error == std::errc::result_out_of_range && !text.starts_with('-');
  if (rest == end && (large || (error == std::errc() && number > max))) {
    throw CLI::ValidationError(
        name, absl::StrFormat("%s is larger than the largest possible, %d", text, max));
  }
  if (error == std::errc() && rest == end && number >= min) return number;
  throw CLI::ValidationError(
      name, absl::StrFormat("'%s' is not a whole number from %d to %d", text, min, max));
}

// Adds an option that takes such a number. CLI11 itself would read 010 as 8 and accept numbers that
// are too large. `value` is a T or an optional one.
template <typename T, typename Value>
CLI::Option* AddNumber(CLI::App& app, const std::string& name, Value& value, T min, T max) {
  const auto parse = [name, &value, min, max](const std::string& text) {
    value = ParseNumberOption(name, text, min, max);
  };
  return app.add_option_function<std::string>(name, parse)->type_name("N");
}

// Adds an argument that may be given several times, and must be given once.
CLI::Option* AddPaths(CLI::App& app, const std::string& name, std::vector<std::string>& paths);

// Adds --offset: where in a file the frame (or chunk) begins.
CLI::Option* AddOffset(CLI::App& app, int64_t& offset);

// Adds --max-bytes: the most that may be printed. By default there is no bound.
CLI::Option* AddMaxBytes(CLI::App& app, std::optional<int64_t>& max_bytes);
// Errors: kResourceExhausted if `size` is more than `max_bytes`.
absl::Status CheckMaxBytes(const std::optional<int64_t>& max_bytes, int64_t size);

// Adds --threads. Its default 0 takes all cores.
CLI::Option* AddThreads(CLI::App& app, int& threads);

// Adds --wait: how long a command that writes waits for another writer.
CLI::Option* AddWait(CLI::App& app, std::chrono::milliseconds& wait);

// Adds --keep: how much of the history a command that writes leaves.
CLI::Option* AddKeep(CLI::App& app, uint64_t& keep);

// Adds --max-size: how large a command that writes lets the frame become.
CLI::Option* AddMaxSize(CLI::App& app, int64_t& size);

// Adds --generation: a state of the frame's history instead of the newest.
CLI::Option* AddGeneration(CLI::App& app, std::optional<uint64_t>& generation);

// Adds --durable: see OpenOptions::durable_only.
CLI::Option* AddDurable(CLI::App& app, bool& durable);

// Returns null, which means the calling thread, for one thread.
std::shared_ptr<Executor> MakeExecutor(int threads);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_FLAGS_FLAGS_H_
