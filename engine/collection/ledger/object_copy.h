// Copies of small objects of members, which the ledger of a collection in an object store has.
#ifndef CAIRN_ENGINE_COLLECTION_LEDGER_OBJECT_COPY_H_
#define CAIRN_ENGINE_COLLECTION_LEDGER_OBJECT_COPY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/types.h"
#include "engine/base/byte_reader.h"
#include "engine/base/byte_writer.h"

namespace cairn::collection {

// The layer of the copies that a checkpoint of the ledger has.
inline constexpr std::string_view kCopiesLayer("cairn.copies");

// A copy of an object that was put before. Whoever reads the ledger need not request the object.
struct ObjectCopy {
  enum class Kind : uint8_t { kIndex = 0, kChunk = 1 };
  std::string member;
  uint64_t id = 0;  // of the member
  Kind kind = Kind::kIndex;
  uint64_t number = 0;  // the generation of an index, or the number of a chunk's file
  std::vector<std::byte> bytes = {};
  bool operator==(const ObjectCopy&) const = default;
};
using ObjectCopies = std::vector<ObjectCopy>;

void WriteCopies(const ObjectCopies& copies, ByteWriter& writer);
ObjectCopies ReadCopies(ByteReader& reader);

std::vector<std::byte> EncodeCopies(const ObjectCopies& copies);
// Errors: kDataLoss if the bytes are not such a layer; kUnimplemented if a newer version wrote it.
absl::StatusOr<ObjectCopies> ParseCopies(Bytes layer);

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_LEDGER_OBJECT_COPY_H_
