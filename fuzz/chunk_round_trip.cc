// The input is options and a payload. Whatever they are, a chunk that can be made decodes to the
// payload, whole and in parts, and is the same whoever makes it.

#include <algorithm>
#include <array>
#include <vector>

#include "cairn/chunk.h"
#include "engine/base/bytes.h"
#include "fuzz/check.h"
#include "fuzz/input.h"
#include "fuzz/mutator.h"
#include "tests/support/reverse_executor.h"
#include "tests/support/unowned.h"

namespace cairn::fuzz {
namespace {

using Buffer = std::vector<std::byte>;

constexpr size_t kMostBytes = 1 << 16;

template <typename T, size_t kSize>
T Choose(const std::array<T, kSize>& choices, Input& input) {
  return choices[input.Number<uint8_t>() % kSize];
}

CompressionOptions TakeOptions(Input& input) {
  static constexpr std::array kCodecs = {Codec::kBloscLz, Codec::kLz4, Codec::kLz4Hc, Codec::kZlib,
                                         Codec::kZstd};
  static constexpr std::array kFilters = {
      Filter::kShuffle,   Filter::kBitShuffle, Filter::kDelta,    Filter::kByteDelta,
      Filter::kTruncPrec, Filter::kIntTrunc,   Filter::kNone,     Filter::kNdCell,
      Filter::kShuffle,   Filter::kBitShuffle, Filter::kByteDelta};
  static constexpr std::array kSplits = {SplitMode::kAlways, SplitMode::kNever, SplitMode::kAuto,
                                         SplitMode::kForwardCompat};
  CompressionOptions options;
  options.codec = Choose(kCodecs, input);
  options.clevel = input.Number<uint8_t>() % 10;
  options.typesize = input.Number<uint8_t>();
  if (options.typesize >= 250) options.typesize = 250 + 40 * (options.typesize - 250);
  options.blocksize = input.Number<uint16_t>();
  options.split_mode = Choose(kSplits, input);
  const auto form = input.Number<uint8_t>();
  // Training takes longer than all else; a Blosc1 chunk refuses it.
  options.use_dict = form % 8 == 1 || form % 8 == 7;
  options.format = form % 8 >= 6 ? ChunkFormat::kBlosc1 : ChunkFormat::kBlosc2;
  options.filters.resize((form >> 3) % 5);
  for (FilterStage& stage : options.filters) {
    stage.filter = Choose(kFilters, input);
    stage.meta = input.Number<uint8_t>();
    // SHUFFLE and BYTEDELTA take widths; 0 is that of the items.
    if (stage.meta > 200) stage.meta = 0;
  }
  return options;
}

// The rest of the input, drawn out: blocks are larger than a fuzzer likes to write.
Buffer TakePayload(Input& input) {
  const auto form = input.Number<uint8_t>();
  const size_t size = input.Number<uint16_t>() % kMostBytes;
  const Bytes pattern = input.rest();
  Buffer payload = ToVector(pattern);
  if (form % 2 == 0 || pattern.empty()) return payload;
  payload.resize(std::max(size, payload.size()));
  for (size_t i = pattern.size(); i < payload.size(); ++i) {
    const size_t round = i / pattern.size();
    payload[i] = pattern[i % pattern.size()] ^
                 static_cast<std::byte>(form % 4 == 1 ? 0 : round * (form >> 2));
  }
  return payload;
}

bool IsLossy(const CompressionOptions& options) {
  return std::ranges::any_of(options.filters, [](const FilterStage& stage) {
    return stage.filter == Filter::kTruncPrec || stage.filter == Filter::kIntTrunc;
  });
}

Buffer Decode(Bytes chunk) {
  const absl::StatusOr<ChunkInfo> info = InspectChunk(chunk);
  CheckOk(info.status(), "what was made is a chunk");
  Check(info->cbytes == std::ssize(chunk), "a chunk has the size that it says");
  Buffer payload(static_cast<size_t>(info->nbytes), std::byte{0xA5});
  CheckOk(DecompressChunk(chunk, payload), "what was made decodes");
  return payload;
}

void CheckItems(Bytes chunk, Bytes payload) {
  const auto typesize = static_cast<size_t>(InspectChunk(chunk)->typesize);
  const ChunkDecompressor decode;
  const size_t nitems = payload.size() / typesize;
  const size_t step = std::max<size_t>(nitems / 24, 1);
  for (size_t start = 0; start < nitems; start += step) {
    for (const size_t count : {size_t{1}, step + 1}) {
      Buffer part(std::min(count, nitems - start) * typesize);
      CheckOk(decode.DecompressItems(chunk, static_cast<int64_t>(start), part), "items decode");
      Check(std::ranges::equal(part, payload.subspan(start * typesize, part.size())),
            "items are those of the payload");
    }
  }
}

void CheckAgain(const Buffer& payload, const CompressionOptions& options, const Buffer& chunk) {
  const absl::StatusOr<ChunkCompressor> compressor = ChunkCompressor::Make(options);
  CheckOk(compressor.status(), "options are good always or never");
  Buffer again(MaxCompressedSize(payload.size()));
  for (int i = 0; i < 2; ++i) {
    const absl::StatusOr<size_t> size = compressor->Compress(payload, again);
    CheckOk(size.status(), "what can be made can be made again");
    Check(std::ranges::equal(Bytes(again).first(*size), chunk),
          "a warm compressor writes the same");
  }
  ReverseExecutor executor(3);
  CompressionOptions parallel = options;
  parallel.executor = test::Unowned(&executor);
  const absl::StatusOr<size_t> size = CompressChunk(payload, parallel, again);
  CheckOk(size.status(), "what one thread makes several make");
  Check(std::ranges::equal(Bytes(again).first(*size), chunk), "several threads write the same");
}

void CheckTightRoom(const Buffer& payload, const CompressionOptions& options, const Buffer& chunk,
                    Input choices) {
  Buffer tight(choices.Below(chunk.size() + 8));
  const absl::StatusOr<size_t> size = CompressChunk(payload, options, tight);
  if (!size.ok()) {
    Check(absl::IsResourceExhausted(size.status()), "only room lacks", size.status().ToString());
    return;
  }
  tight.resize(*size);
  if (!IsLossy(options)) CheckSame(Decode(tight), payload, "a chunk in tight room decodes");
}

// False when the options are refused.
bool IsMade(const absl::Status& status) {
  if (status.ok()) return true;
  Check(absl::IsInvalidArgument(status) || absl::IsUnimplemented(status),
        "only options are refused", status.ToString());
  return false;
}

// Cuts the payload into blocks of its own.
void CheckVlBlocks(const Buffer& payload, const CompressionOptions& options, Input choices) {
  if (payload.empty() || options.format == ChunkFormat::kBlosc1) return;
  std::vector<Bytes> blocks;
  for (Bytes rest = payload; !rest.empty();) {
    const size_t size = 1 + choices.Below(std::min<size_t>(rest.size(), 5000));
    blocks.push_back(rest.first(blocks.size() < 30 ? size : rest.size()));
    rest = rest.subspan(blocks.back().size());
  }
  Buffer chunk(MaxVlCompressedSize(payload.size(), blocks.size()));
  const absl::StatusOr<size_t> size = CompressVlBlocks(blocks, options, chunk);
  if (!IsMade(size.status())) return;
  chunk.resize(*size);
  const Buffer decoded = Decode(chunk);
  if (!IsLossy(options)) CheckSame(decoded, payload, "blocks decode to what they were");
  CheckItems(chunk, decoded);
}

void RoundTrip(Input input) {
  const Input choices = input;
  const CompressionOptions options = TakeOptions(input);
  const Buffer payload = TakePayload(input);
  Buffer chunk(MaxCompressedSize(payload.size()));
  const absl::StatusOr<size_t> size = CompressChunk(payload, options, chunk);
  if (!IsMade(size.status())) return;
  chunk.resize(*size);
  const Buffer decoded = Decode(chunk);
  Check(decoded.size() == payload.size(), "a chunk decodes to as much as it was made of");
  if (!IsLossy(options)) CheckSame(decoded, payload, "a chunk decodes to what it was made of");
  CheckItems(chunk, decoded);
  CheckAgain(payload, options, chunk);
  CheckTightRoom(payload, options, chunk, choices);
  CheckVlBlocks(payload, options, choices);
}

}  // namespace
}  // namespace cairn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cairn::fuzz::RoundTrip(cairn::fuzz::Input(data, size));
  return 0;
}
