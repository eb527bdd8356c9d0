#include "engine/codec/bitpack/vector_encoder.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "engine/base/byte_writer.h"
#include "engine/base/check.h"

namespace cairn::bitpack {

namespace {

using numbers::kBits;
using numbers::kMid;
using numbers::Latent;
using numbers::NumberKind;
using numbers::NumberOf;

template <Latent L>
int WidthOf(L greatest) {
  return static_cast<int>(std::bit_width(greatest));
}

}  // namespace

template <Latent L>
void VectorEncoder<L>::Encode(NumberKind kind, std::span<const L> latents,
                              std::optional<Scale> scale, std::vector<std::byte>& out) {
  CAIRN_DCHECK(!latents.empty() && latents.size() <= kVector);
  Plan plan;
  std::span<const L> values = latents;
  if (scale) {
    plan = PlanDecimals(latents, *scale);
    values = std::span(wholes_).first(latents.size());
    Choose(values, plan);
    // All but a few floats are shorter as decimals.
    if (plan.head.exceptions == 0 && plan.head.width < kBits<L> / 2) {
      return Write(kind, latents, values, plan, out);
    }
  }
  Plan plain = {.head = {.form = kind == NumberKind::kFloat ? Form::kFloatBits : Form::kIntegers},
                .flip = kind == NumberKind::kInt ? kMid<L> : L{0}};
  Choose(latents, plain);
  if (scale && plan.bytes < plain.bytes) {
    Choose(values, plan);
    return Write(kind, latents, values, plan, out);
  }
  Write(kind, latents, latents, plain, out);
}

template <Latent L>
typename VectorEncoder<L>::Plan VectorEncoder<L>::PlanDecimals(std::span<const L> latents,
                                                               Scale scale) {
  Plan plan = {.head = {.form = Form::kDecimals, .scale = scale}, .flip = kMid<L>};
  plan.head.exceptions = kernels_.to_decimals(scale, latents, wholes_.data(), exact_.data());
  if (plan.head.exceptions == 0) return plan;
  const auto first = std::find(exact_.begin(), exact_.begin() + std::ssize(latents), uint8_t{1});
  const size_t at = static_cast<size_t>(first - exact_.begin());
  L last = at < latents.size() ? wholes_[at] : kMid<L>;
  for (size_t i = 0; i < latents.size(); ++i) {
    if (exact_[i] != 0) {
      last = wholes_[i];
    } else {
      wholes_[i] = last;
    }
  }
  return plan;
}

template <Latent L>
void VectorEncoder<L>::Choose(std::span<const L> values, Plan& plan) {
  VectorHead<L>& head = plan.head;
  L greatest = 0;
  kernels_.find_range(values, head.base, greatest);
  head.width = WidthOf(static_cast<L>(greatest - head.base));
  plan.bytes = VectorHead<L>::PackedBytes(VectorHead<L>::RowsOf(values.size()), head.width) +
               ExceptionBytes(head.exceptions);
  if (head.form != Form::kDecimals) CutOutliers(values, plan);
  TryDeltas(values, plan);
  if (!head.has_deltas) head.base = static_cast<L>(head.base - plan.flip);
}

template <Latent L>
void VectorEncoder<L>::CutOutliers(std::span<const L> values, Plan& plan) const {
  constexpr size_t kSample = 64;
  constexpr size_t kFar = 3;
  if (values.size() < kSample) return;
  std::array<L, kSample> sample;
  const size_t step = values.size() / kSample;
  for (size_t i = 0; i < kSample; ++i) sample[i] = values[i * step];
  std::ranges::sort(sample);
  const L spread = static_cast<L>(sample[kSample - 1 - kFar] - sample[kFar]);
  if (WidthOf(spread) + 2 >= plan.head.width) return;
  const L low = sample[kFar];
  const L margin = static_cast<L>(spread / 4);
  const L base = low - plan.head.base > margin ? static_cast<L>(low - margin) : plan.head.base;
  std::array<size_t, kBits<L> + 1> counts = {};
  for (const L value : values) ++counts[static_cast<size_t>(WidthOf(static_cast<L>(value - base)))];
  const size_t rows = VectorHead<L>::RowsOf(values.size());
  size_t outside = values.size();
  const int whole = plan.head.width;
  for (int width = 0; width < whole; ++width) {
    outside -= counts[static_cast<size_t>(width)];
    const size_t bytes = VectorHead<L>::PackedBytes(rows, width) + ExceptionBytes(outside);
    if (bytes >= plan.bytes) continue;
    plan.bytes = bytes;
    plan.head.exceptions = outside;
    plan.head.base = base;
    plan.head.width = width;
  }
}

template <Latent L>
void VectorEncoder<L>::TryDeltas(std::span<const L> values, Plan& plan) {
  const size_t rows = VectorHead<L>::RowsOf(values.size());
  if (rows < 2) return;
  // In the order of lanes, each number follows the one above it.
  L previous = values[0];
  for (size_t lane = 0; lane < kLanes; ++lane) {
    for (size_t row = 0; row < rows; ++row) {
      const L value = values[std::min(lane * rows + row, values.size() - 1)];
      // Around the middle, so that small negative deltas are next to small positive ones.
      lanes_[row * kLanes + lane] = row == 0 ? value : static_cast<L>(value - previous + kMid<L>);
      previous = value;
    }
  }
  L least = 0;
  L greatest = 0;
  kernels_.find_range(std::span(lanes_).subspan(kLanes, (rows - 1) * kLanes), least, greatest);
  L start = 0;
  L last_start = 0;
  kernels_.find_range(std::span(lanes_).first(kLanes), start, last_start);
  const int width = WidthOf(static_cast<L>(greatest - least));
  const int start_bytes = (WidthOf(static_cast<L>(last_start - start)) + 7) / 8;
  const size_t exceptions = plan.head.form == Form::kDecimals ? plan.head.exceptions : 0;
  const size_t bytes = VectorHead<L>::PackedBytes(rows, width) + sizeof(L) +
                       kLanes * static_cast<size_t>(start_bytes) + ExceptionBytes(exceptions);
  // Single numbers are decoded faster without deltas.
  if (bytes + bytes / 16 >= plan.bytes) return;
  plan.bytes = bytes;
  plan.head.has_deltas = true;
  plan.head.width = width;
  plan.head.base = static_cast<L>(least - kMid<L>);
  plan.head.start_bytes = start_bytes;
  plan.head.start_base = static_cast<L>(start - plan.flip);
  plan.head.exceptions = exceptions;
}

template <Latent L>
void VectorEncoder<L>::Write(NumberKind kind, std::span<const L> latents, std::span<const L> values,
                             const Plan& plan, std::vector<std::byte>& out) {
  const VectorHead<L>& head = plan.head;
  const size_t rows = VectorHead<L>::RowsOf(values.size());
  ByteWriter writer(std::move(out));
  WriteVectorHead(head, writer);
  std::vector<uint16_t> positions;
  L packed_base = static_cast<L>(head.base + plan.flip);
  if (head.has_deltas) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const L start = static_cast<L>(lanes_[lane] - head.start_base - plan.flip);
      for (int i = 0; i < head.start_bytes; ++i) {
        writer.U8(static_cast<uint8_t>(uint64_t{start} >> (8 * i)));
      }
      lanes_[lane] = static_cast<L>(head.base + kMid<L>);
    }
    packed_base = static_cast<L>(head.base + kMid<L>);
  } else {
    std::ranges::copy(values, lanes_.begin());
    std::fill(lanes_.begin() + std::ssize(values),
              lanes_.begin() + static_cast<int64_t>(rows * kLanes), packed_base);
  }
  if (head.exceptions > 0) {
    const uint64_t mask = head.width == 64 ? ~uint64_t{0} : (uint64_t{1} << head.width) - 1;
    for (size_t i = 0; i < values.size(); ++i) {
      const bool is_exception = head.form == Form::kDecimals
                                    ? exact_[i] == 0
                                    : static_cast<L>(values[i] - packed_base) > mask;
      if (!is_exception) continue;
      positions.push_back(static_cast<uint16_t>(i));
      if (!head.has_deltas) lanes_[i] = packed_base;
    }
  }
  const size_t at = writer.size();
  writer.Zeros(VectorHead<L>::PackedBytes(rows, head.width));
  kernels_.pack(lanes_, rows, head.width, packed_base, writer.written().subspan(at).data());
  for (const uint16_t position : positions) writer.Le(position);
  for (const uint16_t position : positions) writer.Le(NumberOf(kind, latents[position]));
  out = std::move(writer).Take();
}

template class VectorEncoder<uint8_t>;
template class VectorEncoder<uint16_t>;
template class VectorEncoder<uint32_t>;
template class VectorEncoder<uint64_t>;

}  // namespace cairn::bitpack
