#include "engine/chunk/compressibility.h"

#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <span>

#include "engine/base/checked.h"
#include "engine/base/endian.h"
#include "engine/chunk/byte_marks.h"
#include "engine/codec/codec_set.h"

namespace cairn::chunk {

namespace {

constexpr size_t kUnsampled = 16384;  // items that are not worth sampling
constexpr size_t kMinWindow = 128;
constexpr size_t kMostWindows = 256;
constexpr size_t kSide = 16;  // windows side by side, and the step from then on
constexpr size_t kQuickWindows = 8;
// The least bytes and items of a window of a quick sample, enough to count in each byte column.
constexpr size_t kQuickBytes = 512;
constexpr size_t kQuickItems = 64;
// Shorter streams are coded nearly as fast as they are probed.
constexpr size_t kMinFast = 65536;
constexpr size_t kMinSlow = 32768;
constexpr size_t kMinPart = 256;
// Frequencies are counted of this many bytes: of more if the codec gains from a small difference.
constexpr size_t kCounted = 512;
constexpr size_t kCountedClosely = 2048;
constexpr size_t kLinesAtOnce = 64;
// In the search for near repeats, the first byte of each fourth line is always marked: data with
// few values may have no other marked place.
constexpr size_t kMarkedLine = 4;
constexpr size_t kMarkedLineFar = 64;
// If this many marks are expected, none at all is found once in a million times.
constexpr double kMarksNeverMissed = 14;
constexpr uint8_t kValue = 0xA5;
constexpr size_t kKeyWord = 8;  // bytes that a key is read from

bool CountsBytes(Codec codec) { return codec == Codec::kZlib || codec == Codec::kZstd; }

// Returns how far a number of independent events may be from the one expected of random bytes. With
// six standard deviations, one incompressible stream in a hundred million is coded in vain.
double Tolerance(double expected) { return 6 * std::sqrt(expected); }

// Counts are signed and short because processors multiply and add these fastest.
using Counts = std::array<int16_t, 256>;

// Returns true if two of the `total` counted, at most 32,767, are equal more often than in random
// bytes.
bool IsUneven(const Counts& counts, int total) {
  int squares = 0;
  for (const int count : counts) squares += count * count;
  const double pairs = static_cast<double>(squares - total) / 2;
  const double expected = static_cast<double>(total) * (total - 1) / 2 / 256;
  return pairs > expected + Tolerance(expected);
}

// Returns true if some bytes of the windows are more frequent than others, or some steps from one
// byte to the next. The steps show data that changes slowly and takes all values.
bool BytesAreUneven(const SampleWindows& windows, size_t most) {
  Counts values{};
  Counts steps{};
  int nsteps = 0;
  // The counted pieces have the size of a line and are spread over each window.
  const size_t share =
      std::max<size_t>(std::min(windows.size(), most) / windows.count() / kLine, 1);
  for (size_t i = 0; i < windows.count(); ++i) {
    const Bytes window = windows.Window(i);
    const size_t size = std::min(window.size() / share, kLine);
    for (size_t piece = 0; piece < share; ++piece) {
      const Bytes bytes = window.subspan(window.size() / share * piece, size);
      for (size_t k = 0; k + 1 < bytes.size(); k += 2) {
        const auto value = std::to_integer<uint8_t>(bytes[k]);
        const auto next = std::to_integer<uint8_t>(bytes[k + 1]);
        ++values[value];
        ++values[next];
        ++steps[static_cast<uint8_t>(next - value)];
      }
      nsteps += static_cast<int>(bytes.size() / 2);
    }
  }
  return IsUneven(values, 2 * nsteps) || IsUneven(steps, nsteps);
}

}  // namespace

SampleWindows::SampleWindows(Bytes bytes, size_t unit) : bytes_(bytes), window_(bytes.size()) {
  if (bytes.size() <= kUnsampled * unit) return;
  window_ = std::max(kMinWindow * unit, bytes.size() / kMostWindows / unit * unit);
  side_ = step_ = kSide;
  const size_t windows = bytes.size() / window_;
  count_ = windows <= kSide ? windows : kSide + (windows - kSide) / kSide;
}

SampleWindows SampleWindows::Quick(Bytes bytes, size_t unit) {
  SampleWindows quick(bytes, bytes.size());
  const size_t window = std::max(kQuickItems, CeilDiv(kQuickBytes, unit)) * unit;
  const size_t windows = bytes.size() / window;
  if (windows <= kQuickWindows) return quick;
  quick.window_ = window;
  quick.count_ = kQuickWindows;
  quick.step_ = windows / kQuickWindows;
  return quick;
}

Bytes SampleWindows::Window(size_t i, size_t more) const {
  const size_t place = i < side_ ? i : side_ - 1 + (i - side_ + 1) * step_;
  const Bytes rest = bytes_.subspan(place * window_);
  return rest.first(std::min(window_ + more, rest.size()));
}

struct CompressibilityProbe::Marking {
  BytePattern pattern;
  int key_bytes;  // bytes from the marked one on that must be equal for a repeat
  int repeats;    // number of repeats that show order; a few happen by chance if keys are short
  size_t marked_line = kMarkedLine;

  // Marks a quarter of few bytes, or a 64th of many. `fewer` more bits make the share smaller.
  static Marking Near(size_t size, int fewer) {
    const int bits = (size <= 1024 ? 2 : size <= 4096 ? 4 : 6) + fewer;
    const auto mask = static_cast<uint8_t>((1 << bits) - 1);
    return {.pattern = {.value = kValue, .mask = mask}, .key_bytes = 4, .repeats = 2};
  }

