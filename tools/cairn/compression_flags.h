// The options that say how items become chunks, shared by all commands that compress.
#ifndef CAIRN_TOOLS_CAIRN_COMPRESSION_FLAGS_H_
#define CAIRN_TOOLS_CAIRN_COMPRESSION_FLAGS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include <CLI/CLI.hpp>

#include "cairn/options.h"

namespace cairn::tool {

class CompressionFlags {
 public:
  // Adds the options to the command; they are written to this object, which must stay in place.
  void AddTo(CLI::App& app);

  // What the flags say; kInvalidArgument when they contradict each other.
  absl::StatusOr<CompressionOptions> Options() const;
  int threads() const { return threads_; }

 private:
  std::string codec_ = "lz4";
  int level_ = 5;
  int32_t typesize_ = 1;
  int64_t block_size_ = 0;
  std::string filters_ = "shuffle";
  std::string split_mode_ = "forward";
  bool dict_ = false;
  int threads_ = 0;
};

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_COMPRESSION_FLAGS_H_
