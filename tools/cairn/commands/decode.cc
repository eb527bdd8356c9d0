// cairn decode: turns one chunk into bytes.

#include <memory>
#include <optional>

#include "absl/strings/str_format.h"

#include "cairn/chunk.h"
#include "cairn/file_system.h"
#include "tools/cairn/commands/commands.h"
#include "tools/cairn/flags/flags.h"
#include "tools/cairn/io/io.h"
#include "tools/cairn/text/about.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

struct DecodeFlags {
  std::string chunk;
  int64_t offset = 0;
  std::optional<int64_t> max_bytes;
  int threads = 0;
};

absl::Status DecodeBytes(Bytes chunk, const DecodeFlags& flags) {
  ASSIGN_OR_RETURN(const ChunkInfo info, InspectChunk(chunk));
  RETURN_IF_ERROR(CheckMaxBytes(flags.max_bytes, info.nbytes));
  const std::shared_ptr<Executor> executor = MakeExecutor(flags.threads);
  const Buffer data(static_cast<size_t>(info.nbytes));
  RETURN_IF_ERROR(DecompressChunk(chunk, data.bytes(), {.executor = executor}));
  return WriteStdout(data.bytes());
}

absl::Status PastTheEnd(const DecodeFlags& flags, int64_t size) {
  return absl::OutOfRangeError(
      absl::StrFormat("offset %d is past the end, %d", flags.offset, size));
}

absl::Status DecodeStdin(const DecodeFlags& flags) {
  ASSIGN_OR_RETURN(Input input, Input::Open("-"));
  ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                   input.ReadAll(MaxCompressedSize(kMaxChunkBytes)));
  const auto size = static_cast<int64_t>(bytes.size());
  if (flags.offset > size) return PastTheEnd(flags, size);
  return DecodeBytes(Bytes(bytes).subspan(static_cast<size_t>(flags.offset)), flags);
}

// The chunk may lie inside a large file, such as a frame, so the file is mapped and not read.
absl::Status DecodeFile(const DecodeFlags& flags) {
  ASSIGN_OR_RETURN(const std::unique_ptr<File> file,
                   PosixFileSystem()->Open(flags.chunk, FileMode::kRead));
  ASSIGN_OR_RETURN(const int64_t size, file->Size());
  if (flags.offset > size) return PastTheEnd(flags, size);
  if (flags.offset == size) return DecodeBytes({}, flags);
  ASSIGN_OR_RETURN(const std::shared_ptr<const Mapping> mapping,
                   file->Map(flags.offset, size - flags.offset, 0));
  return DecodeBytes(mapping->bytes(), flags);
}

absl::Status Decode(const DecodeFlags& flags) {
  return flags.chunk == "-" ? DecodeStdin(flags) : DecodeFile(flags);
}

}  // namespace

void AddDecode(CLI::App& app, Command& chosen) {
  CLI::App* decode = app.add_subcommand("decode", "Decompress one chunk to stdout");
  const auto flags = std::make_shared<DecodeFlags>();
  decode->add_option("CHUNK_FILE", flags->chunk, "The chunk; '-' is standard input")->required();
  AddOffset(*decode, flags->offset)->description("Where in the file the chunk begins");
  AddMaxBytes(*decode, flags->max_bytes);
  AddThreads(*decode, flags->threads);
  decode->footer(
      "Reads the chunks of every Blosc1 and Blosc2.\n"
      "\nExample:\n"
      "  cairn decode chunk > raw");
  decode->callback(
      [flags, &chosen] { chosen = [flags] { return About(flags->chunk, Decode(*flags)); }; });
}

}  // namespace cairn::tool
