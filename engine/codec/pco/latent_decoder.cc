#include "engine/codec/pco/latent_decoder.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "engine/base/check.h"
#include "engine/base/status.h"

namespace cairn::pco {

void SpreadBins(int table_log, std::span<const Bin> bins, std::vector<uint16_t>& bin_of_state) {
  const uint32_t size = uint32_t{1} << table_log;
  const uint32_t stride = (3 * size / 5) | 1;  // odd, so that each state is met once
  bin_of_state.resize(size);
  uint32_t state = 0;
  for (size_t bin = 0; bin < bins.size(); ++bin) {
    for (uint32_t i = 0; i < bins[bin].weight; ++i) {
      bin_of_state[state] = static_cast<uint16_t>(bin);
      state = (state + stride) & (size - 1);
    }
  }
}

template <Latent L>
void LatentDecoder<L>::BeginChunk(const ChunkMeta& meta, const LatentVar& var, bool is_last) {
  meta_ = &meta;
  var_ = &var;
  is_last_ = is_last;
  state_count_ = var.has_deltas ? meta.StateCount() : 0;
  most_offset_bits_ = 0;
  for (const Bin& bin : var.bins) most_offset_bits_ = std::max(most_offset_bits_, bin.offset_bits);
  if (var.bins.size() < 2) return;
  SpreadBins(var.table_log, var.bins, bin_of_state_);
  next_.resize(var.bins.size());
  for (size_t i = 0; i < next_.size(); ++i) next_[i] = var.bins[i].weight;
  nodes_.resize(bin_of_state_.size());
  lowers_.resize(bin_of_state_.size());
  // These are not members, so that the compiler keeps them in registers.
  const std::span<const uint16_t> bin_of_state = bin_of_state_;
  const std::span<const Bin> bins = var.bins;
  const std::span<uint32_t> next = next_;
  const std::span<Node> nodes = nodes_;
  const std::span<L> lowers = lowers_;
  const int table_log = var.table_log;
  for (size_t state = 0; state < nodes.size(); ++state) {
    // The state after this one lies in [size, 2 * size): its upper part says which of the bin's
    // states this is, and its lower bits are read.
    const uint16_t index = bin_of_state[state];
    const Bin& bin = bins[index];
    const uint32_t count = next[index]++;
    const int table_bits = table_log + 1 - static_cast<int>(std::bit_width(count));
    const uint32_t least = (count << table_bits) - (uint32_t{1} << table_log);
    nodes[state] = MakeNode(least, table_bits, bin.offset_bits);
    lowers[state] = static_cast<L>(bin.lower);
  }
}

template <Latent L>
absl::Status LatentDecoder<L>::BeginPage(int64_t count, BitReader& in) {
  left_ = count;
  done_ = 0;
  if (state_count_ * kBits < L >> in.bits_left()) {
    return DataLoss("pco: %d latents in %d bits", state_count_, in.bits_left());
  }
  if (var_->bins.empty() && count > state_count_) {
    return DataLoss("pco: %d latents and no bins", count - state_count_);
  }
  const bool keeps_all = var_->has_deltas && meta_->delta == Delta::kLookback;
  past_.resize(static_cast<size_t>(keeps_all ? std::max(count, state_count_) : state_count_));
  for (L& latent : std::span(past_).first(static_cast<size_t>(state_count_))) {
    latent = static_cast<L>(in.Read(kBits<L>));
  }
  for (uint32_t& state : states_) state = static_cast<uint32_t>(in.Read(var_->table_log));
  return absl::OkStatus();
}

template <Latent L>
void LatentDecoder<L>::DecodeStored(BitReader& in, size_t wanted, std::span<L> out) {
  CAIRN_DCHECK(out.size() <= kBatch);
  if (out.empty() || !in.in_bounds()) {
    std::ranges::fill(out, L{0});
    return;
  }
  wanted = std::min(wanted, out.size());
  BitPlace place = {.data = in.data(), .position = in.position()};
  if (var_->bins.size() == 1) {
    kernels_.unpack(static_cast<L>(var_->bins[0].lower), most_offset_bits_, place,
                    out.first(wanted));
    in.MoveTo(in.position() + static_cast<int64_t>(out.size()) * most_offset_bits_);
    return;
  }
  // Nothing is read of the page after the last codes, if they have no offsets.
  if (is_last_ && most_offset_bits_ == 0 && wanted > 0) out = out.first(wanted);
  OffsetBits offset_bits;
  kernels_.decode_bins(nodes_.data(), lowers_.data(), states_, place, out, offset_bits);
  in.MoveTo(place.position);
  if (most_offset_bits_ == 0 || !in.in_bounds()) return;
  kernels_.add_offsets(offset_bits, most_offset_bits_, place, out.first(wanted));
  const auto rest = std::span(offset_bits).first(out.size()).subspan(wanted);
  in.MoveTo(std::accumulate(rest.begin(), rest.end(), place.position));
}

template <Latent L>
void LatentDecoder<L>::SumPredictions(std::span<L> deltas) {
  const size_t order = past_.size();
  std::vector<L> latents(past_);
  latents.insert(latents.end(), deltas.begin(), deltas.end());
  for (size_t i = order; i < latents.size(); ++i) {
    // These fit, as the description of the chunk was checked for. A damaged one wraps.
    auto sum = static_cast<uint64_t>(meta_->bias);
    for (size_t j = 0; j < order; ++j) {
      sum += static_cast<uint64_t>(meta_->weights[j]) * latents[i - order + j];
    }
    const int64_t prediction = std::max<int64_t>(static_cast<int64_t>(sum), 0);
    latents[i] = static_cast<L>(latents[i] + static_cast<L>(prediction >> meta_->quantization));
  }
  std::copy_n(latents.begin(), deltas.size(), deltas.begin());
  std::copy(latents.end() - static_cast<int64_t>(order), latents.end(), past_.begin());
}

template <Latent L>
absl::Status LatentDecoder<L>::SumLookbacks(std::span<const uint32_t> lookbacks,
                                            std::span<L> deltas) {
  const auto begin = static_cast<size_t>(done_);
  for (size_t i = 0; i < lookbacks.size(); ++i) {
    const size_t at = begin + static_cast<size_t>(state_count_) + i;
    const size_t lookback = lookbacks[i];
    if (lookback < 1 || lookback > size_t{1} << meta_->window_log) {
      return DataLoss("pco: a look back by %d in a window of 2^%d", lookback, meta_->window_log);
    }
    // Zeros come before the page.
    past_[at] = static_cast<L>(deltas[i] + (lookback <= at ? past_[at - lookback] : L{0}));
  }
  std::copy_n(past_.begin() + done_, deltas.size(), deltas.begin());
  done_ += std::ssize(deltas);
  return absl::OkStatus();
}

template <Latent L>
absl::Status LatentDecoder<L>::NextBatch(std::span<const uint32_t> lookbacks, BitReader& in,
                                         size_t begin, size_t end, Batch<L>& out) {
  const size_t size = BatchSize();
  const size_t stored = StoredSize();
  CAIRN_DCHECK(begin <= end && end <= size);
  const bool consecutive = meta_->delta == Delta::kConsecutive;
  if (var_->has_deltas && !consecutive) end = size;
  DecodeStored(in, end, std::span(out).first(stored));
  left_ -= static_cast<int64_t>(size);
  if (!var_->has_deltas) return absl::OkStatus();
  begin = HasSums() ? std::min(begin, stored) : 0;
  if (begin > 0) past_[0] = kernels_.total(past_[0], std::span(out).first(begin));
  const auto latents = std::span(out).first(end).subspan(begin);
  // Without moments, the deltas move from the middle to 0.
  kernels_.sum(consecutive ? std::span(past_) : std::span<L>(), std::min(stored, end) - begin,
               latents);
  if (meta_->delta == Delta::kConv1) SumPredictions(latents);
  return meta_->delta == Delta::kLookback ? SumLookbacks(lookbacks.first(stored), latents)
                                          : absl::OkStatus();
}

template <Latent L>
absl::Status LatentDecoder<L>::SkipBatch(std::span<const uint32_t> lookbacks, BitReader& in) {
  Batch<L> batch;
  if (var_->has_deltas && !HasSums()) return NextBatch(lookbacks, in, 0, BatchSize(), batch);
  const auto stored = std::span(batch).first(StoredSize());
  DecodeStored(in, var_->has_deltas ? stored.size() : 0, stored);
  left_ -= static_cast<int64_t>(BatchSize());
  if (var_->has_deltas) past_[0] = kernels_.total(past_[0], stored);
  return absl::OkStatus();
}

template class LatentDecoder<uint8_t>;
template class LatentDecoder<uint16_t>;
template class LatentDecoder<uint32_t>;
template class LatentDecoder<uint64_t>;

}  // namespace cairn::pco
