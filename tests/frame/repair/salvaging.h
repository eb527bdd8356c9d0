// Frames that are damaged, salvaged and compared.
#ifndef CAIRN_TESTS_FRAME_REPAIR_SALVAGING_H_
#define CAIRN_TESTS_FRAME_REPAIR_SALVAGING_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "cairn/recover.h"
#include "tests/support/bytes.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {

struct ByteRange {
  int64_t begin = 0;
  int64_t end = 0;
};

MutableBytes Part(Buffer& bytes, ByteRange range);
// Writes noise over it.
void Ruin(Buffer& bytes, ByteRange range);
// Ruins the header and its copy in the trailer, which say what chunks live.
void RuinWhatNamesChunks(Buffer& frame);
// Returns where the chunks of a frame lie.
std::vector<ByteRange> PlacesOf(Bytes frame);

class Salvaging : public testing::Test {
 protected:
  static constexpr int32_t kChunk = 4000;
  static constexpr int32_t kSmallChunk = 400;

  // The bytes of a frame of these items, each piece appended by itself, and two vlmetalayers.
  Buffer MakeFrame(const CreateOptions& options, const std::vector<Buffer>& pieces);

  absl::StatusOr<SalvageReport> SalvageBytes(Bytes bytes, const OpenOptions& options = {});
  // Returns the frame that SalvageBytes made.
  Snapshot Saved() const;
  // Expects that the saved frame holds `content`, and that the report says so.
  void ExpectSaved(const absl::StatusOr<SalvageReport>& report, Bytes content) const;
  // Exactly this range was lost, for a reason that says `part`.
  static void ExpectLost(const LostBytes& lost, ByteRange range, std::string_view part);

  const TempDir dir_;
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_FRAME_REPAIR_SALVAGING_H_
