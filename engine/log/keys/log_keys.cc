#include "engine/log/keys/log_keys.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"

#include "engine/base/endian.h"
#include "engine/base/status.h"
#include "engine/log/keys/lost_names.h"

namespace cairn::log {

namespace {

absl::Status CheckDistinct(const KeyTexts& texts) {
  absl::flat_hash_set<std::string_view> known;
  known.reserve(static_cast<size_t>(texts.size()));
  for (int64_t code = 0; code < texts.size(); ++code) {
    const std::string_view text = texts.Get(static_cast<uint32_t>(code));
    if (!known.insert(text).second) return DataLoss("log: keys: '%s' is there twice", text);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<LogKeysPtr> LogKeys::Load(const Snapshot& snapshot, const Schema& schema,
                                         const LogKeysPtr& before) {
  const size_t nkeys = KeyNumber(schema, schema.fields().size());
  static const auto* const kNone = new LogKeysPtr(new LogKeys());
  if (nkeys == 0) return *kNone;
  std::shared_ptr<LogKeys> keys(new LogKeys());
  keys->texts_.assign(nkeys, std::make_shared<const KeyTexts>());
  if (!snapshot.HasVlmetalayer(kKeyLayers[0]) || SaysThatKeysAreLost(snapshot)) {
    CAIRN_RETURN_IF_ERROR(keys->LoadRemains(snapshot));
    return keys;
  }
  CAIRN_ASSIGN_OR_RETURN(keys->stored_, snapshot.GetVlmetalayer(kKeyLayers[0]));
  if (before != nullptr && before->nkeys() == nkeys && before->stored_ == keys->stored_ &&
      before->stand_ins_.empty() && !before->is_broken_) {
    return before;
  }
  CAIRN_ASSIGN_OR_RETURN(keys->newest_, ParseKeyTable(keys->stored_));
  const KeyTable& newest = keys->newest_;
  // Mostly a few texts follow those that are known.
  const bool continues =
      before != nullptr && before->nkeys() == nkeys && before->newest_.first == newest.first &&
      !before->stored_.empty() && before->stand_ins_.empty() && !before->is_broken_ &&
      before->newest_.texts.size() <= newest.texts.size() &&
      std::ranges::equal(before->newest_.texts,
                         Bytes(newest.texts).first(before->newest_.texts.size()));
  if (continues) {
    keys->texts_ = before->texts_;
    keys->older_bytes_ = before->older_bytes_;
    CAIRN_RETURN_IF_ERROR(keys->AddNewest(before->newest_.texts.size()));
    return keys;
  }
  CAIRN_RETURN_IF_ERROR(keys->LoadTables(snapshot));
  return keys;
}

absl::Status LogKeys::LoadRemains(const Snapshot& snapshot) {
  const std::vector<KeyTextsPtr> none = texts_;
  const auto load = [&]() -> absl::Status {
    CAIRN_ASSIGN_OR_RETURN(stored_, snapshot.GetVlmetalayer(kKeyLayers[0]));
    CAIRN_ASSIGN_OR_RETURN(newest_, ParseKeyTable(stored_));
    return LoadTables(snapshot);
  };
  const absl::Status status = load();
  if (!absl::IsDataLoss(status) && !absl::IsNotFound(status)) return status;
  is_broken_ = true;
  stored_.clear();
  newest_ = {};
  older_bytes_ = 0;
  texts_ = none;
  return absl::OkStatus();
}

LogKeysPtr LogKeys::WithStandIns(const LogKeys& keys, std::vector<KeyText> stand_ins) {
  std::shared_ptr<LogKeys> with(new LogKeys(keys));
  std::vector<std::vector<std::string>> more(keys.nkeys());
  for (const KeyText& text : stand_ins) more[text.field].push_back(text.text);
  for (size_t i = 0; i < more.size(); ++i) {
    with->texts_[i] = std::make_shared<const KeyTexts>(keys.texts(i)->With(std::move(more[i])));
  }
  with->stand_ins_ = std::move(stand_ins);
  return with;
}

absl::Status LogKeys::LoadTables(const Snapshot& snapshot) {
  KeyTable newest = std::exchange(newest_, {});
  int64_t end = 0;
  for (size_t i = std::size(kKeyLayers); i-- > 1;) {
    if (!snapshot.HasVlmetalayer(kKeyLayers[i])) continue;
    CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> content,
                           snapshot.GetVlmetalayer(kKeyLayers[i]));
    CAIRN_ASSIGN_OR_RETURN(newest_, ParseKeyTable(content));
    if (newest_.first != end) {
      return DataLoss("log: keys: a table begins with text %d, the one before it ends with %d",
                      newest_.first, end);
    }
    CAIRN_RETURN_IF_ERROR(AddNewest(0));
    end = newest_.end();
    older_bytes_ += std::ssize(newest_.texts);
  }
  newest_ = std::move(newest);
  if (newest_.first != end || nbytes() > kMaxKeyBytes) {
    return DataLoss("log: keys: %d texts, or %d bytes, do not fit the tables", newest_.first,
                    nbytes());
  }
  CAIRN_RETURN_IF_ERROR(AddNewest(0));
  for (const KeyTextsPtr& texts : texts_) CAIRN_RETURN_IF_ERROR(CheckDistinct(*texts));
  return absl::OkStatus();
}

absl::Status LogKeys::AddNewest(size_t begin) {
  CAIRN_ASSIGN_OR_RETURN(std::vector<KeyText> added, DecodeTexts(newest_, begin, texts_.size()));
  std::vector<std::vector<std::string>> more(texts_.size());
  for (KeyText& text : added) more[text.field].push_back(std::move(text.text));
  for (size_t i = 0; i < more.size(); ++i) {
    if (more[i].empty()) continue;
    texts_[i] = std::make_shared<const KeyTexts>(texts_[i]->With(std::move(more[i])));
  }
  int64_t all = 0;
  for (const KeyTextsPtr& texts : texts_) all += texts->size() - 1;
  if (all == newest_.end()) return absl::OkStatus();
  return DataLoss("log: keys: %d texts in all, the tables have %d", newest_.end(), all);
}

size_t KeyNumber(const Schema& schema, size_t field) {
  const auto begin = schema.fields().begin();
  return static_cast<size_t>(
      std::count_if(begin, begin + static_cast<ptrdiff_t>(field),
                    [](const Field& one) { return one.type == FieldType::kText; }));
}

absl::Status CheckCodes(const Field& field, const KeyTexts& texts, Bytes column) {
  uint32_t greatest = 0;
  for (size_t at = 0; at < column.size(); at += sizeof(uint32_t)) {
    greatest = std::max(greatest, LoadLe<uint32_t>(column.data() + at));
  }
  if (greatest < texts.size()) return absl::OkStatus();
  return DataLoss("log: field '%s': code %d, its keys have %d", field.name, greatest, texts.size());
}

}  // namespace cairn::log
