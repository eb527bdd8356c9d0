// cairn decode: one chunk becomes bytes again.

#include <memory>
#include <optional>

#include "absl/strings/str_format.h"

#include "cairn/chunk.h"
#include "cairn/file_system.h"
#include "tools/cairn/commands/commands.h"
#include "tools/cairn/flags/flags.h"
#include "tools/cairn/io/io.h"
#include "tools/cairn/text/about.h"

namespace cairn::tool {

namespace {

struct DecodeFlags {
  std::string chunk;
  int64_t offset = 0;
  std::optional<int64_t> max_bytes;
  int threads = 0;
};

absl::Status DecodeBytes(Bytes chunk, const DecodeFlags& flags) {
  const absl::StatusOr<ChunkInfo> info = InspectChunk(chunk);
  if (!info.ok()) return info.status();
  const absl::Status allowed = CheckMaxBytes(flags.max_bytes, info->nbytes);
  if (!allowed.ok()) return allowed;
  const std::unique_ptr<Executor> executor = MakeExecutor(flags.threads);
  const Buffer data(static_cast<size_t>(info->nbytes));
  const absl::Status status = DecompressChunk(chunk, data.bytes(), {.executor = executor.get()});
  if (!status.ok()) return status;
  return WriteStdout(data.bytes());
}

absl::Status PastTheEnd(const DecodeFlags& flags, int64_t size) {
  return absl::OutOfRangeError(
      absl::StrFormat("offset %d is past the end, %d", flags.offset, size));
}

absl::Status DecodeStdin(const DecodeFlags& flags) {
  absl::StatusOr<Input> input = Input::Open("-");
  if (!input.ok()) return input.status();
  const absl::StatusOr<std::vector<std::byte>> bytes =
      input->ReadAll(MaxCompressedSize(kMaxChunkBytes));
  if (!bytes.ok()) return bytes.status();
  const auto size = static_cast<int64_t>(bytes->size());
  if (flags.offset > size) return PastTheEnd(flags, size);
  return DecodeBytes(Bytes(*bytes).subspan(static_cast<size_t>(flags.offset)), flags);
}

// The chunk may lie inside a large file, such as a frame, so the file is mapped and not read.
absl::Status DecodeFile(const DecodeFlags& flags) {
  const absl::StatusOr<std::unique_ptr<File>> file =
      PosixFileSystem()->Open(flags.chunk, FileMode::kRead);
  if (!file.ok()) return file.status();
  const absl::StatusOr<int64_t> size = (*file)->Size();
  if (!size.ok()) return size.status();
  if (flags.offset > *size) return PastTheEnd(flags, *size);
  if (flags.offset == *size) return DecodeBytes({}, flags);
  const absl::StatusOr<std::shared_ptr<const Mapping>> mapping =
      (*file)->Map(flags.offset, *size - flags.offset, 0);
  if (!mapping.ok()) return mapping.status();
  return DecodeBytes((*mapping)->bytes(), flags);
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
