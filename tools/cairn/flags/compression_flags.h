// The options that control how items become chunks, which all commands that compress share.
#ifndef CAIRN_TOOLS_CAIRN_FLAGS_COMPRESSION_FLAGS_H_
#define CAIRN_TOOLS_CAIRN_FLAGS_COMPRESSION_FLAGS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include <CLI/CLI.hpp>

#include "cairn/options.h"

namespace cairn::tool {

// The meaning of an option that is not given.
enum class Absent {
  kDefault,   // the default of CompressionOptions, which help prints
  kUnchanged  // the old value stays
};

class CompressionFlags {
 public:
  // Adds the options to the command. They are written to this object, which must stay in place.
  void AddTo(CLI::App& app, Absent absent = Absent::kDefault);

  // Returns true if any of the options except --threads was given.
  bool given() const;
  // Returns `base` changed by the flags. Errors: kInvalidArgument if they contradict each other.
  absl::StatusOr<CompressionOptions> Over(CompressionOptions base) const;
  absl::StatusOr<CompressionOptions> Options() const { return Over({}); }
  bool has_typesize() const { return typesize_.has_value(); }
  bool has_block_size() const { return block_size_.has_value(); }
  int threads() const { return threads_; }

 private:
  std::optional<std::string> codec_;
  std::optional<int> codec_meta_;
  std::optional<int> level_;
  std::optional<int32_t> typesize_;
  std::optional<int64_t> block_size_;
  std::optional<std::string> filters_;
  std::optional<std::string> split_mode_;
  bool dict_ = false;
  int threads_ = 0;
};

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_FLAGS_COMPRESSION_FLAGS_H_
