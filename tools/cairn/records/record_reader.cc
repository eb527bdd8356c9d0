#include "tools/cairn/records/record_reader.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"

#include "tools/cairn/records/values.h"
#include "tools/cairn/text/complain.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

constexpr size_t kReadPiece = 1 << 18;

}  // namespace

absl::Status BadRows::Add(std::string_view input, int64_t line, std::string_view why) {
  constexpr int64_t kMostShown = 10;
  ++count_;
  const std::string what = absl::StrFormat("%s: line %d: %s", input, line, why);
  if (!skip_) return absl::DataLossError(what);
  if (count_ <= kMostShown) Complain(what);
  if (count_ == kMostShown + 1) Complain("more bad lines are counted only");
  return absl::OkStatus();
}

RecordReader::RecordReader(Input& input, int32_t record_size, int32_t time,
                           std::unique_ptr<RecordParser> parser, BadRows& bad)
    : input_(input),
      record_size_(static_cast<size_t>(record_size)),
      time_(time),
      parser_(std::move(parser)),
      bad_(bad),
      buffer_(kReadPiece),
      splitter_(parser_.get()) {}

absl::StatusOr<Bytes> RecordReader::Next() {
  records_.clear();
  while (records_.empty() && status_.ok() && !at_end_) {
    const absl::StatusOr<size_t> got = input_.ReadSome(buffer_.bytes());
    status_ = got.status();
    if (!got.ok()) break;
    at_end_ = *got == 0;
    bytes_read_ += static_cast<int64_t>(*got);
    const MutableBytes piece = buffer_.first(*got);
    if (parser_ == nullptr) {
      rest_.insert(rest_.end(), piece.begin(), piece.end());
      status_ = TakeRaw();
    } else {
      splitter_.Add({reinterpret_cast<const char*>(piece.data()), piece.size()});
      status_ = TakeRows();
    }
  }
  if (records_.empty() && !status_.ok()) return status_;
  return Bytes(records_);
}

absl::Status RecordReader::TakeRows() {
  while (const std::optional<Row> row = splitter_.Next(at_end_)) RETURN_IF_ERROR(TakeRow(*row));
  return absl::OkStatus();
}

absl::Status RecordReader::TakeRow(const Row& row) {
  if (row.too_long) {
    return bad_.Add(input_.name(), row.line,
                    absl::StrFormat("longer than %d bytes", RowSplitter::kMaxLine));
  }
  const size_t before = records_.size();
  records_.resize(before + record_size_);
  const absl::StatusOr<bool> taken =
      parser_->Parse(row.text, MutableBytes(records_).subspan(before));
  if (!taken.ok() || !*taken) records_.resize(before);
  if (taken.ok()) return absl::OkStatus();
  if (absl::IsInvalidArgument(taken.status())) {
    splitter_.KeepFirstLine();
    return bad_.Add(input_.name(), row.line, std::string(taken.status().message()));
  }
  return {taken.status().code(),
          absl::StrFormat("%s: line %d: %s", input_.name(), row.line, taken.status().message())};
}

// Takes raw records, each of which is a row.
absl::Status RecordReader::TakeRaw() {
  size_t at = 0;
  for (; rest_.size() - at >= record_size_; at += record_size_) {
    const std::byte* const record = rest_.data() + at;
    ++records_read_;
    if (time_ >= 0 && LoadInt64(record + time_) == kNoTime) {
      RETURN_IF_ERROR(bad_.Add(input_.name(), records_read_, "no time"));
    } else {
      records_.insert(records_.end(), record, record + record_size_);
    }
  }
  rest_.erase(rest_.begin(), rest_.begin() + static_cast<ptrdiff_t>(at));
  if (!at_end_ || rest_.empty()) return absl::OkStatus();
  return absl::DataLossError(absl::StrFormat("%s ends with %d bytes of a record of %d",
                                             input_.name(), rest_.size(), record_size_));
}

}  // namespace cairn::tool
