// cairn copy: makes another frame, perhaps recompressed or with another layout.

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "cairn/frame.h"
#include "tools/cairn/commands/commands.h"
#include "tools/cairn/flags/flags.h"
#include "tools/cairn/flags/new_frame_flags.h"
#include "tools/cairn/io/files.h"
#include "tools/cairn/io/held_signals.h"
#include "tools/cairn/io/io.h"
#include "tools/cairn/io/members.h"
#include "tools/cairn/io/progress.h"
#include "tools/cairn/records/values.h"
#include "tools/cairn/report/damage_check.h"
#include "tools/cairn/streams/chunk_copier.h"
#include "tools/cairn/text/about.h"
#include "tools/cairn/text/units.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

struct CopyFlags {
  std::string in;
  NewFrameFlags frame;
  int64_t offset = 0;
  bool skip_damaged = false;
  std::optional<std::string> fill;
};

// The damaged chunks that were skipped.
struct Skipped {
  std::vector<int64_t> chunks;
  std::vector<std::string> reasons;
};

bool IsArray(const Snapshot& snapshot) {
  constexpr std::array<std::string_view, 2> kGeometries = {"b2nd", "caterva"};
  return std::ranges::any_of(snapshot.metalayers(), [&](const Metalayer& layer) {
    return std::ranges::count(kGeometries, layer.name) > 0;
  });
}

// Refuses a frame that cannot be recompressed.
absl::Status CheckRecoding(const Snapshot& snapshot, const NewFrameFlags& flags) {
  if (snapshot.info().vlblocks) {
    return absl::FailedPreconditionError(
        "a frame of variable blocks can only be copied as it is: leave out the compression "
        "options and --chunk-size");
  }
  if (!IsArray(snapshot)) return absl::OkStatus();
  const CompressionFlags& compression = flags.compression();
  if (flags.has_chunk_size() || compression.has_typesize() || compression.has_block_size()) {
    return absl::FailedPreconditionError(
        "the metalayer of an array describes its chunks, blocks and items: leave out --chunk-size, "
        "--block-size and --typesize");
  }
  if (snapshot.array().has_value()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "an array whose metalayer this build does not understand can only be copied as it is");
}

// Returns the size of an array's blocks. They are cut as its metalayer says, whatever the header
// says.
absl::StatusOr<int32_t> BlockSizeOf(const ArrayInfo& array, int32_t typesize) {
  int64_t size = typesize;
  for (const int32_t length : array.blockshape) {
    size *= length;
    if (size > kMaxChunkBytes) {
      return absl::DataLossError(
          absl::StrFormat("metalayer of the array: blocks of %s items of %d bytes, but a block has "
                          "at most %d bytes",
                          absl::StrJoin(array.blockshape, " x "), typesize, kMaxChunkBytes));
    }
  }
  return static_cast<int32_t>(size);
}

// Starts the frame. If chunks stay as they are, the header need not name what this build cannot do,
// such as a filter that is decoded only.
absl::StatusOr<Writer> StartFrame(const NewFrameFlags& flags, CreateOptions options,
                                  CopyMode mode) {
  absl::StatusOr<Writer> writer = flags.Build(options);
  const bool incapable =
      absl::IsUnimplemented(writer.status()) || absl::IsInvalidArgument(writer.status());
  if (!incapable || mode == CopyMode::kRecode) return writer;
  const CompressionOptions fallback;
  options.compression.codec = fallback.codec;
  options.compression.codec_meta = fallback.codec_meta;
  options.compression.filters = fallback.filters;
  options.compression.use_dict = fallback.use_dict;
  return flags.Build(options);
}

// Copies the metadata. Leaves out values that are too large to be read, and complains of them.
absl::Status CopyMetadata(const Snapshot& snapshot, const std::vector<Metalayer>& more,
                          Writer& writer, absl::Status& left_out) {
  for (const std::string& name : snapshot.vlmetalayers()) {
    const absl::StatusOr<std::vector<std::byte>> content = snapshot.GetVlmetalayer(name);
    if (absl::IsResourceExhausted(content.status())) {
      left_out = absl::ResourceExhaustedError(
          absl::StrCat(content.status().message(), "; the copy is without it"));
      continue;
    }
    RETURN_IF_ERROR(content.status());
    RETURN_IF_ERROR(writer.SetVlmetalayer(name, *content));
  }
  return SetVlmetalayers(more, writer);
}