  // Returns the binary logarithm of the share of random bytes that are marked.
  int log2_share() const {
    return -(std::popcount(pattern.mask) + std::popcount(pattern.next_mask));
  }
};

// Remembers the keys at marked places, and counts those that come again.
class CompressibilityProbe::RepeatCounter {
 public:
  RepeatCounter(const Marking& marking, size_t bytes, std::vector<uint32_t>& table)
      : marking_(marking),
        bits_(std::clamp(static_cast<int>(std::bit_width(2 * (bytes >> -marking.log2_share()))), 6,
                         13)),
        table_(table) {
    table_.assign(size_t{1} << bits_, 0);
  }

  // Adds the marked places among lines of `bytes`. Returns nothing once enough keys came again.
  // Otherwise returns how many places the pattern marked.
  std::optional<uint64_t> Add(Bytes bytes, std::span<const uint64_t> lines) {
    uint64_t marked = 0;
    for (size_t line = 0; line < lines.size(); ++line) {
      const uint64_t always = line % marking_.marked_line == 0 ? 1 : 0;
      marked -= always & ~lines[line];
      for (uint64_t marks = lines[line] | always; marks != 0; marks &= marks - 1) {
        if (IsLastRepeat(&bytes[line * kLine + static_cast<size_t>(std::countr_zero(marks))])) {
          return std::nullopt;
        }
        ++marked;
      }
    }
    return marked;
  }

 private:
  bool IsLastRepeat(const std::byte* key) {
    const auto word = LoadLe<uint64_t>(key);
    const uint64_t hash = (word << (64 - 8 * marking_.key_bytes)) * 0x9E3779B97F4A7C15;
    uint32_t& entry = table_[static_cast<size_t>(hash >> (64 - bits_))];
    const auto tag = static_cast<uint32_t>(hash >> 28) | 1;
    if (entry == tag && ++repeats_ == marking_.repeats) return true;
    entry = tag;
    return false;
  }

  const Marking marking_;
  const int bits_;
  std::vector<uint32_t>& table_;
  int repeats_ = 0;
};

bool CompressibilityProbe::RepeatsItself(const SampleWindows& windows, const Marking& marking) {
  RepeatCounter repeats(marking, windows.size(), table_);
  std::array<uint64_t, kLinesAtOnce> lines;
  uint64_t searched = 0;
  uint64_t marked = 0;
  for (size_t w = 0; w < windows.count(); ++w) {
    const Bytes window = windows.Window(w, kKeyWord - 1);
    const Bytes starts = window.first(window.size() - std::min(window.size(), kKeyWord - 2));
    for (size_t at = 0; at < starts.size(); at += kLinesAtOnce * kLine) {
      const size_t size = std::min(kLinesAtOnce * kLine + 1, starts.size() - at);
      const size_t nlines = MarkBytes(starts.subspan(at, size), marking.pattern, lines);
      const auto added = repeats.Add(window.subspan(at), std::span(lines).first(nlines));
      if (!added.has_value()) return true;
      const double expected = std::ldexp(static_cast<double>(nlines * kLine), marking.log2_share());
      if (*added == 0 && expected > kMarksNeverMissed) return true;
      searched += nlines * kLine;
      marked += *added;
    }
  }
  const double expected = std::ldexp(static_cast<double>(searched), marking.log2_share());
  return std::abs(static_cast<double>(marked) - expected) > Tolerance(expected);
}

bool CompressibilityProbe::IsWorthProbing(size_t size, Codec codec) {
  return static_cast<uint8_t>(codec) <= 5 &&
         size >= (codec::IsHighRatio(codec) ? kMinSlow : kMinFast);
}

bool CompressibilityProbe::SampleIsIncompressible(Bytes sample) {
  // The windows cover all of the sample, because columns of bits lie one after the other.
  const SampleWindows windows(sample, sample.size());
  if (sample.size() >= kCounted && BytesAreUneven(SampleWindows(sample, 1), kCounted)) return false;
  return !RepeatsItself(windows, Marking::Near(windows.size(), 0));
}

bool CompressibilityProbe::IsIncompressible(Bytes stream, size_t parts, Codec codec) {
  // Repeats may lead from one part to another. Frequencies differ from part to part.
  if (!CountsBytes(codec) || stream.size() / parts < kMinPart) parts = 1;
  const size_t size = stream.size() / parts;
  // If all of the stream is searched later, fewer marks suffice. Otherwise a slow codec is worth
  // more marks.
  const bool search_all = codec::IsHighRatio(codec) && (parts > 1 || size > kUnsampled);
  const int fewer = search_all ? 2 : codec::IsHighRatio(codec) ? -2 : 0;
  for (size_t i = 0; i < parts; ++i) {
    const SampleWindows windows(stream.subspan(i * size, size), 1);
    if (BytesAreUneven(windows, CountsBytes(codec) ? kCountedClosely : kCounted)) return false;
    if (RepeatsItself(windows, Marking::Near(windows.size(), fewer))) return false;
  }
  if (!search_all) return true;
  const Marking far{
      .pattern = {.value = kValue,
                  .mask = 0xFF,
                  .next_mask = stream.size() <= 2 * kUnsampled ? uint8_t{0} : uint8_t{3}},
      .key_bytes = 6,
      .repeats = 1,
      .marked_line = kMarkedLineFar};
  // This takes one window over everything.
  return !RepeatsItself(SampleWindows(stream, stream.size()), far);
}

}  // namespace cairn::chunk
