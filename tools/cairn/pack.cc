// cairn pack: one file becomes one frame.

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"

#include "cairn/frame.h"
#include "tools/cairn/about.h"
#include "tools/cairn/append_input.h"
#include "tools/cairn/commands.h"
#include "tools/cairn/compression_flags.h"
#include "tools/cairn/flags.h"
#include "tools/cairn/io.h"
#include "tools/cairn/metadata.h"
#include "tools/cairn/progress.h"
#include "tools/cairn/units.h"
#include "tools/cairn/words.h"

namespace cairn::tool {

namespace {

using Clock = std::chrono::steady_clock;

struct PackFlags {
  std::string out;
  std::string input = "-";
  CompressionFlags compression;
  int64_t chunk_size = 1 << 20;
  std::string fingerprint = "xxh3-64";
  std::vector<std::string> meta;
  std::vector<std::string> vlmeta;
  bool force = false;
  bool quiet = false;
};

absl::StatusOr<CreateOptions> MakeCreateOptions(const PackFlags& flags, Executor* executor) {
  absl::StatusOr<CompressionOptions> compression = flags.compression.Options();
  if (!compression.ok()) return compression.status();
  absl::StatusOr<std::vector<Metalayer>> metalayers = ReadMetadata(flags.meta);
  if (!metalayers.ok()) return metalayers.status();
  // Whole items, so that the pieces that are read are whole chunks.
  const auto size = static_cast<int32_t>(flags.chunk_size);
  CreateOptions options;
  options.chunksize = std::max(compression->typesize, size - size % compression->typesize);
  options.compression = *std::move(compression);
  options.compression.executor = executor;
  options.metalayers = *std::move(metalayers);
  options.fingerprint = *FindWord(kFingerprintWords, flags.fingerprint);
  options.overwrite = flags.force;
  return options;
}

// Gives the size of the input. When anything fails the writer goes, and with it what it wrote.
absl::StatusOr<int64_t> Build(const PackFlags& flags) {
  const std::unique_ptr<Executor> executor = MakeExecutor(flags.compression.threads());
  const absl::StatusOr<CreateOptions> options = MakeCreateOptions(flags, executor.get());
  if (!options.ok()) return options.status();
  const absl::StatusOr<std::vector<Metalayer>> vlmetalayers = ReadMetadata(flags.vlmeta);
  if (!vlmetalayers.ok()) return vlmetalayers.status();
  absl::StatusOr<Input> input = Input::Open(flags.input);
  if (!input.ok()) return input.status();

  absl::StatusOr<Writer> writer = Frame::Build(flags.out, *options);
  if (!writer.ok()) return writer.status();
  for (const Metalayer& layer : *vlmetalayers) {
    const absl::Status status = writer->SetVlmeta(layer.name, layer.content);
    if (!status.ok()) return status;
  }
  Progress progress("packing", input->size());
  const absl::StatusOr<int64_t> size = AppendInput(*input, *writer, options->chunksize, progress);
  if (!size.ok()) return size;
  if (absl::Status status = writer->Close(); !status.ok()) return status;
  return size;
}

absl::Status Pack(const PackFlags& flags) {
  const auto start = Clock::now();
  const absl::StatusOr<int64_t> size = Build(flags);
  if (absl::IsAlreadyExists(size.status())) {
    return absl::AlreadyExistsError(
        absl::StrFormat("%s; --force replaces it", size.status().message()));
  }
  if (!size.ok() || flags.quiet) return size.status();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();

  const absl::StatusOr<Frame> frame = Frame::Open(flags.out);
  if (!frame.ok()) return frame.status();
  const Snapshot snapshot = frame->snapshot();
  const FrameInfo& info = snapshot.info();
  return WriteStdout(absl::StrFormat("%s: %s in %s (%s), %s, %.1f s\n", flags.out,
                                     FormatByteSize(*size), FormatByteSize(info.frame_size),
                                     FormatRatio(info.nbytes, info.frame_size),
                                     FormatCount(info.nchunks, "chunk"), seconds));
}

}  // namespace

void AddPack(CLI::App& app, Command& chosen) {
  CLI::App* pack = app.add_subcommand("pack", "Pack a file into a new frame");
  const auto flags = std::make_shared<PackFlags>();
  pack->add_option("OUT", flags->out, "The frame to make; it appears when it is whole")->required();
  pack->add_option("FILE", flags->input, "What to pack; '-' is standard input");
  flags->compression.AddTo(*pack);
  AddByteSize(*pack, "--chunk-size", flags->chunk_size, 1, kMaxChunkBytes)
      ->description("Bytes of one chunk, rounded down to whole items [1MiB]");
  pack->add_option("--fingerprint", flags->fingerprint,
                   "What seals the frame: none, xxh32, xxh3-64 or xxh3-128")
      ->capture_default_str()
      ->check(CLI::IsMember(NamesOf(kFingerprintWords)))
      ->type_name("TYPE");
  pack->add_option("--meta", flags->meta,
                   "A metalayer, for the header, from text or from a file; repeatable")
      ->allow_extra_args(false)
      ->type_name("NAME=TEXT|NAME=@FILE");
  pack->add_option("--vlmeta", flags->vlmeta, "The same for a vlmetalayer, in the trailer")
      ->allow_extra_args(false)
      ->type_name("NAME=TEXT|NAME=@FILE");
  pack->add_flag("--force", flags->force, "Replace OUT when it exists");
  pack->add_flag("--quiet", flags->quiet, "Print no summary");
  pack->footer(
      "Example: 32-bit floats, small rather than fast\n"
      "  cairn pack temps.b2frame temps.f32 --typesize 4 --codec zstd --level 9 --meta unit=K");
  pack->callback(
      [flags, &chosen] { chosen = [flags] { return About(flags->out, Pack(*flags)); }; });
}

}  // namespace cairn::tool
