// Tells noise, which no codec makes smaller, before a codec spends its time on it.
//
// A codec gains from three things: bytes that are not all equally frequent (zlib, zstd), repeats
// (all of them), and repeats that are far apart (LZ4HC, zlib, zstd, which look for them patiently).
// Noise has none of these, and each is tested for in turn, so that the first sign of order ends the
// search: what is compressible costs next to nothing.
//
// - Repeats are looked for at marked places only. Whether a place is marked depends on what is
//   there, so that a repeat is marked where the original is, and two equal keys show both. That
//   takes a comparison a byte and a table of some entries. In noise a known share of places is
//   marked; another share is a sign of order in itself.
// - Long streams are looked at through a ruler: sixteen windows side by side and then each
//   sixteenth. That is an eighth of the stream, and yet between two windows there is every distance
//   at which it may repeat itself.
// - The rest is for codecs that are slow enough to pay for it: how often two bytes of the windows
//   are equal, and a look at marks, fewer of them, in all of the stream.
// - Where the stream before was noise throughout, a glance is enough to see that nothing changed:
//   eight short windows. It tells uneven bytes and near repeats, not far ones.
//
// A stream that is taken for noise by mistake is stored as it is: the data are right in any case.
#ifndef CAIRN_ENGINE_CHUNK_NOISE_H_
#define CAIRN_ENGINE_CHUNK_NOISE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cairn/types.h"

namespace cairn::chunk {

// The windows of `unit`-byte items through which `bytes` is looked at: all of it when it is short.
class SampleWindows {
 public:
  // Sixteen windows side by side and then each sixteenth.
  SampleWindows(Bytes bytes, size_t unit);
  // Eight short windows that are far apart, for a glance.
  static SampleWindows Glance(Bytes bytes, size_t unit);

  size_t count() const { return count_; }
  // With up to `more` bytes of those behind it.
  Bytes Window(size_t i, size_t more = 0) const;
  // Of all windows.
  size_t size() const { return count_ * std::min(window_, bytes_.size()); }

 private:
  Bytes bytes_;
  size_t window_;
  size_t count_ = 1;
  size_t side_ = 1;  // windows side by side
  size_t step_ = 1;  // windows from one to the next behind those
};

// Keeps its table from stream to stream; the answers depend on the bytes and the codec alone.
class NoiseProbe {
 public:
  // Whether the codec looks for gains so slowly that the probe looks at all of a stream too.
  static bool IsSlowCodec(Codec codec);
  // Whether a look at a stream takes less time than coding it. Never for a codec of the program's
  // own: what it gains from is not known.
  static bool IsWorthALook(size_t size, Codec codec);

  // Whether `stream` seems to be noise to the codec. `parts`: stretches of equal size that may
  // differ from each other, like the byte columns that SHUFFLE makes.
  bool IsNoise(Bytes stream, size_t parts, Codec codec);
  // The same of a sample that was taken through a ruler, as far as a sample shows it.
  bool SampleIsNoise(Bytes sample);

 private:
  struct Marking;

  bool RepeatsItself(const SampleWindows& ruler);
  bool RepeatsItself(const SampleWindows& ruler, const Marking& marking);

  std::vector<uint32_t> table_;  // of keys, by their hash
};

}  // namespace cairn::chunk

#endif  // CAIRN_ENGINE_CHUNK_NOISE_H_
