#include "engine/frame/stage/metadata_edits.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "engine/format/b2nd.h"
#include "engine/frame/array/array_fit.h"
#include "engine/frame/state/vlmetalayers.h"

namespace cairn::frame {

namespace {

// Offsets in the trailer are 32-bit numbers, and the table of fingerprints needs its share of them.
constexpr int64_t kMaxVlBytes = int64_t{1} << 29;

// Returns the metadata with other content of a metalayer, which keeps its size.
absl::StatusOr<std::shared_ptr<const Metadata>> WithMetalayer(const Metadata& metadata,
                                                              std::string_view name,
                                                              Bytes content) {
  auto edited = std::make_shared<Metadata>(metadata);
  const auto it = std::ranges::find(edited->metalayers, name, &Metalayer::name);
  if (it == edited->metalayers.end()) {
    return NotFound("metalayer %s", name);
  }
  if (it->content.size() != content.size()) {
    return InvalidArgument("metalayer %s keeps its size of %d bytes, got %d", name,
                           it->content.size(), content.size());
  }
  it->content = ToVector(content);
  DescribeData(*edited);
  return edited;
}

}  // namespace

bool SaysShape(std::string_view layer) {
  return layer == format::kB2ndLayer || layer == format::kCatervaLayer;
}

absl::Status MetadataEdits::PutMetalayer(std::string_view name, Bytes content) {
  // Both may be of the metadata that goes.
  format::LayerEdit edit = {.kind = format::LayerEdit::Kind::kSetMetalayer,
                            .name = std::string(name),
                            .content = ToVector(content)};
  CAIRN_ASSIGN_OR_RETURN(staged_.metadata, WithMetalayer(*staged_.metadata, name, content));
  staged_.Record(std::move(edit));
  return absl::OkStatus();
}

absl::Status MetadataEdits::SetMetalayer(std::string_view name, Bytes content) {
  if (SaysShape(name)) {
    CAIRN_RETURN_IF_ERROR(stager_.EncodeDirty());
    // The shape may only become one that asks for the chunks that there are.
    const std::shared_ptr<State> state = stager_.MakeState();
    CAIRN_ASSIGN_OR_RETURN(state->metadata, WithMetalayer(*staged_.metadata, name, content));
    const absl::Status fits = CheckArray(*state).status();
    if (!fits.ok() && !stager_.edits().free_shapes()) {
      return Annotate(WithCode(absl::StatusCode::kFailedPrecondition, fits),
                      "metalayer %s does not fit the chunks", name);
    }
    CAIRN_RETURN_IF_ERROR(stager_.pending().Close());
    CAIRN_RETURN_IF_ERROR(PutMetalayer(name, content));
    staged_.needs_same_chunks = true;
    return absl::OkStatus();
  }
  return PutMetalayer(name, content);
}

absl::Status MetadataEdits::SetVlmetalayer(std::string_view name, Bytes content) {
  CAIRN_RETURN_IF_ERROR(format::CheckLayerName(name));
  if (IsReservedLayer(name)) return InvalidArgument("vlmetalayer %s is Cairn's own", name);
  const auto it = std::ranges::find(staged_.metadata->vlmetalayers, name, &VlMetalayer::name);
  const bool found = it != staged_.metadata->vlmetalayers.end();
  if (!found && staged_.metadata->vlmetalayers.size() + 2 >= kMaxVlMetalayers) {
    return ResourceExhausted("frame: more than %d vlmetalayers", kMaxVlMetalayers - 2);
  }
  CAIRN_ASSIGN_OR_RETURN(VlMetalayer layer, EncodeVlLayer(*stager_.base()->env(), name, content));
  int64_t total = static_cast<int64_t>(layer.chunk.bytes().size());
  for (const VlMetalayer& other : staged_.metadata->vlmetalayers) {
    if (other.name != name) total += static_cast<int64_t>(other.chunk.bytes().size());
  }
  if (total > kMaxVlBytes) {
    return ResourceExhausted("vlmetalayers: %d bytes in all, at most %d", total, kMaxVlBytes);
  }
  staged_.Record({.kind = format::LayerEdit::Kind::kSetVlmeta,
                  .name = std::string(name),
                  .content = ToVector(layer.chunk.bytes())});
  auto edited = std::make_shared<Metadata>(*staged_.metadata);
  PutVlLayer(edited->vlmetalayers, std::move(layer));
  staged_.metadata = std::move(edited);
  return absl::OkStatus();
}

absl::Status MetadataEdits::DeleteVlmetalayer(std::string_view name) {
  // All of that name, as replaying the edit does.
  auto edited = std::make_shared<Metadata>(*staged_.metadata);
  const auto has_name = [&](const VlMetalayer& layer) { return layer.name == name; };
  if (std::erase_if(edited->vlmetalayers, has_name) == 0) {
    return NotFound("vlmetalayer %s", name);
  }
  staged_.metadata = std::move(edited);
  staged_.Record({.kind = format::LayerEdit::Kind::kDeleteVlmeta, .name = std::string(name)});
  return absl::OkStatus();
}

absl::Status MetadataEdits::SetChunksize(ChunkSize size) {
  CAIRN_RETURN_IF_ERROR(stager_.edits().CheckMayRecut("set chunksize"));
  if (size == ChunkSize::AsFirstChunk()) {
    return InvalidArgument("chunksize: expected a number or variable, got that of a first chunk");
  }
  const int32_t chunksize = size.nbytes().value_or(format::kChunksizeVariable);
  if (size != ChunkSize::Variable() && (chunksize < 1 || chunksize > kMaxChunkBytes)) {
    return InvalidArgument("chunksize: expected 1 to %d bytes, got %d", kMaxChunkBytes, chunksize);
  }
  if (staged_.nchunks() > 0) {
    return FailedPrecondition("chunksize: expected a frame without chunks, got %d chunks",
                              staged_.nchunks());
  }
  stager_.edits().SetChunksize(chunksize);
  return absl::OkStatus();
}

absl::Status MetadataEdits::Apply(const std::vector<format::LayerEdit>& edits) {
  using Kind = format::LayerEdit::Kind;
  for (const format::LayerEdit& edit : edits) {
    switch (edit.kind) {
      case Kind::kSetMetalayer:
        CAIRN_RETURN_IF_ERROR(PutMetalayer(edit.name, edit.content));
        break;
      case Kind::kSetVlmeta:
        CAIRN_RETURN_IF_ERROR(SetVlmetalayer(edit.name, edit.content));
        break;
      case Kind::kDeleteVlmeta:
        CAIRN_RETURN_IF_ERROR(DeleteVlmetalayer(edit.name));
        break;
    }
  }
  return absl::OkStatus();
}

absl::Status MetadataEdits::Repeat(const std::vector<format::LayerEdit>& edits, bool with_shape) {
  using Kind = format::LayerEdit::Kind;
  for (const format::LayerEdit& edit : edits) {
    if (edit.kind == Kind::kSetMetalayer) {
      if (with_shape || !SaysShape(edit.name)) {
        CAIRN_RETURN_IF_ERROR(PutMetalayer(edit.name, edit.content));
      }
      continue;
    }
    auto metadata = std::make_shared<Metadata>(*staged_.metadata);
    if (edit.kind == Kind::kSetVlmeta) {
      const auto content = std::make_shared<const std::vector<std::byte>>(edit.content);
      PutVlLayer(metadata->vlmetalayers, {edit.name, Chunk(*content, content)});
    } else {
      std::erase_if(metadata->vlmetalayers,
                    [&](const VlMetalayer& layer) { return layer.name == edit.name; });
    }
    staged_.metadata = std::move(metadata);
    staged_.Record(edit);
  }
  return absl::OkStatus();
}

}  // namespace cairn::frame
