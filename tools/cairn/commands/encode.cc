// cairn encode: bytes become one chunk.

#include <memory>

#include "cairn/chunk.h"
#include "tools/cairn/commands/commands.h"
#include "tools/cairn/flags/compression_flags.h"
#include "tools/cairn/flags/flags.h"
#include "tools/cairn/io/io.h"

namespace cairn::tool {

namespace {

struct EncodeFlags {
  std::string input = "-";
  CompressionFlags compression;
};

absl::Status Encode(const EncodeFlags& flags) {
  absl::StatusOr<CompressionOptions> options = flags.compression.Options();
  if (!options.ok()) return options.status();
  const std::unique_ptr<Executor> executor = MakeExecutor(flags.compression.threads());
  options->executor = executor.get();
  absl::StatusOr<Input> input = Input::Open(flags.input);
  if (!input.ok()) return input.status();
  const absl::StatusOr<std::vector<std::byte>> data = input->ReadAll(kMaxChunkBytes);
  if (!data.ok()) return data.status();

  const Buffer chunk(MaxCompressedSize(data->size()));
  const absl::StatusOr<size_t> size = CompressChunk(*data, *options, chunk.bytes());
  if (!size.ok()) return size.status();
  return WriteStdout(chunk.first(*size));
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