// Returns the item that --fill stands for, or nothing without it.
absl::StatusOr<std::vector<std::byte>> FillOf(const Snapshot& snapshot, const CopyFlags& flags) {
  if (!flags.fill) return std::vector<std::byte>();
  std::vector<std::byte> item(static_cast<size_t>(snapshot.info().typesize));
  if (*flags.fill == "0") return item;
  const std::string dtype = snapshot.array() ? snapshot.array()->dtype : "";
  const absl::StatusOr<Schema> schema = Schema::FromDtype(dtype, snapshot.info().typesize);
  if (!schema.ok() || schema->fields().size() != 1) {
    return absl::InvalidArgumentError(
        "--fill: the items are not plain values of a known type: only 0 can fill them");
  }
  const absl::Status parsed = ParseValue(schema->fields()[0], *flags.fill, {}, item.data());
  if (parsed.ok()) return item;
  return absl::InvalidArgumentError(absl::StrCat("--fill: ", parsed.message()));
}

// Encodes the list of a vlmetalayer, "3, 7-9", as a text in msgpack.
std::vector<std::byte> EncodeList(const std::string& list) {
  std::string text = "\xDB";
  for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(list.size() >> shift);
  text += list;
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

// Copies a chunk. If it is damaged, notes it and appends a substitute.
absl::Status CopyOrSkip(int64_t nchunk, Bytes fill, const CompressionOptions& compression,
                        ChunkCopier& copier, Skipped& skipped) {
  const absl::Status damage = copier.Check(nchunk);
  if (!absl::IsDataLoss(damage)) return copier.Copy(nchunk);
  skipped.chunks.push_back(nchunk);
  skipped.reasons.emplace_back(damage.message());
  return copier.Skip(nchunk, fill, compression);
}

// If anything fails, the writer is destroyed and removes what it wrote.
absl::Status CopyTo(const Snapshot& snapshot, const CopyFlags& copy,
                    const NewFrameFlags::Layers& layers, const std::shared_ptr<Executor>& executor,
                    const HeldSignals& signals, absl::Status& left_out, Skipped& skipped) {
  const NewFrameFlags& flags = copy.frame;
  const bool recode = flags.compression().given() || flags.has_chunk_size();
  const CopyMode mode = recode ? CopyMode::kRecode : CopyMode::kAsTheyAre;
  ASSIGN_OR_RETURN(const std::vector<std::byte> fill, FillOf(snapshot, copy));
  CreateOptions base = snapshot.create_options();
  if (recode) {
    RETURN_IF_ERROR(CheckRecoding(snapshot, flags));
  }
  if (const auto& array = snapshot.array(); array && (recode || copy.skip_damaged)) {
    ASSIGN_OR_RETURN(const int32_t blocksize, BlockSizeOf(*array, base.compression.typesize));
    base.compression.blocksize = blocksize;
  }
  ASSIGN_OR_RETURN(CreateOptions options, flags.Over(std::move(base), layers.metalayers));
  options.compression.executor = executor;
  const std::shared_ptr<FileSystem> files = FilesForCopy(FileAt(copy.in), flags.out());
  options.file_system = files;
  absl::StatusOr<Writer> writer = StartFrame(flags, options, mode);
  if (!writer.ok()) return About(flags.out(), writer.status());
  RETURN_IF_ERROR(CopyMetadata(snapshot, layers.vlmetalayers, *writer, left_out));

  Progress progress("copying", snapshot.info().nbytes);
  ChunkCopier copier(snapshot, *writer, options.compression.typesize, mode);
  for (int64_t i = 0; i < snapshot.info().nchunks; ++i) {
    RETURN_IF_ERROR(signals.Check());
    RETURN_IF_ERROR(copy.skip_damaged ? CopyOrSkip(i, fill, options.compression, copier, skipped)
                                      : copier.Copy(i));
    progress.Show(copier.nbytes());
  }
  if (!skipped.chunks.empty()) {
    RETURN_IF_ERROR(
        writer->SetVlmetalayer("lost_chunks", EncodeList(FormatRanges(skipped.chunks))));
  }
  return About(flags.out(), flags.Close(*writer));
}

// A file can take the name of one that is being read, but a directory cannot.
absl::Status CheckPlaces(const Snapshot& snapshot, const CopyFlags& flags) {
  std::error_code missing;
  const bool same = std::filesystem::equivalent(flags.in, flags.frame.out(), missing);
  if (!same || snapshot.info().layout != Layout::kSparse) return absl::OkStatus();
  return absl::FailedPreconditionError("a sparse frame cannot be replaced by its own copy");
}

// Adds to damage what the user can try.
absl::Status Hint(const absl::Status& status, const CopyFlags& flags) {
  if (!absl::IsDataLoss(status) || flags.skip_damaged) return status;
  return absl::DataLossError(
      absl::StrCat(status.message(), "; --skip-damaged copies the intact chunks"));
}

absl::Status Copy(const CopyFlags& flags) {
  const auto start = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(const NewFrameFlags::Layers layers, flags.frame.ReadLayers());
  const HeldSignals signals;
  const std::shared_ptr<Executor> executor = MakeExecutor(flags.frame.compression().threads());
  OpenOptions options;
  options.offset = flags.offset;
  options.executor = executor;
  ASSIGN_OR_RETURN(const Snapshot snapshot, Sources(options).Open(flags.in));
  RETURN_IF_ERROR(CheckPlaces(snapshot, flags));
  // A copy would pass damage off as sealed.
  if (absl::Status damage = CheckTrailer(snapshot); !damage.ok()) return Hint(damage, flags);
  TellOfChangedMetalayers(flags.in, snapshot);
  absl::Status left_out;
  Skipped skipped;
  const absl::Status made = CopyTo(snapshot, flags, layers, executor, signals, left_out, skipped);
  RETURN_IF_ERROR(flags.frame.Report(Hint(made, flags), start));
  for (const std::string& reason : skipped.reasons) {
    RETURN_IF_ERROR(WriteLines({absl::StrCat("  lost: ", reason)}));
  }
  RETURN_IF_ERROR(CheckDamage(snapshot));
  return left_out;
}

}  // namespace

