// cairn pack: packs a file into a frame.

#include <chrono>
#include <memory>

#include "cairn/frame.h"
#include "tools/cairn/commands/commands.h"
#include "tools/cairn/flags/array_flags.h"
#include "tools/cairn/flags/flags.h"
#include "tools/cairn/flags/new_frame_flags.h"
#include "tools/cairn/io/database_parts.h"
#include "tools/cairn/io/files.h"
#include "tools/cairn/io/held_signals.h"
#include "tools/cairn/io/io.h"
#include "tools/cairn/io/progress.h"
#include "tools/cairn/io/whole_items.h"
#include "tools/cairn/streams/append_input.h"
#include "tools/cairn/streams/array_input.h"
#include "tools/cairn/text/about.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

struct PackFlags {
  NewFrameFlags frame;
  ArrayFlags array;
  std::string input;
  bool allow_partial = false;
};

// Puts the input into the frame or array that was begun, and returns its size.
absl::StatusOr<int64_t> Fill(const ArrayFlags& flags, const CreateOptions& options, Input& input,
                             Writer& writer, Progress& progress) {
  if (!options.array) return AppendInput(input, writer, *options.chunksize.nbytes(), progress);
  const bool known = flags.has_shape() || input.size();
  return known ? FillArray(input, writer, progress) : AppendSlices(0, input, writer, progress);
}

// If anything fails, the writer is destroyed and removes what it wrote.
absl::Status Build(const PackFlags& flags) {
  ASSIGN_OR_RETURN(NewFrameFlags::Layers layers, flags.frame.ReadLayers());
  CreateOptions defaults;
  ASSIGN_OR_RETURN(defaults.compression.typesize,
                   flags.array.TypesizeOr(defaults.compression.typesize));
  ASSIGN_OR_RETURN(CreateOptions options,
                   flags.frame.Over(std::move(defaults), std::move(layers.metalayers)));
  RETURN_IF_ERROR(CheckHasNoPartsBeside(flags.input));
  ASSIGN_OR_RETURN(Input input, Input::Open(flags.input));
  std::optional<int64_t> nitems = input.size();
  if (nitems) *nitems /= options.compression.typesize;
  options.array = flags.array.ArrayOf(nitems);
  const int32_t typesize = flags.allow_partial ? 1 : options.compression.typesize;
  absl::Status whole = CheckWholeItems(input, input.size().value_or(0), 0, typesize);
  if (!whole.ok()) return whole;

  const HeldSignals signals;
  input.EndAt(signals);
  const std::shared_ptr<Executor> executor = MakeExecutor(flags.frame.compression().threads());
  options.compression.executor = executor;
  std::shared_ptr<FileSystem> files;
  if (flags.input != "-") {
    files = FilesForCopy(flags.input, flags.frame.out());
    options.file_system = files;
  }
  ASSIGN_OR_RETURN(Writer writer, flags.frame.Build(options));
  RETURN_IF_ERROR(SetVlmetalayers(layers.vlmetalayers, writer));
  Progress progress("packing", input.size());
  ASSIGN_OR_RETURN(const int64_t size, Fill(flags.array, options, input, writer, progress));
  whole = CheckWholeItems(input, size, 0, typesize);
  return whole.ok() ? flags.frame.Close(writer) : whole;
}

absl::Status Pack(const PackFlags& flags) {
  const auto start = std::chrono::steady_clock::now();
  return flags.frame.Report(Build(flags), start);
}

}  // namespace

void AddPack(CLI::App& app, Command& chosen) {
  CLI::App* pack = app.add_subcommand("pack", "Pack a file into a new frame");
  const auto flags = std::make_shared<PackFlags>();
  pack->add_option("IN", flags->input, "The file to pack; '-' is standard input")->required();
  flags->frame.AddOutTo(*pack);
  flags->frame.AddTo(*pack, Absent::kDefault);
  AddAllowPartial(*pack, flags->allow_partial);
  flags->array.AddTo(*pack);
  pack->footer(
      "Example: 32-bit floats, small rather than fast\n"
      "  cairn pack temps.f32 temps.b2frame --typesize 4 --codec zstd --level 9 --meta unit=K");
  pack->callback(
      [flags, &chosen] { chosen = [flags] { return About(flags->frame.out(), Pack(*flags)); }; });
}

}  // namespace cairn::tool
