// Options that several subcommands share.
#ifndef CAIRN_TOOLS_CAIRN_FLAGS_H_
#define CAIRN_TOOLS_CAIRN_FLAGS_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include <CLI/CLI.hpp>

#include "cairn/executor.h"
#include "cairn/types.h"

namespace cairn::tool {

// A count of bytes that may carry a unit. Throws CLI::ValidationError, which names the option, when
// it is none or not within [min, max].
int64_t ParseByteSizeOption(const std::string& name, const std::string& text, int64_t min,
                            int64_t max);

// An option that takes such a count. T is int64_t or an optional one.
template <typename T>
CLI::Option* AddByteSize(CLI::App& app, const std::string& name, T& value, int64_t min,
                         int64_t max) {
  const auto parse = [name, &value, min, max](const std::string& text) {
    value = ParseByteSizeOption(name, text, min, max);
  };
  return app.add_option_function<std::string>(name, parse)->type_name("BYTES");
}

// --offset: where in a file the frame (or chunk) begins.
CLI::Option* AddOffset(CLI::App& app, int64_t& offset);

// --max-bytes: the most that may be printed; no bound by default.
CLI::Option* AddMaxBytes(CLI::App& app, std::optional<int64_t>& max_bytes);
// kResourceExhausted when `size` bytes are more than that.
absl::Status CheckMaxBytes(const std::optional<int64_t>& max_bytes, int64_t size);

// --threads: 0, the default, takes all cores.
CLI::Option* AddThreads(CLI::App& app, int& threads);

// --wait: how long a command that writes waits for another writer.
CLI::Option* AddWait(CLI::App& app, std::chrono::milliseconds& wait);

// --generation: a state of the frame's history instead of the newest.
CLI::Option* AddGeneration(CLI::App& app, std::optional<uint64_t>& generation);

// Null, the calling thread, for one thread.
std::unique_ptr<Executor> MakeExecutor(int threads);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_FLAGS_H_
