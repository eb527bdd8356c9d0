#include "engine/frame/repair/lost_layers.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "engine/format/layers.h"
#include "engine/format/trailer.h"
#include "engine/frame/open/checkpoint_parts.h"
#include "engine/frame/read/chunk_reader.h"

namespace cairn::frame {

namespace {

// Stands for layers whose names are lost.
constexpr std::string_view kOthers = "*";
// A log spreads its keys over several layers, which follow each other.
constexpr std::string_view kLogKeys = "cairn.log.keys";
// The numbers of deleted records count from the number in the layer of the log.
constexpr std::string_view kLogDeletions = "cairn.log.edits";
constexpr std::string_view kLogFacts = "cairn.log";

bool HasLayer(const std::vector<VlMetalayer>& layers, std::string_view name) {
  return std::ranges::find(layers, name, &VlMetalayer::name) != layers.end();
}

bool IsNamed(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool IsKeys(std::string_view name) { return name.starts_with(kLogKeys); }

// Returns the names in what is left of the trailer.
format::LayerNames NamesInTrailer(const State& state) {
  const Extent& place = state.checkpoint->trailer;
  if (place.size() <= 0) return {};
  const absl::StatusOr<Chunk> bytes = state.region.Pin(place.begin, place.size());
  if (!bytes.ok()) return {};
  format::LayerNames found = format::ScanLayerNames(bytes->bytes(), format::kTrailerHeadSize);
  std::erase_if(found.names, [](const std::string& name) { return IsReservedLayer(name); });
  return found;
}

// Returns true if the state begins with the items of the older one, as far as its first chunk. So
// nothing was cut off before these.
bool BeginsLike(const State& state, const State& older) {
  if (CountChunks(older) == 0) return true;
  if (CountChunks(state) == 0) return false;
  const absl::StatusOr<std::vector<std::byte>> old_items =
      ReadWholeChunk(older, 0, VerifyPolicy::kNever);
  const absl::StatusOr<std::vector<std::byte>> items =
      ReadWholeChunk(state, 0, VerifyPolicy::kNever);
  if (!old_items.ok() || !items.ok()) return false;
  const int64_t filled = CountItems(older) * older.header().typesize;
  const auto size = static_cast<size_t>(std::min<int64_t>(filled, std::ssize(*old_items)));
  return size <= items->size() &&
         std::ranges::equal(Bytes(*old_items).first(size), Bytes(*items).first(size));
}

// Adds the layers that only the older state has. If all names are known, a layer with another name
// was removed since.
void AddOlder(const KnownState& known, bool knows_names, SavedLayers& saved) {
  const State& older = *known.older;
  const bool has_facts = HasLayer(saved.layers, kLogFacts);
  for (const VlMetalayer& layer : older.metadata->vlmetalayers) {
    const bool is_lost = !knows_names || IsNamed(saved.lost, layer.name);
    if (!is_lost || HasLayer(saved.layers, layer.name)) continue;
    if (!DecodeVlLayer(*older.env(), layer, false).ok()) continue;
    const bool fits = layer.name != kLogDeletions || has_facts || BeginsLike(*known.state, older);
    if (!IsNamed(saved.lost, layer.name)) saved.lost.push_back(layer.name);
    if (!fits) continue;
    saved.layers.push_back(layer);
    saved.older.push_back(layer.name);
  }
}

}  // namespace

SavedLayers CompleteLayers(const KnownState& known, std::vector<VlMetalayer> layers) {
  const State& state = *known.state;
  SavedLayers saved = {.layers = std::move(layers), .lost = {}, .older = {}};
  const bool is_damaged = !state.checkpoint->trailer_damage.ok() || known.is_scan;
  format::LayerNames found = {.names = {}, .is_complete = true};
  if (is_damaged) found = NamesInTrailer(state);
  for (std::string& name : found.names) {
    if (!HasLayer(saved.layers, name)) saved.lost.push_back(std::move(name));
  }
  // Keys only grow, so those of an older state are right. Parts of two states do not fit together.
  const bool lacks_keys = !found.is_complete || std::ranges::any_of(saved.lost, IsKeys);
  const auto is_older = [&](const VlMetalayer& layer) {
    return IsKeys(layer.name) && !HasLayer(saved.layers, layer.name);
  };
  if (lacks_keys && known.older != nullptr &&
      std::ranges::any_of(known.older->metadata->vlmetalayers, is_older)) {
    std::erase_if(saved.layers, [&](const VlMetalayer& layer) {
      if (!IsKeys(layer.name)) return false;
      saved.lost.push_back(layer.name);
      return true;
    });
  }
  // In a damaged list a name may be another one. In one that was only cut off, all are right.
  const bool is_cut = state.header().frame_size > state.region.size();
  if (known.older != nullptr && is_damaged) AddOlder(known, found.is_complete && is_cut, saved);
  const bool misses_others = known.misses_commits && !state.metadata->vlmetalayers.empty();
  if (!found.is_complete || misses_others) saved.lost.emplace_back(kOthers);
  return saved;
}

}  // namespace cairn::frame
