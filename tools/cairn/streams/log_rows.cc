#include "tools/cairn/streams/log_rows.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "tools/cairn/records/values.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

std::vector<Field> Shown(const std::vector<Field>& fields, bool numbers) {
  std::vector<Field> shown = fields;
  if (numbers) {
    shown.insert(shown.begin(), Field{.name = "record", .type = FieldType::kInt, .size = 8});
  }
  return shown;
}

}  // namespace

LogRows::LogRows(std::vector<Field> fields, RowStyle style, bool numbers)
    : fields_(std::move(fields)),
      style_(style),
      numbers_(numbers),
      writer_(style, Shown(fields_, numbers)) {}

absl::Status LogRows::ShowAll(const LogSnapshot& log) {
  const std::vector<Field>& all = log.schema().fields();
  if (std::ranges::equal(all, fields_, {}, &Field::name, &Field::name)) return absl::OkStatus();
  RETURN_IF_ERROR(writer_.Finish());
  fields_ = all;
  writer_ = RowWriter(style_, Shown(fields_, numbers_));
  return absl::OkStatus();
}

absl::Status LogRows::WriteBatch(const LogBatch& batch) {
  std::vector<ColumnView> columns;
  const bool has_gaps = !batch.first_with_value.empty();
  for (size_t i = 0; i < fields_.size(); ++i) {
    columns.push_back({.data = batch.columns[i].data(),
                       .step = static_cast<size_t>(fields_[i].size),
                       .records = batch.records.data(),
                       .first_with_value = has_gaps ? batch.first_with_value[i] : 0,
                       .texts = batch.TextsOf(i)});
  }
  return Write(batch.records, std::move(columns));
}

absl::Status LogRows::WriteRecords(const LogSnapshot& log, int64_t begin, int64_t end) {
  for (const RecordRange& range : log.deleted()) {
    RETURN_IF_ERROR(WriteRun(log, begin, std::min(end, range.begin)));
    begin = std::max(begin, range.end);
  }
  return WriteRun(log, begin, end);
}

absl::Status LogRows::WriteRun(const LogSnapshot& log, int64_t begin, int64_t end) {
  const int32_t size = log.schema().record_size();
  std::vector<Field> fields;  // in this state of the log
  std::vector<int64_t> first_with_value;
  std::vector<std::shared_ptr<const KeyTexts>> texts;
  for (const Field& shown : fields_) {
    ASSIGN_OR_RETURN(const Field* const field, FindField(log.schema().fields(), NameOf(shown)));
    fields.push_back(*field);
    ASSIGN_OR_RETURN(first_with_value.emplace_back(), log.FirstWithValue(field->name));
    ASSIGN_OR_RETURN(texts.emplace_back(), log.Texts(field->name));
  }
  const int64_t most = std::max(int64_t{1} << 20, int64_t{size}) / size;
  while (begin < end) {
    std::vector<std::byte> records(static_cast<size_t>(std::min(most, end - begin) * size));
    RETURN_IF_ERROR(log.ReadRecords(begin, records));
    std::vector<int64_t> numbers(records.size() / static_cast<size_t>(size));
    std::iota(numbers.begin(), numbers.end(), begin);
    std::vector<ColumnView> columns = ColumnsOf(fields, size, records);
    for (size_t i = 0; i < columns.size(); ++i) {
      columns[i].records = numbers.data();
      columns[i].first_with_value = first_with_value[i];
      columns[i].texts = texts[i].get();
    }
    RETURN_IF_ERROR(Write(numbers, std::move(columns)));
    begin += std::ssize(numbers);
  }
  return absl::OkStatus();
}

absl::Status LogRows::Write(const std::vector<int64_t>& numbers, std::vector<ColumnView> columns) {
  std::vector<std::byte> shown;
  if (numbers_) {
    shown = ColumnOf(numbers);
    columns.insert(columns.begin(), {.data = shown.data(), .step = sizeof(int64_t)});
  }
  return writer_.Write(columns, numbers.size());
}

}  // namespace cairn::tool
