#include "tools/cairn/records/row_writer.h"

#include <cmath>
#include <utility>

#include "absl/strings/escaping.h"

#include "tools/cairn/io/io.h"
#include "tools/cairn/records/values.h"
#include "tools/cairn/text/json.h"
#include "tools/cairn/text/times.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

constexpr size_t kWritePiece = 1 << 16;

std::string JsonKey(const std::string& name) {
  return Dump(IsUtf8(name) ? name : JsonName(name), -1) + ":";
}

// Returns the text of a field of bytes, or of codes of these texts.
std::string_view TextOf(const Field& field, const KeyTexts* texts, const std::byte* at) {
  if (texts == nullptr) return LoadText(field, at);
  return texts->Get(static_cast<uint32_t>(LoadNumber(field, at).u));
}

// Appends a number or a time.
void AppendPlain(std::string& out, const Field& field, const std::optional<absl::TimeZone>& zone,
                 const std::byte* at) {
  if (zone.has_value() && field.type == FieldType::kTimestamp) {
    AppendTimeIn(out, *zone, LoadNumber(field, at).i, field.unit);
  } else {
    AppendValue(out, field, at);
  }
}

void AppendCsvValue(std::string& out, const Field& field, const KeyTexts* texts,
                    const std::optional<absl::TimeZone>& zone, const std::byte* at) {
  if (field.type == FieldType::kBytes || texts != nullptr) {
    AppendCsvCell(out, TextOf(field, texts, at));
  } else {
    AppendPlain(out, field, zone, at);
  }
}

void AppendJsonValue(std::string& out, const Field& field, const KeyTexts* texts,
                     const std::optional<absl::TimeZone>& zone, const std::byte* at) {
  if (field.type == FieldType::kBytes || texts != nullptr) {
    const std::string_view text = TextOf(field, texts, at);
    out += IsUtf8(text) ? Dump(text, -1)
                        : "{\"base64\":\"" + absl::Base64Escape(std::string(text)) + "\"}";
    return;
  }
  const Number number = LoadNumber(field, at);
  const bool is_float = number.kind == Number::Kind::kFloat;
  const bool missing =
      is_float ? std::isnan(number.f) : field.type == FieldType::kTimestamp && number.i == kNoTime;
  if (missing) {
    out += "null";
    return;
  }
  // A JSON parser may take -0 for an integer.
  if (is_float && number.f == 0 && std::signbit(number.f)) {
    out += "-0.0";
    return;
  }
  // JSON has no number for infinity.
  const bool quoted = field.type == FieldType::kTimestamp || (is_float && std::isinf(number.f));
  if (quoted) out += '"';
  AppendPlain(out, field, zone, at);
  if (quoted) out += '"';
}

}  // namespace

std::vector<ColumnView> ColumnsOf(const std::vector<Field>& fields, int32_t record_size,
                                  Bytes records) {
  std::vector<ColumnView> columns;
  for (const Field& field : fields) {
    columns.push_back(
        {.data = records.data() + field.offset, .step = static_cast<size_t>(record_size)});
  }
  return columns;
}

void AppendCsvCell(std::string& out, std::string_view text) {
  // Text that a reader could take for a byte order mark, or trim, is in quotes too.
  const bool plain = !text.empty() && text.find_first_of(",\"\r\n;\t\xef") == text.npos &&
                     text.front() != ' ' && text.back() != ' ';
  if (plain) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) out.append(c == '"' ? 2 : 1, c);
  out += '"';
}

RowFormatter::RowFormatter(RowStyle style, std::vector<Field> fields)
    : style_(style), fields_(std::move(fields)) {
  for (const Field& field : fields_) {
    keys_.push_back((keys_.empty() ? "{" : ",") + JsonKey(NameOf(field)));
  }
}

void RowFormatter::AppendHead(std::string& out) const {
  if (style_.format != RowFormat::kCsv || !style_.head) return;
  for (const Field& field : fields_) {
    if (&field != &fields_.front()) out += ',';
    AppendCsvCell(out, NameOf(field));
  }
  out += '\n';
}

void RowFormatter::AppendRow(std::string& out, std::span<const ColumnView> columns,
                             size_t row) const {
  for (size_t i = 0; i < fields_.size(); ++i) {
    const Field& field = fields_[i];
    const std::byte* const at = columns[i].data + row * columns[i].step;
    if (style_.format == RowFormat::kRaw) {
      out.append(reinterpret_cast<const char*>(at), static_cast<size_t>(field.size));
    } else if (style_.format == RowFormat::kJsonLines) {
      out += keys_[i];
      if (columns[i].IsMissing(row)) {
        out += "null";
      } else {
        AppendJsonValue(out, field, columns[i].texts, style_.zone, at);
      }
    } else {
      if (i > 0) out += ',';
      if (!columns[i].IsMissing(row)) {
        AppendCsvValue(out, field, columns[i].texts, style_.zone, at);
      }
    }
  }
  if (style_.format == RowFormat::kJsonLines) out += '}';
  if (style_.format != RowFormat::kRaw) out += '\n';
}

RowWriter::RowWriter(RowStyle style, std::vector<Field> fields)
    : formatter_(style, std::move(fields)) {
  formatter_.AppendHead(text_);
}

absl::Status RowWriter::Write(std::span<const ColumnView> columns, size_t count) {
  for (size_t row = 0; row < count; ++row) {
    formatter_.AppendRow(text_, columns, row);
    if (text_.size() >= kWritePiece) RETURN_IF_ERROR(Flush());
  }
  return absl::OkStatus();
}

absl::Status RowWriter::Flush() {
  RETURN_IF_ERROR(WriteStdout(text_));
  text_.clear();
  return absl::OkStatus();
}

absl::Status RowWriter::Finish() { return text_.empty() ? absl::OkStatus() : Flush(); }

}  // namespace cairn::tool
