// An increment: what it does to the frame that it applies to. This is the content of its
// vlmetalayer `cairn.increment`, which docs/file-format.md describes. All numbers are little
// endian.
#ifndef CAIRN_ENGINE_FORMAT_INCREMENT_H_
#define CAIRN_ENGINE_FORMAT_INCREMENT_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/types.h"
#include "engine/format/journal.h"

namespace cairn::format {

inline constexpr std::string_view kIncrementLayer = "cairn.increment";

// Chunks that follow each other in the result.
struct IncrementRun {
  enum class Kind : uint32_t {
    kBase = 1,     // chunks of the frame that the increment applies to, from number `value` on
    kNew = 2,      // the next chunks of the increment; `value` is 0
    kSpecial = 3,  // chunks that the index entry `value` stands for
  };
  Kind kind = Kind::kBase;
  int64_t value = 0;
  int64_t count = 0;
  bool operator==(const IncrementRun&) const = default;
};

// Each special chunk costs the frame an edit, and the increment almost nothing, so no increment may
// bring more.
inline constexpr int64_t kMaxNewSpecials = int64_t{1} << 24;
// Errors: kResourceExhausted if the runs have more than kMaxNewSpecials special chunks.
absl::Status CheckSpecials(const std::vector<IncrementRun>& runs);

struct Increment {
  uint64_t base = 0;              // the content that it applies to
  uint64_t result = 0;            // the content that it makes
  uint64_t since_generation = 0;  // generation of the source when its content was `base`
  uint64_t generation = 0;        // generation of the source when its content was `result`
  int64_t nbytes = 0;             // of the result, decoded
  int32_t chunksize = 0;
  bool vlblocks = false;
  // Bytes of the items that do not fill a chunk: how many of the base's stay (all or none), and how
  // many follow them. The added items are the last chunk of the increment.
  int64_t partial_kept = 0;
  int64_t partial_added = 0;
  std::vector<IncrementRun> runs;  // the complete chunks of the result
  // Values of vlmetalayers are decoded, unlike those in the journal.
  std::vector<LayerEdit> layers;
  bool operator==(const Increment&) const = default;
};

absl::StatusOr<Increment> ParseIncrement(Bytes layer);
std::vector<std::byte> EncodeIncrement(const Increment& increment);

}  // namespace cairn::format

#endif  // CAIRN_ENGINE_FORMAT_INCREMENT_H_
