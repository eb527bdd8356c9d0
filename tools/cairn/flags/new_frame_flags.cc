#include "tools/cairn/flags/new_frame_flags.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"

#include "cairn/frame.h"
#include "tools/cairn/flags/flags.h"
#include "tools/cairn/flags/metadata.h"
#include "tools/cairn/io/files.h"
#include "tools/cairn/io/io.h"
#include "tools/cairn/io/replaceable.h"
#include "tools/cairn/text/stored_size.h"
#include "tools/cairn/text/units.h"
#include "tools/cairn/text/words.h"
#include "tools/status.h"

namespace cairn::tool {

void NewFrameFlags::AddOutTo(CLI::App& app) {
  app.add_option("OUT", out_, "The new frame; it appears when it is complete")->required();
}

void NewFrameFlags::AddTo(CLI::App& app, Absent absent) {
  compression_.AddTo(app, absent);
  CLI::Option* chunk_size = AddByteSize(app, "--chunk-size", chunk_size_, 1, kMaxChunkBytes)
                                ->description("Bytes of one chunk, rounded down to whole items");
  if (absent == Absent::kDefault) chunk_size->default_str("1MiB");
  app.add_option("--fingerprint", fingerprint_,
                 "The hash that seals the frame: none, xxh32, xxh3-64 or xxh3-128")
      ->capture_default_str()
      ->check(CLI::IsMember(NamesOf(kFingerprintWords)))
      ->type_name("TYPE");
  app.add_option("--meta", meta_, "A metalayer of the header, from text or from a file; repeatable")
      ->allow_extra_args(false)
      ->type_name("NAME=TEXT|NAME=@FILE");
  app.add_option("--vlmeta", vlmeta_, "The same for a vlmetalayer of the trailer")
      ->allow_extra_args(false)
      ->type_name("NAME=TEXT|NAME=@FILE");
  app.add_flag("--sparse", sparse_, "Make a directory with one file per chunk");
  app.add_flag("--force", force_, "Replace OUT when it is a frame");
  app.add_flag("--quiet", quiet_, "Print no summary");
}

absl::StatusOr<CreateOptions> NewFrameFlags::Over(CreateOptions base,
                                                  std::vector<Metalayer> metalayers) const {
  ASSIGN_OR_RETURN(CompressionOptions compression, compression_.Over(std::move(base.compression)));
  base.compression = std::move(compression);
  if (chunk_size_) base.chunksize = static_cast<int32_t>(*chunk_size_);
  if (const std::optional<int32_t> nbytes = base.chunksize.nbytes()) {
    // Chunks get complete items, so that each piece of the input is a complete chunk.
    const int32_t typesize = base.compression.typesize;
    base.chunksize = std::max(typesize, *nbytes - *nbytes % typesize);
  }
  for (Metalayer& layer : metalayers) {
    const auto same = std::ranges::find(base.metalayers, layer.name, &Metalayer::name);
    if (same != base.metalayers.end()) {
      *same = std::move(layer);
    } else {
      base.metalayers.push_back(std::move(layer));
    }
  }
  base.layout = sparse_ || IsUri(out_) ? Layout::kSparse : Layout::kContiguous;
  base.file_system = FilesAt(out_);
  base.fingerprint = *FindWord(kFingerprintWords, fingerprint_);
  base.overwrite = force_;
  return base;
}

absl::StatusOr<Writer> NewFrameFlags::Build(const CreateOptions& options) const {
  RETURN_IF_ERROR(CheckReplaceable(out_));
  absl::StatusOr<Writer> writer = Frame::BeginCreate(out_, options);
  if (!absl::IsAlreadyExists(writer.status())) return writer;
  return absl::AlreadyExistsError(
      absl::StrFormat("%s; --force replaces it", writer.status().message()));
}

// Another file may have appeared while the frame was made.
absl::Status NewFrameFlags::Close(Writer& writer) const {
  absl::Status status = CheckReplaceable(out_);
  return status.ok() ? writer.Close() : status;
}

absl::StatusOr<NewFrameFlags::Layers> NewFrameFlags::ReadLayers() const {
  ASSIGN_OR_RETURN(std::vector<Metalayer> metalayers, ReadMetadata(meta_));
  ASSIGN_OR_RETURN(std::vector<Metalayer> vlmetalayers, ReadMetadata(vlmeta_));
  return Layers{std::move(metalayers), std::move(vlmetalayers)};
}

absl::Status SetVlmetalayers(const std::vector<Metalayer>& layers, Writer& writer) {
  for (const Metalayer& layer : layers) {
    RETURN_IF_ERROR(writer.SetVlmetalayer(layer.name, layer.content));
  }
  return absl::OkStatus();
}

absl::Status NewFrameFlags::Report(const absl::Status& made,
                                   std::chrono::steady_clock::time_point start) const {
  if (!made.ok() || quiet_) return made;
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  ASSIGN_OR_RETURN(const Frame frame, Frame::Open(out_, {.file_system = FilesAt(out_)}));
  const Snapshot snapshot = frame.snapshot();
  const FrameInfo& info = snapshot.info();
  return WriteLines(
      {absl::StrFormat("%s: %s in %s (%s), %s, %.1f s", out_, FormatByteSize(info.nbytes),
                       FormatByteSize(StoredSize(info)), FormatRatio(info.nbytes, StoredSize(info)),
                       FormatCount(info.nchunks, "chunk"), seconds)});
}

}  // namespace cairn::tool
