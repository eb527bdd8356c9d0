#include "engine/codec/pco/chunk_meta.h"

#include <cmath>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/status.h"
#include "engine/codec/pco/bit_writer.h"

namespace cairn::pco {

namespace {

constexpr int kMaxMajor = 4;
constexpr int kMaxWindowLog = 24;  // of 2^24, the most numbers of a chunk

bool IsFiniteBase(int size, uint64_t latent) {
  const auto check = [](auto value) { return std::isfinite(value) && value != 0; };
  const auto value = [latent]<FloatLatent L>(L /*type*/) {
    return FloatOf<L>::FromBits(NumberOf<L>(NumberKind::kFloat, static_cast<L>(latent)));
  };
  if (size == 8) return check(value(uint64_t{}));
  return size == 4 ? check(value(uint32_t{})) : check(value(uint16_t{}));
}

int SignificandBits(int size) { return size == 8 ? 52 : size == 4 ? 23 : 10; }

absl::Status ReadDict(int bits, BitReader& in, ChunkMeta& meta) {
  constexpr int kCountBits = 25;
  const auto count = static_cast<int64_t>(in.Read(kCountBits));
  if (!in.Align()) return DataLoss("pco: bits are set before the dictionary");
  if (count * bits > in.bits_left()) {
    return DataLoss("pco: a dictionary of %d numbers in %d bits", count, in.bits_left());
  }
  meta.dict.resize(static_cast<size_t>(count));
  for (uint64_t& value : meta.dict) value = in.Read(bits);
  return absl::OkStatus();
}

absl::Status ReadMode(Version version, NumberType type, BitReader& in, ChunkMeta& meta) {
  const int bits = type.size * 8;
  const bool is_float = type.kind == NumberKind::kFloat;
  const auto mode = static_cast<int>(in.Read(4));
  switch (mode) {
    case 0:
      return absl::OkStatus();
    case 1:
      meta.mode = Mode::kIntMult;
      meta.mult = in.Read(bits);
      if (version.major == 0) return Unimplemented("pco: multiples of version 0");
      if (is_float || meta.mult == 0) return DataLoss("pco: multiples of %d", meta.mult);
      return absl::OkStatus();
    case 2:
      meta.mode = Mode::kFloatMult;
      meta.mult = in.Read(bits);
      if (!is_float || !IsFiniteBase(type.size, meta.mult)) {
        return DataLoss("pco: multiples of the float with the latent %d", meta.mult);
      }
      return absl::OkStatus();
    case 3:
      meta.mode = Mode::kFloatQuant;
      meta.quant_bits = static_cast<int>(in.Read(8));
      if (!is_float || meta.quant_bits == 0 || meta.quant_bits > SignificandBits(type.size)) {
        return DataLoss("pco: floats whose lowest %d bits are apart", meta.quant_bits);
      }
      return absl::OkStatus();
    case 4:
      meta.mode = Mode::kDict;
      return ReadDict(bits, in, meta);
    default:
      return Unimplemented("pco: mode %d", mode);
  }
}

absl::Status ReadConv1(int bits, BitReader& in, ChunkMeta& meta) {
  meta.quantization = static_cast<int>(in.Read(5));
  meta.bias = static_cast<int64_t>(in.Read(64) ^ kMid<uint64_t>);
  meta.order = 1 + static_cast<int>(in.Read(5));
  double sum = 0;
  for (int i = 0; i < meta.order; ++i) {
    const auto weight = static_cast<int32_t>(static_cast<uint32_t>(in.Read(32)) ^ kMid<uint32_t>);
    meta.weights.push_back(weight);
    sum += std::fabs(static_cast<double>(weight));
  }
  // Predictions are computed in integers of twice the width.
  const double most = std::fabs(static_cast<double>(meta.bias)) + std::ldexp(sum, bits);
  if (bits > 32 || meta.quantization > 2 * bits - 1 || most >= std::ldexp(1.0, 2 * bits - 1)) {
    return DataLoss("pco: predictions of %d bits could overflow", bits);
  }
  return absl::OkStatus();
}

// Returns true if the secondary latents have deltas, too.
absl::StatusOr<bool> ReadDelta(Version version, int bits, BitReader& in, ChunkMeta& meta) {
  if (version.major < 3) {
    meta.order = static_cast<int>(in.Read(3));
    if (meta.order > 0) meta.delta = Delta::kConsecutive;
    return false;
  }
  const auto delta = static_cast<int>(in.Read(4));
  switch (delta) {
    case 0:
      return false;
    case 1:
      meta.delta = Delta::kConsecutive;
      meta.order = static_cast<int>(in.Read(3));
      if (meta.order == 0) return DataLoss("pco: consecutive deltas of order 0");
      return in.Read(1) == 1;
    case 2:
      meta.delta = Delta::kLookback;
      meta.window_log = 1 + static_cast<int>(in.Read(5));
      meta.state_log = static_cast<int>(in.Read(4));
      if (meta.window_log > kMaxWindowLog || meta.state_log > meta.window_log) {
        return DataLoss("pco: a window of 2^%d latents, of which 2^%d are stored", meta.window_log,
                        meta.state_log);
      }
      return in.Read(1) == 1;
    case 3:
      meta.delta = Delta::kConv1;
      CAIRN_RETURN_IF_ERROR(ReadConv1(bits, in, meta));
      return false;
    default:
      return Unimplemented("pco: delta encoding %d", delta);
  }
}

// Returns the bits of a number from 0 to `bits`.
int BitsOfOffsetBits(int bits) {
  int n = 1;
  while (1 << n <= bits) ++n;
  return n;
}

absl::StatusOr<LatentVar> ReadLatentVar(int bits, BitReader& in) {
  LatentVar var = {.bits = bits, .table_log = static_cast<int>(in.Read(4))};
  const auto count = static_cast<int64_t>(in.Read(15));
  const int64_t table_size = int64_t{1} << var.table_log;
  const int width = BitsOfOffsetBits(bits);
  if (var.table_log > kMaxTableLog || count > table_size || (count <= 1 && var.table_log > 0)) {
    return DataLoss("pco: %d bins in a table of 2^%d states", count, var.table_log);
  }
  if (count * (var.table_log + bits + width) > in.bits_left()) {
    return DataLoss("pco: %d bins in %d bits", count, in.bits_left());
  }
  var.bins.resize(static_cast<size_t>(count));
  int64_t weights = 0;
  for (Bin& bin : var.bins) {
    bin.weight = 1 + static_cast<uint32_t>(in.Read(var.table_log));
    bin.lower = in.Read(bits);
    bin.offset_bits = static_cast<int>(in.Read(width));
    weights += bin.weight;
    if (bin.offset_bits > bits) {
      return DataLoss("pco: an offset of %d bits in latents of %d", bin.offset_bits, bits);
    }
  }
  if (count > 0 && weights != table_size) {
    return DataLoss("pco: the bins have %d of %d states", weights, table_size);
  }
  return var;
}

absl::Status CheckLookbacks(const LatentVar& lookbacks, int window_log) {
  for (const Bin& bin : lookbacks.bins) {
    if (bin.lower < 1 || bin.lower > uint64_t{1} << window_log) {
      return DataLoss("pco: a look back by %d in a window of 2^%d", bin.lower, window_log);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Version> ReadVersion(BitReader& in) {
  Version version = {.major = static_cast<int>(in.Read(8)), .minor = 0};
  if (version.major > kMaxMajor) return Unimplemented("pco: version %d", version.major);
  if (version.major == kMaxMajor) version.minor = static_cast<int>(in.Read(8));
  if (!in.in_bounds()) return DataLoss("pco: the stream ends in its version");
  return version;
}

int64_t ChunkMeta::StateCount() const {
  return delta == Delta::kLookback ? int64_t{1} << state_log : order;
}

absl::StatusOr<ChunkMeta> ReadChunkMeta(Version version, NumberType type, BitReader& in) {
  ChunkMeta meta;
  CAIRN_RETURN_IF_ERROR(ReadMode(version, type, in, meta));
  const int bits = meta.mode == Mode::kDict ? 32 : type.size * 8;
  CAIRN_ASSIGN_OR_RETURN(const bool secondary_deltas, ReadDelta(version, bits, in, meta));
  if (meta.delta == Delta::kLookback) {
    CAIRN_ASSIGN_OR_RETURN(meta.lookbacks, ReadLatentVar(32, in));
    CAIRN_RETURN_IF_ERROR(CheckLookbacks(*meta.lookbacks, meta.window_log));
  }
  CAIRN_ASSIGN_OR_RETURN(meta.primary, ReadLatentVar(bits, in));
  meta.primary.has_deltas = meta.delta != Delta::kNone;
  if (meta.mode != Mode::kClassic && meta.mode != Mode::kDict) {
    CAIRN_ASSIGN_OR_RETURN(meta.secondary, ReadLatentVar(bits, in));
    meta.secondary->has_deltas = secondary_deltas;
  }
  if (!in.Align()) return DataLoss("pco: bits are set after the bins");
  if (!in.in_bounds()) return DataLoss("pco: the stream ends in the description of its chunk");
  return meta;
}

namespace {

void WriteLatentVar(const LatentVar& var, BitWriter& out) {
  out.Write(static_cast<uint64_t>(var.table_log), 4);
  out.Write(var.bins.size(), 15);
  for (const Bin& bin : var.bins) {
    out.Write(bin.weight - 1, var.table_log);
    out.Write(bin.lower, var.bits);
    out.Write(static_cast<uint64_t>(bin.offset_bits), BitsOfOffsetBits(var.bits));
  }
}

}  // namespace

void WriteChunkMeta(const ChunkMeta& meta, NumberType type, std::vector<std::byte>& out) {
  CAIRN_DCHECK(meta.mode != Mode::kDict);
  CAIRN_DCHECK(meta.delta == Delta::kNone || meta.delta == Delta::kConsecutive);
  BitWriter writer(out);
  writer.Write(static_cast<uint64_t>(meta.mode), 4);
  if (meta.mode == Mode::kIntMult || meta.mode == Mode::kFloatMult) {
    writer.Write(meta.mult, type.size * 8);
  }
  if (meta.mode == Mode::kFloatQuant) writer.Write(static_cast<uint64_t>(meta.quant_bits), 8);
  writer.Write(static_cast<uint64_t>(meta.delta), 4);
  if (meta.delta == Delta::kConsecutive) {
    writer.Write(static_cast<uint64_t>(meta.order), 3);
    writer.Write(0, 1);  // the secondary latents have no deltas
  }
  WriteLatentVar(meta.primary, writer);
  if (meta.secondary) WriteLatentVar(*meta.secondary, writer);
}

}  // namespace cairn::pco
