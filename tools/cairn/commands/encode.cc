// cairn encode: turns bytes into one chunk.

#include <memory>

#include "cairn/chunk.h"
#include "tools/cairn/commands/commands.h"
#include "tools/cairn/flags/compression_flags.h"
#include "tools/cairn/flags/flags.h"
#include "tools/cairn/io/io.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

struct EncodeFlags {
  std::string input = "-";
  CompressionFlags compression;
};

absl::Status Encode(const EncodeFlags& flags) {
  ASSIGN_OR_RETURN(CompressionOptions options, flags.compression.Options());
  const std::shared_ptr<Executor> executor = MakeExecutor(flags.compression.threads());
  options.executor = executor;
  ASSIGN_OR_RETURN(Input input, Input::Open(flags.input));
  ASSIGN_OR_RETURN(const std::vector<std::byte> data, input.ReadAll(kMaxChunkBytes));

  const Buffer chunk(MaxCompressedSize(data.size()));
  ASSIGN_OR_RETURN(const size_t size, CompressChunk(data, options, chunk.bytes()));
  return WriteStdout(chunk.first(size));
}

}  // namespace

void AddEncode(CLI::App& app, Command& chosen) {
  CLI::App* encode = app.add_subcommand("encode", "Compress bytes into one chunk on stdout");
  const auto flags = std::make_shared<EncodeFlags>();
  encode->add_option("FILE", flags->input,
                     "What to compress, at most 2147483615 bytes; '-' is standard input");
  flags->compression.AddTo(*encode);
  encode->footer(
      "Example:\n"
      "  cairn encode --typesize 8 --codec zstd < raw > chunk");
  encode->callback([flags, &chosen] { chosen = [flags] { return Encode(*flags); }; });
}

}  // namespace cairn::tool
