// The options that describe a new frame, which all commands that make one share.
#ifndef CAIRN_TOOLS_CAIRN_FLAGS_NEW_FRAME_FLAGS_H_
#define CAIRN_TOOLS_CAIRN_FLAGS_NEW_FRAME_FLAGS_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include <CLI/CLI.hpp>

#include "cairn/options.h"
#include "cairn/writer.h"
#include "tools/cairn/flags/compression_flags.h"

namespace cairn::tool {

class NewFrameFlags {
 public:
  // Adds the argument OUT.
  void AddOutTo(CLI::App& app);
  // Adds the options. They are written to this object, which must stay in place.
  void AddTo(CLI::App& app, Absent absent);

  const std::string& out() const { return out_; }
  const CompressionFlags& compression() const { return compression_; }
  bool has_chunk_size() const { return chunk_size_.has_value(); }

  // The layers that --meta and --vlmeta name. Files are read, which may wait for another program.
  struct Layers {
    std::vector<Metalayer> metalayers;
    std::vector<Metalayer> vlmetalayers;
  };
  absl::StatusOr<Layers> ReadLayers() const;

  // Returns `base` changed by the flags. Metalayers are added to those of `base` or replace them.
  absl::StatusOr<CreateOptions> Over(CreateOptions base, std::vector<Metalayer> metalayers) const;
  // Starts the frame, and ends it. Errors: kAlreadyExists from both if the path leads to something
  // that is not a frame, with or without --force.
  absl::StatusOr<Writer> Build(const CreateOptions& options) const;
  absl::Status Close(Writer& writer) const;
  // Prints the frame that was made, unless --quiet, or the error.
  absl::Status Report(const absl::Status& made, std::chrono::steady_clock::time_point start) const;

 private:
  std::string out_;
  CompressionFlags compression_;
  std::optional<int64_t> chunk_size_;
  std::string fingerprint_ = "xxh3-64";
  std::vector<std::string> meta_;
  std::vector<std::string> vlmeta_;
  bool sparse_ = false;
  bool force_ = false;
  bool quiet_ = false;
};

// Adds or replaces the layers.
absl::Status SetVlmetalayers(const std::vector<Metalayer>& layers, Writer& writer);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_FLAGS_NEW_FRAME_FLAGS_H_
