// The values that a store of python-blosc2 keeps in one frame (.b2e) instead of files of their own.
#ifndef CAIRN_ENGINE_COLLECTION_STORE_EMBEDDED_VALUES_H_
#define CAIRN_ENGINE_COLLECTION_STORE_EMBEDDED_VALUES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

#include "cairn/types.h"

namespace cairn::collection {

// The vlmetalayer of the frame that lists them.
inline constexpr std::string_view kEmbeddedLayer("estore_metadata");

// A value is a frame in the decoded bytes [offset, offset + length) of the store, or the address of
// an array elsewhere.
struct EmbeddedValue {
  int64_t offset = 0;
  int64_t length = 0;
  bool is_elsewhere = false;
  bool operator==(const EmbeddedValue&) const = default;
};
// By name, such as "/day/temp".
using EmbeddedValues = std::map<std::string, EmbeddedValue, std::less<>>;

// Errors: kDataLoss if the bytes are not such a layer.
absl::StatusOr<EmbeddedValues> ParseEmbeddedValues(Bytes layer);

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_STORE_EMBEDDED_VALUES_H_
