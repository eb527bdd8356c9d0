#include "engine/frame/state/vlmetalayers.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/escaping.h"

#include "engine/base/status.h"
#include "engine/chunk/decoder.h"
#include "engine/chunk/encoder.h"
#include "engine/format/seal.h"
#include "engine/format/trailer.h"

namespace cairn::frame {

namespace {

absl::StatusOr<std::vector<std::byte>> Decode(const FrameContext& env, Bytes stored, bool all) {
  chunk::Decoder decoder;
  CAIRN_RETURN_IF_ERROR(decoder.Open(stored, env.MakeDecodeContext()));
  if (decoder.bytes().size() != stored.size()) {
    return DataLoss("cbytes: expected %d, got %d", stored.size(), decoder.bytes().size());
  }
  int32_t size = decoder.nbytes();
  if (size > env.limits.max_metadata_nbytes) {
    return ResourceExhausted("%d bytes pass the limit of %d for metadata", size,
                             env.limits.max_metadata_nbytes);
  }
  if (!all && decoder.nblocks() == 0) size = std::min<int32_t>(size, decoder.header().typesize);
  std::vector<std::byte> content(static_cast<size_t>(size));
  CAIRN_RETURN_IF_ERROR(decoder.DecodeRange(0, content));
  return content;
}

}  // namespace

std::string DescribeVlLayer(const VlMetalayer& layer) {
  return "vlmetalayer " + absl::Utf8SafeCEscape(layer.name);
}

absl::StatusOr<std::vector<std::byte>> DecodeVlLayer(const FrameContext& env,
                                                     const VlMetalayer& layer, bool all) {
  absl::StatusOr<std::vector<std::byte>> content = Decode(env, layer.chunk.bytes(), all);
  if (!content.ok()) return Annotate(content.status(), "%s", DescribeVlLayer(layer));
  return content;
}

absl::StatusOr<VlMetalayer> EncodeVlLayer(const FrameContext& env, std::string_view name,
                                          Bytes content) {
  const auto size = static_cast<int64_t>(content.size());
  if (size > env.limits.max_metadata_nbytes) {
    return ResourceExhausted("vlmetalayer %s: %d bytes pass the limit of %d for metadata", name,
                             size, env.limits.max_metadata_nbytes);
  }
  // C-Blosc2 writes them with these options.
  CompressionOptions options;
  options.codec = Codec::kBloscLz;
  options.typesize = 8;
  CAIRN_ASSIGN_OR_RETURN(const chunk::Encoder encoder,
                         chunk::Encoder::Make(std::move(options), &env.pool));
  auto bytes = std::make_shared<std::vector<std::byte>>(MaxCompressedSize(content.size()));
  CAIRN_ASSIGN_OR_RETURN(const size_t stored, encoder.Encode(content, *bytes));
  bytes->resize(stored);
  return VlMetalayer{.name = std::string(name), .chunk = Chunk(*bytes, bytes)};
}

bool IsReservedLayer(std::string_view name) {
  return name == format::kSealLayer || name == format::kTableLayer;
}

void PutVlLayer(std::vector<VlMetalayer>& layers, VlMetalayer layer) {
  const auto it = std::ranges::find(layers, layer.name, &VlMetalayer::name);
  if (it != layers.end()) {
    *it = std::move(layer);
  } else {
    layers.push_back(std::move(layer));
  }
}

VlMetalayerTable::VlMetalayerTable(std::vector<VlMetalayer> layers) {
  for (VlMetalayer& layer : layers) {
    places_[layer.name].push_back(layers_.size());
    layers_.emplace_back(std::move(layer));
  }
}

void VlMetalayerTable::Put(VlMetalayer layer) {
  std::vector<size_t>& places = places_[layer.name];
  if (places.empty()) {
    places.push_back(layers_.size());
    layers_.emplace_back();
  }
  layers_[places.front()] = std::move(layer);
}

void VlMetalayerTable::Erase(const std::string& name) {
  const auto it = places_.find(name);
  if (it == places_.end()) return;
  for (const size_t place : it->second) layers_[place].reset();
  places_.erase(it);
}

std::vector<VlMetalayer> VlMetalayerTable::Take() && {
  std::vector<VlMetalayer> layers;
  layers.reserve(places_.size());
  for (std::optional<VlMetalayer>& layer : layers_) {
    if (layer.has_value()) layers.push_back(*std::move(layer));
  }
  return layers;
}

}  // namespace cairn::frame
