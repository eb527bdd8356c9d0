#include "engine/codec/pco/latent_decoder.h"

#include <algorithm>
#include <bit>

#include "engine/base/check.h"
#include "engine/base/endian.h"
#include "engine/base/status.h"

namespace cairn::pco {

namespace {

constexpr int kMaxLoadBits = 57;  // an integer of this many bits lies in one load

uint64_t LowBits(uint64_t value, int nbits) { return value & ((uint64_t{1} << nbits) - 1); }

}  // namespace

std::vector<uint16_t> SpreadBins(int table_log, std::span<const Bin> bins) {
  const uint32_t size = uint32_t{1} << table_log;
  const uint32_t stride = (3 * size / 5) | 1;  // odd, so that each state is met once
  std::vector<uint16_t> bin_of_state(size);
  uint32_t state = 0;
  for (size_t bin = 0; bin < bins.size(); ++bin) {
    for (uint32_t i = 0; i < bins[bin].weight; ++i) {
      bin_of_state[state] = static_cast<uint16_t>(bin);
      state = (state + stride) & (size - 1);
    }
  }
  return bin_of_state;
}

template <Latent L>
LatentDecoder<L>::LatentDecoder(const ChunkMeta& meta, const LatentVar& var)
    : meta_(meta), var_(var), state_count_(var.has_deltas ? meta.StateCount() : 0) {
  for (const Bin& bin : var.bins) most_offset_bits_ = std::max(most_offset_bits_, bin.offset_bits);
  if (var.bins.size() < 2) return;
  const int size = 1 << var.table_log;
  std::vector<uint32_t> next(var.bins.size());
  for (size_t i = 0; i < next.size(); ++i) next[i] = var.bins[i].weight;
  nodes_.reserve(static_cast<size_t>(size));
  lowers_.reserve(static_cast<size_t>(size));
  for (const uint16_t bin : SpreadBins(var.table_log, var.bins)) {
    // The state after this one lies in [size, 2 * size): its upper part says which of the bin's
    // states this is, and its lower bits are read.
    const uint32_t count = next[bin]++;
    const int table_bits = var.table_log + 1 - static_cast<int>(std::bit_width(count));
    nodes_.push_back({.next = static_cast<uint16_t>((count << table_bits) - size),
                      .table_bits = static_cast<uint8_t>(table_bits),
                      .offset_bits = static_cast<uint8_t>(var.bins[bin].offset_bits)});
    lowers_.push_back(static_cast<L>(var.bins[bin].lower));
  }
}

template <Latent L>
absl::Status LatentDecoder<L>::BeginPage(int64_t count, BitReader& in) {
  left_ = count;
  done_ = 0;
  if (state_count_ * kBits < L >> in.bits_left()) {
    return DataLoss("pco: %d latents in %d bits", state_count_, in.bits_left());
  }
  if (var_.bins.empty() && count > state_count_) {
    return DataLoss("pco: %d latents and no bins", count - state_count_);
  }
  const bool keeps_all = var_.has_deltas && meta_.delta == Delta::kLookback;
  past_.resize(static_cast<size_t>(keeps_all ? std::max(count, state_count_) : state_count_));
  for (L& latent : std::span(past_).first(static_cast<size_t>(state_count_))) {
    latent = static_cast<L>(in.Read(kBits<L>));
  }
  for (uint32_t& state : states_) state = static_cast<uint32_t>(in.Read(var_.table_log));
  return absl::OkStatus();
}

template <Latent L>
void LatentDecoder<L>::DecodeBins(BitReader& in, std::span<L> out, OffsetBits& offset_bits) {
  const std::byte* const data = in.data();
  int64_t position = in.position();
  const Node* const nodes = nodes_.data();
  const L* const lowers = lowers_.data();
  auto [s0, s1, s2, s3] = states_;
  const auto step = [&](size_t i, uint64_t bits, int& used, uint32_t& state) {
    const Node node = nodes[state];
    out[i] = lowers[state];
    offset_bits[i] = node.offset_bits;
    state = node.next + static_cast<uint32_t>(LowBits(bits >> used, node.table_bits));
    used += node.table_bits;
  };
  const size_t whole = out.size() / 4 * 4;
  for (size_t i = 0; i < whole; i += 4) {
    // Four states take at most 56 bits, and 7 may come before them.
    const uint64_t bits = LoadLe<uint64_t>(data + position / 8);
    const int begin = static_cast<int>(position % 8);
    int used = begin;
    step(i, bits, used, s0);
    step(i + 1, bits, used, s1);
    step(i + 2, bits, used, s2);
    step(i + 3, bits, used, s3);
    position += used - begin;
  }
  states_ = {s0, s1, s2, s3};
  for (size_t i = whole; i < out.size(); ++i) {
    const int begin = static_cast<int>(position % 8);
    int used = begin;
    step(i, LoadLe<uint64_t>(data + position / 8), used, states_[i - whole]);
    position += used - begin;
  }
  in.MoveTo(position);
}

template <Latent L>
void LatentDecoder<L>::AddOffsets(const OffsetBits& offset_bits, BitReader& in,
                                  std::span<L> out) const {
  if (most_offset_bits_ > kMaxLoadBits) {
    for (size_t i = 0; i < out.size(); ++i) {
      out[i] = static_cast<L>(out[i] + in.Read(offset_bits[i]));
    }
    return;
  }
  const std::byte* const data = in.data();
  int64_t position = in.position();
  for (size_t i = 0; i < out.size(); ++i) {
    const uint64_t bits = LoadLe<uint64_t>(data + position / 8) >> (position % 8);
    out[i] = static_cast<L>(out[i] + LowBits(bits, offset_bits[i]));
    position += offset_bits[i];
  }
  in.MoveTo(position);
}

template <Latent L>
void LatentDecoder<L>::DecodeStored(BitReader& in, std::span<L> out) {
  CAIRN_DCHECK(out.size() <= kBatch);
  if (out.empty() || !in.in_bounds()) {
    std::ranges::fill(out, L{0});
    return;
  }
  OffsetBits offset_bits;
  if (var_.bins.size() == 1) {
    std::ranges::fill(out, static_cast<L>(var_.bins[0].lower));
    offset_bits.fill(static_cast<uint8_t>(most_offset_bits_));
  } else {
    DecodeBins(in, out, offset_bits);
  }
  if (most_offset_bits_ > 0 && in.in_bounds()) AddOffsets(offset_bits, in, out);
}

template <Latent L>
void LatentDecoder<L>::SumConsecutive(std::span<L> deltas) {
  for (size_t order = past_.size(); order-- > 0;) {
    L sum = past_[order];
    for (L& delta : deltas) {
      const L next = static_cast<L>(sum + delta);
      delta = sum;
      sum = next;
    }
    past_[order] = sum;
  }
}

template <Latent L>
void LatentDecoder<L>::SumPredictions(std::span<L> deltas) {
  const size_t order = past_.size();
  std::vector<L> latents(past_);
  latents.insert(latents.end(), deltas.begin(), deltas.end());
  for (size_t i = order; i < latents.size(); ++i) {
    // These fit, as the description of the chunk was checked for. A damaged one wraps.
    auto sum = static_cast<uint64_t>(meta_.bias);
    for (size_t j = 0; j < order; ++j) {
      sum += static_cast<uint64_t>(meta_.weights[j]) * latents[i - order + j];
    }
    const int64_t prediction = std::max<int64_t>(static_cast<int64_t>(sum), 0);
    latents[i] = static_cast<L>(latents[i] + static_cast<L>(prediction >> meta_.quantization));
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
    if (lookback < 1 || lookback > size_t{1} << meta_.window_log) {
      return DataLoss("pco: a look back by %d in a window of 2^%d", lookback, meta_.window_log);
    }
    // Zeros come before the page.
    past_[at] = static_cast<L>(deltas[i] + (lookback <= at ? past_[at - lookback] : L{0}));
  }
  std::copy_n(past_.begin() + done_, deltas.size(), deltas.begin());
  return absl::OkStatus();
}

template <Latent L>
absl::Status LatentDecoder<L>::NextBatch(std::span<const uint32_t> lookbacks, BitReader& in,
                                         std::span<L> out) {
  CAIRN_DCHECK(static_cast<int64_t>(out.size()) == std::min<int64_t>(left_, kBatch));
  const int64_t stored = std::clamp<int64_t>(left_ - state_count_, 0, kBatch);
  const std::span<L> deltas = out.first(static_cast<size_t>(stored));
  DecodeStored(in, deltas);
  absl::Status status;
  if (var_.has_deltas) {
    for (L& delta : deltas) delta = static_cast<L>(delta ^ kMid<L>);
    std::ranges::fill(out.subspan(deltas.size()), L{0});
    if (meta_.delta == Delta::kConsecutive) {
      SumConsecutive(out);
    } else if (meta_.delta == Delta::kConv1) {
      SumPredictions(out);
    } else {
      status = SumLookbacks(lookbacks.first(deltas.size()), out);
    }
  }
  left_ -= static_cast<int64_t>(out.size());
  done_ += static_cast<int64_t>(out.size());
  return status;
}

template class LatentDecoder<uint8_t>;
template class LatentDecoder<uint16_t>;
template class LatentDecoder<uint32_t>;
template class LatentDecoder<uint64_t>;

}  // namespace cairn::pco
