#include "engine/frame/replay/summary.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "engine/base/hash.h"
#include "engine/base/status.h"

namespace cairn::frame {

namespace {

using Slots = std::vector<format::SummarySlot>;

// Returns the slots, the newest one first.
Slots SlotsOf(const FrameFile& source, const AnchorPlace& anchor) {
  std::array<std::byte, format::kSlots * format::kSlotSize> bytes;
  Slots slots;
  const absl::StatusOr<size_t> got = source.ReadSome(anchor.slot(0), bytes);
  for (int64_t i = 0; i < format::kSlots && got.ok(); ++i) {
    const Bytes rest = Bytes(bytes).first(*got).subspan(
        std::min(*got, static_cast<size_t>(i * format::kSlotSize)));
    if (const auto slot = format::FindSlot(rest, anchor.identity)) slots.push_back(*slot);
  }
  std::ranges::sort(slots, std::ranges::greater(), &format::SummarySlot::generation);
  return slots;
}

}  // namespace

AnchorPlace AnchorAfter(int64_t frame_size, bool inherits, uint64_t base) {
  return {.position = frame_size + (inherits ? format::kGoesOnSize : 0),
          .identity = format::SummaryIdentity(base, frame_size)};
}

AnchorPlace AnchorOf(const State& state) {
  const Checkpoint& checkpoint = *state.checkpoint;
  const bool inherits = checkpoint.seal_holds && checkpoint.seal->journal.has_value();
  return AnchorAfter(state.header().frame_size, inherits, state.journal->base);
}

bool HasAnchor(const FrameFile& source, const AnchorPlace& anchor) {
  return !SlotsOf(source, anchor).empty();
}

std::vector<format::SummarySlot> FindSummaries(const FrameFile& source, const State& state,
                                               bool durable_only) {
  const bool may_have = state.journal.has_value() && state.journal->base_known &&
                        source.file() != nullptr && source.directory() == nullptr;
  if (!may_have) return {};
  const FrameContext& env = *state.env();
  const uint64_t boot = source.BootHere(env.boot);
  Slots slots = SlotsOf(source, AnchorOf(state));
  std::erase_if(slots, [&](const format::SummarySlot& slot) {
    const bool is_of_now = slot.boot == boot || !env.replay.check_boot;
    const bool is_trusted = slot.boot == 0 || (is_of_now && !durable_only);
    return slot.position == 0 || !is_trusted;
  });
  return slots;
}

absl::StatusOr<LoadedSummary> LoadSummary(const FrameFile& source, const State& checkpoint,
                                          const format::SummarySlot& slot) {
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, source.Size());
  if (slot.position < checkpoint.journal->begin || slot.end() > size ||
      slot.generation <= checkpoint.generation()) {
    return DataLoss("summary of the journal: bytes %d to %d", slot.position, slot.end());
  }
  CAIRN_ASSIGN_OR_RETURN(const FrameView region, source.ViewMore(checkpoint.region, slot.end()));
  CAIRN_ASSIGN_OR_RETURN(const Chunk summary, region.Pin(slot.position, slot.size));
  LoadedSummary loaded;
  loaded.slot = slot;
  CAIRN_ASSIGN_OR_RETURN(loaded.content,
                         format::ParseSummary(summary.bytes(), slot, AnchorOf(checkpoint).identity,
                                              checkpoint.chunks.size()));
  // The record has all layers of the state, so those of the checkpoint are deleted first.
  std::vector<format::LayerEdit>& layers = loaded.content.record.layers;
  for (const VlMetalayer& layer : checkpoint.metadata->vlmetalayers) {
    layers.insert(layers.begin(),
                  {.kind = format::LayerEdit::Kind::kDeleteVlmeta, .name = layer.name});
  }
  std::vector<SummarizedIndex::Table> tables;
  for (const format::EntryTable& place : loaded.content.tables) {
    CAIRN_ASSIGN_OR_RETURN(Chunk entries, region.Pin(place.position, place.size()));
    if (Xxh3(entries.bytes()) != place.hash) {
      return DataLoss("summary of the journal: the table at byte %d is damaged", place.position);
    }
    tables.push_back({.place = place, .entries = std::move(entries)});
  }
  loaded.index = std::make_shared<const SummarizedIndex>(
      std::move(loaded.content.pieces), std::move(tables), loaded.content.record.totals->nchunks);
  return loaded;
}

std::optional<LoadedSummary> LoadNewestSummary(const FrameFile& source, const State& checkpoint,
                                               bool durable_only) {
  for (const format::SummarySlot& slot : FindSummaries(source, checkpoint, durable_only)) {
    absl::StatusOr<LoadedSummary> loaded = LoadSummary(source, checkpoint, slot);
    if (loaded.ok()) return *std::move(loaded);
  }
  return std::nullopt;
}

}  // namespace cairn::frame
