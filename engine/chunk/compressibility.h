// Finds incompressible streams before a codec spends its time on them.
//
// A codec gains from three things: bytes that are not all equally frequent (zlib, zstd), repeats
// (all codecs), and repeats that are far apart (the slow codecs: LZ4HC, zlib, zstd). Each is tested
// for in turn, and the first one found ends the test, so compressible data costs next to nothing.
//
// - Repeats are looked for at marked places only. The bytes at a place decide whether it is marked,
//   so a repeat is marked where the original is, and two equal keys show both. That takes a
//   comparison for each byte and a small table. In random bytes a known share of places is marked.
//   Any other share means that the bytes are not random.
// - Long streams are sampled: sixteen windows side by side and then each sixteenth. That is an
//   eighth of the stream, yet for every distance at which it may repeat itself there are two
//   windows that far apart.
// - For slow codecs, which take longer than this, the byte frequencies are counted, and all of the
//   stream is searched for repeats at fewer marks.
// - After an incompressible block a quick sample of eight short windows is enough. It finds uneven
//   frequencies and near repeats, but not far ones.
//
// A stream that is wrongly taken for incompressible is stored as it is, which only takes more
// space.
#ifndef CAIRN_ENGINE_CHUNK_COMPRESSIBILITY_H_
#define CAIRN_ENGINE_CHUNK_COMPRESSIBILITY_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cairn/types.h"

namespace cairn::chunk {

// The windows of `unit`-byte items that are sampled from `bytes`. A short input is one window.
class SampleWindows {
 public:
  // Takes a full sample: sixteen windows side by side and then each sixteenth.
  SampleWindows(Bytes bytes, size_t unit);
  // Takes a quick sample: eight short windows that are far apart.
  static SampleWindows Quick(Bytes bytes, size_t unit);

  size_t count() const { return count_; }
  // Returns a window, with up to `more` of the bytes after it.
  Bytes Window(size_t i, size_t more = 0) const;
  // Returns the bytes of all windows.
  size_t size() const { return count_ * std::min(window_, bytes_.size()); }

 private:
  Bytes bytes_;
  size_t window_;
  size_t count_ = 1;
  size_t side_ = 1;  // windows side by side
  size_t step_ = 1;  // windows from one to the next after the first `side_`
};

// Keeps its table from stream to stream. The answers depend on the bytes and the codec alone.
class CompressibilityProbe {
 public:
  // Returns true if probing a stream takes less time than coding it. Returns false for a codec of
  // the program's own, because it is not known what that gains from.
  static bool IsWorthProbing(size_t size, Codec codec);

  // Returns true if the codec seems to gain nothing from `stream`. `parts` is the number of
  // stretches of equal size that may differ from each other, like the byte columns that SHUFFLE
  // makes.
  bool IsIncompressible(Bytes stream, size_t parts, Codec codec);
  // Tests the windows of a sample, one after the other, as far as they show it.
  bool SampleIsIncompressible(Bytes sample);

 private:
  struct Marking;
  class RepeatCounter;

  bool RepeatsItself(const SampleWindows& windows, const Marking& marking);

  std::vector<uint32_t> table_;  // of keys, by their hash
};

}  // namespace cairn::chunk

#endif  // CAIRN_ENGINE_CHUNK_COMPRESSIBILITY_H_