void AddCopy(CLI::App& app, Command& chosen) {
  CLI::App* copy =
      app.add_subcommand("copy", "Copy a frame, optionally with other compression or layout");
  const auto flags = std::make_shared<CopyFlags>();
  copy->add_option("IN", flags->in, "The frame to copy, of any Blosc2")->required();
  flags->frame.AddOutTo(*copy);
  flags->frame.AddTo(*copy, Absent::kUnchanged);
  AddOffset(*copy, flags->offset)->description("Where in the file IN begins");
  CLI::Option* skip =
      copy->add_flag("--skip-damaged", flags->skip_damaged,
                     "Leave a hole where a chunk is damaged, and list these chunks");
  copy->add_option("--fill", flags->fill, "With this value instead: of the items' type, or 0")
      ->type_name("VALUE")
      ->needs(skip);
  copy->footer(
      "Without compression options and --chunk-size the compressed chunks are copied unchanged.\n"
      "With any of them all chunks are compressed again; what is not given stays as in IN.\n"
      "\nExamples: small rather than fast; what is intact, with the rest as NaN\n"
      "  cairn copy temps.b2frame archive.b2frame --codec zstd --level 9\n"
      "  cairn copy broken.b2nd intact.b2nd --skip-damaged --fill nan");
  copy->callback([flags, &chosen] { chosen = [flags] { return About(flags->in, Copy(*flags)); }; });
}

}  // namespace cairn::tool
