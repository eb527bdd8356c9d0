// Finds incompressible streams before a codec spends its time on them.
//
// A codec gains from three things: bytes that are not all equally frequent (zlib, zstd), repeats
// (all of them), and repeats that are far apart (the slow codecs: LZ4HC, zlib, zstd). Each is
// tested for in turn and the first one found ends the test, so compressible data costs next to
// nothing.
//
// - Repeats are looked for at marked places only. Whether a place is marked depends on the bytes
//   there, so a repeat is marked where the original is, and two equal keys show both. That takes a
//   comparison a byte and a small table. In random bytes a known share of places is marked; any
//   other share means that the bytes are not random.
// - Long streams are sampled: sixteen windows side by side and then each sixteenth. That is an
//   eighth of the stream, yet every distance at which it may repeat itself is that of two windows.
// - For slow codecs, which take longer than this, the byte frequencies are counted, and all of the
//   stream is searched for repeats at fewer marks.
// - After an incompressible block a quick sample is enough: eight short windows. It finds uneven
//   frequencies and near repeats, not far ones.
//
// A stream that is wrongly taken for incompressible is stored as it is: it only takes more space.
#ifndef CAIRN_ENGINE_CHUNK_COMPRESSIBILITY_H_
#define CAIRN_ENGINE_CHUNK_COMPRESSIBILITY_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cairn/types.h"

namespace cairn::chunk {

// The windows of `unit`-byte items that are sampled of `bytes`: one of all bytes when they are few.
class SampleWindows {
 public:
  // A full sample: sixteen windows side by side and then each sixteenth.
  SampleWindows(Bytes bytes, size_t unit);
  // A quick sample: eight short windows that are far apart.
  static SampleWindows Quick(Bytes bytes, size_t unit);

  size_t count() const { return count_; }
  // With up to `more` of the bytes after it.
  Bytes Window(size_t i, size_t more = 0) const;
  // Bytes of all windows.
  size_t size() const { return count_ * std::min(window_, bytes_.size()); }

 private:
  Bytes bytes_;
  size_t window_;
  size_t count_ = 1;
  size_t side_ = 1;  // windows side by side
  size_t step_ = 1;  // windows from one to the next after those
};

// Keeps its table from stream to stream; the answers depend on the bytes and the codec alone.
class CompressibilityProbe {
 public:
  // Whether probing a stream takes less time than coding it. Never for a codec of the program's
  // own: what it gains from is not known.
  static bool IsWorthProbing(size_t size, Codec codec);

  // Whether the codec seems to gain nothing from `stream`. `parts`: stretches of equal size that
  // may differ from each other, like the byte columns that SHUFFLE makes.
  bool IsIncompressible(Bytes stream, size_t parts, Codec codec);
  // The same of the windows of a sample, one after the other, as far as they show it.
  bool SampleIsIncompressible(Bytes sample);

 private:
  struct Marking;
  class RepeatCounter;

  bool RepeatsItself(const SampleWindows& windows, const Marking& marking);

  std::vector<uint32_t> table_;  // of keys, by their hash
};

}  // namespace cairn::chunk

#endif  // CAIRN_ENGINE_CHUNK_COMPRESSIBILITY_H_
