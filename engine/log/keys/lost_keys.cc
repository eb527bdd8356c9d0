#include "engine/log/keys/lost_keys.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"

#include "engine/base/endian.h"
#include "engine/base/status.h"
#include "engine/log/keys/lost_names.h"
#include "engine/log/records/lost_records.h"

namespace cairn::log {

namespace {

// Raises `greatest`, of each key field, to the codes of some records.
absl::Status RaiseToCodesOf(const StoredRecords& records, int64_t begin, int64_t count,
                            std::span<const Field> fields, std::vector<uint32_t>& greatest) {
  std::vector<std::vector<std::byte>> columns(fields.size());
  std::vector<FieldSpan> spans;
  for (size_t i = 0; i < fields.size(); ++i) {
    columns[i].resize(static_cast<size_t>(count) * sizeof(uint32_t));
    spans.push_back({.offset = fields[i].offset, .size = fields[i].size, .dst = columns[i]});
  }
  const absl::Status status =
      ReadWithout(records.deleted, records.snapshot, records.first, begin, count, spans);
  if (absl::IsDataLoss(status)) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(status);
  for (size_t i = 0; i < fields.size(); ++i) {
    for (size_t at = 0; at < columns[i].size(); at += sizeof(uint32_t)) {
      greatest[i] = std::max(greatest[i], LoadLe<uint32_t>(columns[i].data() + at));
    }
  }
  return absl::OkStatus();
}

// Raises `greatest` to the codes of all records.
absl::Status RaiseToCodes(const StoredRecords& records, std::vector<uint32_t>& greatest) {
  std::vector<Field> fields;
  for (const Field& field : records.schema.fields()) {
    if (field.type == FieldType::kText) fields.push_back(field);
  }
  if (fields.empty()) return absl::OkStatus();
  if (fields.size() > greatest.size()) return DataLoss("log: a file has more keys than the newest");
  for (int64_t at = 0; at < records.count; at += records.chunk_records) {
    const int64_t count = std::min(records.chunk_records, records.count - at);
    CAIRN_RETURN_IF_ERROR(RaiseToCodesOf(records, records.first + at, count, fields, greatest));
  }
  return absl::OkStatus();
}

// Returns a text for a code which is none of these.
std::string StandInOf(int64_t code, const absl::flat_hash_set<std::string>& known) {
  std::string text = absl::StrCat("?", code);
  while (known.contains(text)) text.insert(0, 1, '?');
  return text;
}

}  // namespace

bool MayHideLoss(const Snapshot& snapshot) {
  return !snapshot.HasVlmetalayer(kKeyLayers[0]) || snapshot.HasVlmetalayer("unproven_chunks") ||
         snapshot.HasVlmetalayer("unproven_metalayers");
}

absl::StatusOr<std::vector<KeyText>> FindStandIns(std::span<const StoredRecords> frames,
                                                  const LogKeys& keys) {
  std::vector<uint32_t> greatest(keys.nkeys());
  for (const StoredRecords& records : frames) {
    CAIRN_RETURN_IF_ERROR(RaiseToCodes(records, greatest));
  }
  std::vector<KeyText> stand_ins;
  int64_t nbytes = keys.nbytes();
  for (size_t i = 0; i < greatest.size(); ++i) {
    const KeyTexts& texts = *keys.texts(i);
    if (greatest[i] < texts.size()) continue;
    absl::flat_hash_set<std::string> known;
    for (int64_t code = 1; code < texts.size(); ++code) {
      const std::string_view text = texts.Get(static_cast<uint32_t>(code));
      if (text.starts_with('?')) known.emplace(text);
    }
    for (int64_t code = texts.size(); code <= greatest[i]; ++code) {
      std::string text = StandInOf(code, known);
      nbytes += std::ssize(text) + 8;  // as for any text that a writer adds
      if (nbytes > kMaxKeyBytes) return stand_ins;
      stand_ins.push_back({.field = static_cast<uint32_t>(i), .text = std::move(text)});
    }
  }
  return stand_ins;
}

absl::StatusOr<LogKeysPtr> CompleteKeys(const StoredRecords& records, LogKeysPtr keys,
                                        const LogKeysPtr& before) {
  if (keys->nkeys() == 0) return keys;
  if (!SaysThatKeysAreLost(records.snapshot)) {
    // Another program may have removed the texts. Cairn never adds codes without a text.
    const bool is_checked = before != nullptr && before->stand_ins().empty();
    if (is_checked || records.snapshot.HasVlmetalayer(kKeyLayers[0])) return keys;
  }
  CAIRN_ASSIGN_OR_RETURN(std::vector<KeyText> stand_ins, FindStandIns({&records, 1}, *keys));
  return stand_ins.empty() ? keys : LogKeys::WithStandIns(*keys, std::move(stand_ins));
}

}  // namespace cairn::log
