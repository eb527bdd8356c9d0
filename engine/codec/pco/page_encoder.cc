#include "engine/codec/pco/page_encoder.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "engine/codec/pco/latent_decoder.h"

namespace cairn::pco {

template <Latent L>
void PageEncoder<L>::MakeCodes(const LatentVar& var) {
  SpreadBins(var.table_log, var.bins, bin_of_state_);
  const auto size = static_cast<uint32_t>(bin_of_state_.size());
  table_.codes.resize(var.bins.size());
  std::vector<uint32_t> places(var.bins.size());
  uint32_t place = 0;
  for (size_t i = 0; i < var.bins.size(); ++i) {
    // A state keeps its upper part, from the weight on to below twice that.
    const uint32_t weight = var.bins[i].weight;
    const int most = var.table_log + 1 - static_cast<int>(std::bit_width(weight));
    table_.codes[i] = {.bits_bias = (static_cast<uint32_t>(most) << 16) - (weight << most),
                       .place_bias = static_cast<int32_t>(place) - static_cast<int32_t>(weight)};
    places[i] = place;
    place += weight;
  }
  table_.next_states.resize(size);
  for (uint32_t state = 0; state < size; ++state) {
    table_.next_states[places[bin_of_state_[state]]++] = static_cast<uint16_t>(size + state);
  }
}

template <Latent L>
void PageEncoder<L>::BeginChunk(const LatentVar& var, std::span<const L> latents) {
  table_log_ = var.table_log;
  table_.count = var.bins.size();
  table_.lowers.assign(std::bit_ceil(var.bins.size()), std::numeric_limits<L>::max());
  table_.offset_bits.resize(var.bins.size());
  table_.most_offset_bits = 0;
  for (size_t i = 0; i < var.bins.size(); ++i) {
    table_.lowers[i] = static_cast<L>(var.bins[i].lower);
    table_.offset_bits[i] = static_cast<uint8_t>(var.bins[i].offset_bits);
    table_.most_offset_bits = std::max(table_.most_offset_bits, var.bins[i].offset_bits);
  }
  bins_.clear();
  if (var.bins.size() > 1) {
    MakeCodes(var);
    bins_.resize(latents.size());
    kernels_.find_bins(table_, latents, bins_.data());
  }
  left_ = latents;
  begin_ = 0;
  latents_ = {};
}

template <Latent L>
void PageEncoder<L>::BeginPage(size_t count) {
  begin_ += latents_.size();
  latents_ = left_.first(count);
  left_ = left_.subspan(count);
  states_.fill(uint32_t{1} << table_log_);
  if (bins_.empty()) return;
  groups_.resize((count + 3) / 4);
  kernels_.encode_bins(table_, std::span(bins_).subspan(begin_, count), states_, groups_.data());
}

template <Latent L>
void PageEncoder<L>::WriteHead(std::span<const L> moments, BitSink& out) const {
  for (const L moment : moments) out.WriteWide(moment, kBits<L>);
  const uint32_t size = uint32_t{1} << table_log_;
  for (const uint32_t state : states_) out.Write(state - size, static_cast<unsigned>(table_log_));
}

template <Latent L>
void PageEncoder<L>::WriteBatch(size_t begin, BitSink& out) const {
  if (begin >= latents_.size()) return;  // deltas are fewer
  const size_t count = std::min<size_t>(kBatch, latents_.size() - begin);
  const uint16_t* bins = nullptr;
  if (!bins_.empty()) {
    bins = bins_.data() + begin_ + begin;
    kernels_.write_codes(std::span(groups_).subspan(begin / 4, (count + 3) / 4), out);
  }
  kernels_.write_offsets(table_, bins, latents_.subspan(begin, count), out);
}

template <Latent L>
size_t PageEncoder<L>::MaxBytes(size_t count) const {
  constexpr size_t kHead = kMaxOrder * sizeof(L) + 4 * 2 + 16;  // moments, states, and some room
  const size_t bits =
      static_cast<size_t>(table_log_) + static_cast<size_t>(table_.most_offset_bits);
  return kHead + (count * bits + 7) / 8;
}

template class PageEncoder<uint8_t>;
template class PageEncoder<uint16_t>;
template class PageEncoder<uint32_t>;
template class PageEncoder<uint64_t>;

}  // namespace cairn::pco
