#include "engine/log/state/stored_fields.h"

#include <algorithm>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/base/status.h"
#include "engine/log/stats/values.h"

namespace cairn::log {

namespace {

std::optional<size_t> PlaceOf(const Schema& schema, std::string_view name) {
  const Field* const field = schema.Find(name);
  if (field == nullptr) return std::nullopt;
  return static_cast<size_t>(field - schema.fields().data());
}

bool IsSame(const Field& a, const Field& b) {
  return a.type == b.type && a.size == b.size && a.unit == b.unit;
}

MutableBytes At(MutableBytes record, const Field& field) {
  return record.subspan(static_cast<size_t>(field.offset), static_cast<size_t>(field.size));
}

}  // namespace

absl::StatusOr<std::shared_ptr<const StoredFields>> StoredFields::Make(
    SchemaPtr stored, const std::vector<FieldFact>& facts, SchemaPtr seen) {
  std::shared_ptr<StoredFields> fields(new StoredFields(std::move(stored), std::move(seen)));
  const Schema& frame = *fields->stored_;
  const Schema& log = *fields->seen_;
  for (const Field& field : log.fields()) {
    const std::optional<size_t> place = PlaceOf(frame, field.name);
    if (place.has_value() && !IsSame(field, frame.fields()[*place])) {
      return DataLoss("log: field '%s' has another type in another file", field.name);
    }
    fields->places_.push_back(place);
    fields->begins_.push_back(place.has_value() ? 0 : kNever);
  }
  for (const Field& field : frame.fields()) {
    if (log.Find(field.name) == nullptr) {
      return DataLoss("log: field '%s' is not in the newest file", field.name);
    }
  }
  for (const FieldFact& fact : facts) {
    const std::optional<size_t> place = PlaceOf(log, fact.name);
    if (!place.has_value() || frame.Find(fact.name) == nullptr) {
      return DataLoss("log: its layer of fields names '%s', which its records do not have",
                      fact.name);
    }
    fields->begins_[*place] = fact.begin;
  }
  if (frame == log) fields->stored_ = fields->seen_;
  return fields;
}

std::vector<FieldFact> StoredFields::Facts() const {
  std::vector<FieldFact> facts;
  for (size_t i = 0; i < begins_.size(); ++i) {
    const Field& field = seen_->fields()[i];
    const bool is_text = field.type == FieldType::kText;
    if (!places_[i].has_value() || (begins_[i] == 0 && !is_text)) continue;
    facts.push_back({.name = field.name, .is_text = is_text, .begin = begins_[i]});
  }
  return facts;
}

void StoredFields::Convert(Bytes stored, MutableBytes seen) const {
  const auto from_size = static_cast<size_t>(stored_->record_size());
  const auto to_size = static_cast<size_t>(seen_->record_size());
  const std::vector<std::byte> blank = BlankRecord(*seen_);
  for (; !seen.empty(); stored = stored.subspan(from_size), seen = seen.subspan(to_size)) {
    CopyBytes(blank, seen.first(to_size));
    for (size_t i = 0; i < places_.size(); ++i) {
      const Field* const from = Stored(i);
      if (from == nullptr) continue;
      CopyBytes(stored.subspan(static_cast<size_t>(from->offset), static_cast<size_t>(from->size)),
                At(seen, seen_->fields()[i]));
    }
  }
}

ChunkStats StoredFields::Convert(ChunkStats stored) const {
  std::vector<std::optional<size_t>> numbers;  // of each number of the log, among the stored ones
  for (size_t i = 0; i < places_.size(); ++i) {
    if (!IsNumber(seen_->fields()[i])) continue;
    const Field* const from = Stored(i);
    if (from == nullptr) {
      numbers.push_back(std::nullopt);
    } else {
      numbers.push_back(static_cast<size_t>(std::count_if(
          stored_->fields().data(), from, [](const Field& f) { return IsNumber(f); })));
    }
  }
  for (Piece& piece : stored.pieces) {
    std::vector<FieldSum> sums;
    for (const std::optional<size_t>& number : numbers) {
      sums.push_back(number.has_value() ? piece.fields[*number] : FieldSum());
    }
    piece.fields = std::move(sums);
  }
  return stored;
}

std::vector<std::byte> NoValue(const Field& field) {
  std::vector<std::byte> value(static_cast<size_t>(field.size));
  if (field.type == FieldType::kTimestamp) {
    StoreLe(value.data(), kNoTime);
  } else if (field.type == FieldType::kFloat && field.size == 2) {
    StoreLe(value.data(), uint16_t{0x7E00});
  } else if (field.type == FieldType::kFloat && field.size == 4) {
    StoreLe(value.data(), std::numeric_limits<float>::quiet_NaN());
  } else if (field.type == FieldType::kFloat) {
    StoreLe(value.data(), std::numeric_limits<double>::quiet_NaN());
  }
  return value;
}

std::vector<std::byte> BlankRecord(const Schema& schema) {
  std::vector<std::byte> record(static_cast<size_t>(schema.record_size()));
  for (const Field& field : schema.fields()) {
    CopyBytes(NoValue(field), At(record, field));
  }
  return record;
}

}  // namespace cairn::log
