#include "engine/log/write/key_writer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <limits>
#include <span>
#include <utility>

#include "absl/strings/str_format.h"

#include "engine/base/endian.h"
#include "engine/base/status.h"
#include "engine/log/keys/key_table.h"
#include "engine/log/keys/log_keys.h"
#include "engine/log/keys/lost_keys.h"
#include "engine/log/keys/lost_names.h"

namespace cairn::log {

namespace {

constexpr size_t kKeyTables = std::size(kKeyLayers);
// Bytes of the texts of a full table. Each commit with new texts writes the first table, so a text
// is written some 16 times in each table.
constexpr std::array<size_t, kKeyTables> kMostTexts = {8 << 10, 256 << 10,
                                                       std::numeric_limits<size_t>::max()};

StoredRecords RecordsOf(const Segment& segment) {
  return {.snapshot = segment.snapshot(),
          .schema = *segment.fields().stored(),
          .deleted = segment.edits().deleted,
          .first = segment.first_record(),
          .count = segment.nrecords(),
          .chunk_records = segment.chunk_records()};
}

// Stages the texts, which the tables of the frame lack.
absl::Status StageTexts(const Segment& newest, std::span<const KeyText> texts, Writer& writer) {
  const LogKeys& keys = newest.keys();
  KeyTable table = keys.newest();
  for (const KeyText& text : texts) table.Add(text);
  size_t i = 0;
  for (; i + 1 < kKeyTables && table.texts.size() > kMostTexts[i]; ++i) {
    const KeyTable empty = {.first = table.end()};
    CAIRN_RETURN_IF_ERROR(writer.SetVlmetalayer(kKeyLayers[i], EncodeKeyTable(empty)));
    KeyTable next;
    if (newest.snapshot().HasVlmetalayer(kKeyLayers[i + 1]) && !keys.is_broken()) {
      CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> content,
                             newest.snapshot().GetVlmetalayer(kKeyLayers[i + 1]));
      CAIRN_ASSIGN_OR_RETURN(next, ParseKeyTable(content));
    }
    next.Add(table);
    table = std::move(next);
  }
  CAIRN_RETURN_IF_ERROR(writer.SetVlmetalayer(kKeyLayers[i], EncodeKeyTable(table)));
  for (++i; i < kKeyTables && keys.is_broken(); ++i) {
    if (!newest.snapshot().HasVlmetalayer(kKeyLayers[i])) continue;
    CAIRN_RETURN_IF_ERROR(writer.DeleteVlmetalayer(kKeyLayers[i]));
  }
  return absl::OkStatus();
}

}  // namespace

int64_t KeyWriter::CountCodes(const LogState& state, size_t key) const {
  return state.newest().keys().texts(key)->size() +
         std::ranges::count(news_, static_cast<uint32_t>(key), &KeyText::field);
}

void KeyWriter::Learn(const LogState& state) {
  const LogKeys& keys = state.newest().keys();
  for (size_t key = codes_.size(); key < keys.nkeys(); ++key) {
    auto& codes = codes_.emplace_back();
    for (int64_t code = 0; code < keys.texts(key)->size(); ++code) {
      codes.emplace(std::string(keys.texts(key)->Get(static_cast<uint32_t>(code))),
                    static_cast<uint32_t>(code));
    }
  }
}

absl::Status KeyWriter::ReserveLost(const LogState& state) {
  if (reserved_lost_) return absl::OkStatus();
  std::vector<StoredRecords> frames;
  for (const SegmentPtr& segment : state.segments()) {
    if (MayHideLoss(segment->snapshot())) frames.push_back(RecordsOf(*segment));
  }
  CAIRN_ASSIGN_OR_RETURN(const std::vector<KeyText> stand_ins,
                         FindStandIns(frames, state.newest().keys()));
  for (const KeyText& text : stand_ins) {
    codes_[text.field].emplace(text.text, static_cast<uint32_t>(codes_[text.field].size()));
    news_.push_back(text);
    news_bytes_ += std::ssize(text.text) + 8;
  }
  reserved_lost_ = true;
  return absl::OkStatus();
}

absl::StatusOr<uint32_t> KeyWriter::CodeOf(const LogState& state, std::string_view field,
                                           std::string_view text) {
  const Schema& schema = state.schema();
  const Field* const found = schema.Find(field);
  if (found == nullptr) return NotFound("log: no field '%s'", field);
  if (found->type != FieldType::kText) {
    return InvalidArgument("log: field '%s' is not a key of text", field);
  }
  Learn(state);
  const size_t key = KeyNumber(schema, static_cast<size_t>(found - schema.fields().data()));
  const auto known = codes_[key].find(std::string(text));
  if (known != codes_[key].end()) return known->second;
  if (absl::Status status = CheckKey(text); !status.ok()) {
    return Annotate(status, "log: field '%s'", field);
  }
  CAIRN_RETURN_IF_ERROR(ReserveLost(state));
  if (const auto reserved = codes_[key].find(std::string(text)); reserved != codes_[key].end()) {
    return reserved->second;
  }
  // A text takes its bytes, and up to 8 more.
  const int64_t bytes = std::ssize(text) + 8;
  if (state.newest().keys().nbytes() + news_bytes_ + bytes > kMaxKeyBytes) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("log: field '%s': the texts of the keys would take more than %d bytes",
                        field, kMaxKeyBytes));
  }
  const auto code = static_cast<uint32_t>(codes_[key].size());
  codes_[key].emplace(std::string(text), code);
  news_.push_back({.field = static_cast<uint32_t>(key), .text = std::string(text)});
  news_bytes_ += bytes;
  return code;
}

absl::Status KeyWriter::Check(const LogState& state, Bytes records) const {
  const auto size = static_cast<size_t>(state.schema().record_size());
  size_t key = 0;
  for (const Field& field : state.schema().fields()) {
    if (field.type != FieldType::kText) continue;
    const int64_t count = CountCodes(state, key++);
    for (auto at = static_cast<size_t>(field.offset); at < records.size(); at += size) {
      const auto code = LoadLe<uint32_t>(records.data() + at);
      if (code < count) continue;
      return InvalidArgument(
          "log: field '%s': code %d, its keys have %d: a new text gets its code from the writer",
          field.name, code, count);
    }
  }
  return absl::OkStatus();
}

absl::Status KeyWriter::Stage(const LogState& state, Writer& writer) const {
  if (news_.empty()) return absl::OkStatus();
  return StageTexts(state.newest(), news_, writer);
}

absl::Status StoreStandIns(const DeletingWriter& log) {
  const Segment& newest = log.state->newest();
  const LogKeys& keys = newest.keys();
  const bool says_lost = SaysThatKeysAreLost(newest.snapshot());
  if (keys.nkeys() == 0 || (!says_lost && keys.stand_ins().empty())) return absl::OkStatus();
  absl::Status status = StageTexts(newest, keys.stand_ins(), log.writer);
  if (status.ok()) status = StageHasKeys(newest.snapshot(), log.writer);
  if (status.ok()) return log.commit(Durability::kMachine);
  log.writer.Rollback();
  return status;
}

absl::Status CopyKeys(const Snapshot& from, Writer& to) {
  for (const std::string_view name : kKeyLayers) {
    if (!from.HasVlmetalayer(name)) continue;
    CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> content, from.GetVlmetalayer(name));
    CAIRN_RETURN_IF_ERROR(to.SetVlmetalayer(name, content));
  }
  return absl::OkStatus();
}

}  // namespace cairn::log
