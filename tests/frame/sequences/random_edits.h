// Edits at random, by a writer and on the model of its frame.
#ifndef CAIRN_TESTS_FRAME_SEQUENCES_RANDOM_EDITS_H_
#define CAIRN_TESTS_FRAME_SEQUENCES_RANDOM_EDITS_H_

#include <cstdint>
#include <string>

#include "cairn/writer.h"
#include "tests/frame/sequences/random_chunks.h"
#include "tests/support/frame_model.h"

namespace cairn::test {

// Most edits are right, some are wrong in one way or another. The test fails when the writer does
// not answer as the model does.
class RandomEdits {
 public:
  // Outlived by all three. The first chunk that comes compressed is one of variable blocks when
  // `prefers_vlblocks` says so.
  RandomEdits(Random& random, bool prefers_vlblocks, Writer& writer, FrameModel& model)
      : random_(random), prefers_vlblocks_(prefers_vlblocks), writer_(writer), model_(model) {}

  void Edit();

 private:
  size_t Below(size_t limit) { return test::Below(random_, limit); }
  bool Chance(size_t out_of) { return test::Chance(random_, out_of); }

  // The number of a chunk; at times of one that is not there.
  int64_t AnyChunk();
  // How many bytes to make a chunk of; mostly as many as a chunk has.
  size_t ChunkBytes();
  NewChunk AnyItems();
  RandomChunk AnyCompressed();
  std::string AnyName();

  void Append();
  void AppendCompressed();
  void AppendSpecial();
  void InsertChunk();
  void UpdateChunk();
  void InsertCompressed();
  void UpdateCompressed();
  void WriteItems();
  void DeleteChunks();
  void ReorderChunks();
  void SetChunksize();
  void SetMetalayer();
  void SetVlmetalayer();
  void DeleteVlmetalayer();

  Random& random_;
  const bool prefers_vlblocks_;
  Writer& writer_;
  FrameModel& model_;
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_FRAME_SEQUENCES_RANDOM_EDITS_H_
