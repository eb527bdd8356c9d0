// The vlmetalayer that says what the dtype of a log's frame does not say of its fields. Only frames
// with such fields have it.
//
//   magic "CLGF" | version u32 | number of fields varint | for each: length of the name varint,
//   name, kind u8, number of the first record with a value varint
#ifndef CAIRN_ENGINE_LOG_STATE_FIELD_LAYER_H_
#define CAIRN_ENGINE_LOG_STATE_FIELD_LAYER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/types.h"

namespace cairn::log {

inline constexpr std::string_view kFieldLayer = "cairn.log.fields";

struct FieldFact {
  std::string name;
  bool is_text = false;  // the records have codes of texts
  int64_t begin = 0;     // number of the first record that has a value
  bool operator==(const FieldFact&) const = default;
};

// Parses the layer. Errors: kDataLoss if it is damaged; kUnimplemented if a newer Cairn wrote it.
absl::StatusOr<std::vector<FieldFact>> ParseFieldLayer(Bytes content);
std::vector<std::byte> EncodeFieldLayer(const std::vector<FieldFact>& fields);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_STATE_FIELD_LAYER_H_
