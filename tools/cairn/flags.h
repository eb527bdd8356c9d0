// Options that several subcommands share.
#ifndef CAIRN_TOOLS_CAIRN_FLAGS_H_
#define CAIRN_TOOLS_CAIRN_FLAGS_H_

#include <cstdint>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "cairn/executor.h"
#include "cairn/types.h"

namespace cairn::tool {

// A count of bytes within [min, max] that may carry a unit.
CLI::Option* AddByteSize(CLI::App& app, const std::string& name, int64_t& value, int64_t min,
                         int64_t max);

// --offset: where in a file the frame (or chunk) begins.
CLI::Option* AddOffset(CLI::App& app, int64_t& offset);

// --threads: 0, the default, takes all cores.
CLI::Option* AddThreads(CLI::App& app, int& threads);

// Null, the calling thread, for one thread.
std::unique_ptr<Executor> MakeExecutor(int threads);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_FLAGS_H_
