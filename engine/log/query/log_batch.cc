#include <algorithm>
#include <span>

#include "cairn/log.h"
#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/base/status.h"

namespace cairn {

namespace {

// Booleans are read as numbers without a sign, timestamps as numbers with one.
FieldType NumberTypeOf(FieldType type) {
  if (type == FieldType::kBool) return FieldType::kUint;
  return type == FieldType::kTimestamp ? FieldType::kInt : type;
}

template <typename T>
void CopyAs(Bytes column, MutableBytes dst) {
  for (size_t i = 0; i < dst.size(); i += sizeof(T)) {
    const T value = LoadLe<T>(column.data() + i);
    CopyBytes(std::as_bytes(std::span(&value, 1)), dst.subspan(i, sizeof(T)));
  }
}

}  // namespace

absl::StatusOr<size_t> LogBatch::FindColumn(std::string_view field) const {
  const auto found = std::ranges::find(*fields, field, &Field::name);
  if (found == fields->end()) return NotFound("log: the query returns no field '%s'", field);
  return static_cast<size_t>(found - fields->begin());
}

absl::Status LogBatch::CopyNumbers(std::string_view field, FieldType type, size_t size,
                                   MutableBytes dst) const {
  CAIRN_ASSIGN_OR_RETURN(const size_t i, FindColumn(field));
  const Field& stored = (*fields)[i];
  if (NumberTypeOf(stored.type) != type || stored.size != static_cast<int32_t>(size)) {
    return InvalidArgument("log: field '%s' is read as another type than it has", field);
  }
  switch (size) {
    case 1:
      CopyAs<uint8_t>(columns[i], dst);
      break;
    case 2:
      CopyAs<uint16_t>(columns[i], dst);
      break;
    case 4:
      CopyAs<uint32_t>(columns[i], dst);
      break;
    default:
      CopyAs<uint64_t>(columns[i], dst);
      break;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> LogBatch::TextColumn(std::string_view field) const {
  CAIRN_ASSIGN_OR_RETURN(const size_t i, FindColumn(field));
  const Field& stored = (*fields)[i];
  if (stored.type == FieldType::kText) {
    std::vector<std::string> found;
    for (size_t at = 0; at < columns[i].size(); at += sizeof(uint32_t)) {
      found.emplace_back(texts[i]->Get(LoadLe<uint32_t>(columns[i].data() + at)));
    }
    return found;
  }
  if (stored.type != FieldType::kBytes) {
    return InvalidArgument("log: field '%s' holds numbers, not texts", field);
  }
  const auto size = static_cast<size_t>(stored.size);
  std::vector<std::string> found;
  found.reserve(records.size());
  for (size_t at = 0; at < columns[i].size(); at += size) {
    std::string text(reinterpret_cast<const char*>(columns[i].data()) + at, size);
    text.erase(text.find_last_not_of('\0') + 1);
    found.push_back(std::move(text));
  }
  return found;
}

}  // namespace cairn
