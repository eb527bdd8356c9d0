#include "engine/log/query/group_index.h"

#include "engine/base/bytes.h"
#include "engine/base/endian.h"

namespace cairn::log {

namespace {

// Returns up to eight bytes as a number.
uint64_t LoadBytes(const std::byte* at, size_t size) {
  std::byte bytes[sizeof(uint64_t)] = {};
  CopyBytes({at, size}, bytes);
  return LoadLe<uint64_t>(bytes);
}

// Calls visit(load), where load(at) returns the bytes of a value as a number.
template <typename Visit>
void VisitWidth(size_t size, const Visit& visit) {
  switch (size) {
    case 1:
      return visit([](const std::byte* at) { return uint64_t{LoadLe<uint8_t>(at)}; });
    case 2:
      return visit([](const std::byte* at) { return uint64_t{LoadLe<uint16_t>(at)}; });
    case 4:
      return visit([](const std::byte* at) { return uint64_t{LoadLe<uint32_t>(at)}; });
    case 8:
      return visit([](const std::byte* at) { return LoadLe<uint64_t>(at); });
    default:
      return visit([size](const std::byte* at) { return LoadBytes(at, size); });
  }
}

}  // namespace

void GroupIndex::AddField(size_t column, const Field& field) {
  parts_.push_back({.column = column,
                    .size = static_cast<size_t>(field.size),
                    .is_bool = field.type == FieldType::kBool});
}

void GroupIndex::Begin(const LogBatch& batch, int64_t first_record) {
  batch_ = &batch;
  size_t width = 0;
  for (Part& part : parts_) {
    part.may_lack =
        !batch.first_with_value.empty() && batch.first_with_value[part.column] > first_record;
    width += part.size + (part.may_lack ? 1 : 0);
  }
  is_narrow_ = width <= sizeof(uint64_t);
  if (!is_narrow_) return;
  narrow_keys_.assign(static_cast<size_t>(batch.size()), 0);
  for (const Part& part : parts_) LoadNarrow(part);
}

// Appends the bytes of a field to the keys of all records.
void GroupIndex::LoadNarrow(const Part& part) {
  const std::byte* const column = batch_->columns[part.column].data();
  VisitWidth(part.size, [&](const auto& load) {
    for (size_t i = 0; i < narrow_keys_.size(); ++i) {
      uint64_t value = load(column + i * part.size);
      if (part.is_bool) value = value != 0 ? 1 : 0;
      uint64_t& key = narrow_keys_[i];
      if (part.may_lack) {
        const bool has_value = batch_->HasValue(part.column, i);
        key = key << 8 | (has_value ? 1 : 0);
        if (!has_value) value = 0;
      }
      key = part.size == sizeof(key) ? value : key << 8 * part.size | value;
    }
  });
}

size_t GroupIndex::OfWide(size_t i) {
  key_.clear();
  for (const Part& part : parts_) {
    const std::byte* const at = batch_->columns[part.column].data() + i * part.size;
    const bool has_value = batch_->HasValue(part.column, i);
    // A byte in front says whether there is a value, where some records have none.
    if (part.may_lack) key_.push_back(has_value ? '\1' : '\0');
    if (!has_value) continue;
    if (part.is_bool) {
      key_.push_back(*at != std::byte{0} ? '\1' : '\0');
    } else {
      key_.append(reinterpret_cast<const char*>(at), part.size);
    }
  }
  if (last_ == kNone || key_ != last_wide_) {
    last_ = wide_.try_emplace(key_, wide_.size()).first->second;
    last_wide_ = key_;
  }
  return last_;
}

}  // namespace cairn::log
