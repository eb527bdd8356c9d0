// The layer that says what an increment of a collection does with the frames beside it.
#ifndef CAIRN_ENGINE_COLLECTION_LEDGER_INCREMENT_LAYER_H_
#define CAIRN_ENGINE_COLLECTION_LEDGER_INCREMENT_LAYER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/copy.h"
#include "cairn/types.h"
#include "engine/collection/ledger/ledger_codec.h"

namespace cairn::collection {

// A vlmetalayer of the ledger of an increment.
inline constexpr std::string_view kIncrementLayer("cairn.changes");

// A member that is stored as a whole.
struct WholeMember {
  std::string name;
  MemberKind kind = MemberKind::kArray;
  bool operator==(const WholeMember&) const = default;
};

// Members that are in no list stay as they are.
struct IncrementLayer {
  IncrementInfo info;                     // the generations are numbers of commits
  std::vector<std::string> removed = {};  // before the whole ones are added
  std::vector<WholeMember> whole = {};
  std::vector<std::string> changed = {};  // by an increment of their own
};

std::vector<std::byte> EncodeIncrementLayer(const IncrementLayer& layer);
// Errors: kDataLoss if the bytes are not such a layer; kUnimplemented if a newer version wrote it.
absl::StatusOr<IncrementLayer> ParseIncrementLayer(Bytes bytes);

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_LEDGER_INCREMENT_LAYER_H_
