#include "tools/sqlite/table/append.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "absl/strings/str_format.h"

#include "cairn/frame.h"
#include "tools/status.h"

namespace cairn::sqlite {

namespace {

// Leaves the first `nitems` items of a frame or a member.
template <typename AnyWriter>
absl::Status StageTruncation(AnyWriter& writer, int64_t nitems) {
  ASSIGN_OR_RETURN(const Snapshot now, writer.StagedSnapshot());
  if (now.array()) {
    const int64_t shape[] = {nitems};
    return writer.ResizeArray(shape);
  }
  const FrameInfo& info = now.info();
  int64_t keep = 0;   // chunks
  int64_t begin = 0;  // their items
  const auto items_of = [&](int64_t nchunk) -> absl::StatusOr<int64_t> {
    ASSIGN_OR_RETURN(const int32_t nbytes, now.ChunkNbytes(nchunk));
    return nbytes / info.typesize;
  };
  while (keep < info.nchunks) {
    ASSIGN_OR_RETURN(const int64_t count, items_of(keep));
    if (begin + count > nitems) break;
    begin += count;
    ++keep;
  }
  std::vector<std::byte> rest(static_cast<size_t>((nitems - begin) * info.typesize));
  RETURN_IF_ERROR(now.ReadItems(begin, rest));
  RETURN_IF_ERROR(writer.DeleteChunks(keep, info.nchunks - keep));
  return rest.empty() ? absl::OkStatus() : writer.Append(rest);
}

absl::Status Truncate(Writer& writer, int64_t nitems) {
  RETURN_IF_ERROR(StageTruncation(writer, nitems));
  return writer.Commit().status();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Append>> Append::Begin(FrameTable& table,
                                                      std::chrono::milliseconds wait) {
  if (table.dimensions() > 0) {
    return absl::UnimplementedError(
        absl::StrFormat("%s: rows cannot be appended to an array of %d dimensions", table.path(),
                        table.dimensions()));
  }
  std::unique_ptr<Append> append(new Append(table));
  RETURN_IF_ERROR(append->OpenWriter(wait));
  ASSIGN_OR_RETURN(const auto state, table.Refresh());
  append->first_row_ = state->end_row();
  append->row_size_ = static_cast<size_t>(state->item_size());
  return append;
}

absl::Status Append::OpenWriter(std::chrono::milliseconds wait) {
  if (const TableMember* const member = table_.member()) {
    ASSIGN_OR_RETURN(transaction_, member->collection->Begin(wait));
    const absl::Status joined = transaction_->Join(*this);
    if (!joined.ok()) transaction_.reset();
    // The rows follow the newest ones, whatever statements still read.
    member->collection->Renew();
    return joined;
  }
  if (Log* const log = table_.log()) {
    LogWriterOptions options = {
        .durability = Durability::kMachine,
        .max_buffered_bytes = std::numeric_limits<int64_t>::max(),
        .wait = wait,
    };
    ASSIGN_OR_RETURN(log_writer_, log->OpenWriter(options));
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(writer_, table_.frame()->OpenWriter({.wait = wait}));
  return absl::OkStatus();
}

Append::~Append() {
  if (transaction_ != nullptr) transaction_->Leave(*this);
}

std::vector<std::byte>& Append::OwnRows() {
  if (rows_.use_count() > 1) rows_ = std::make_shared<std::vector<std::byte>>(*rows_);
  return *rows_;
}

std::span<std::byte> Append::AddRow() {
  std::vector<std::byte>& rows = OwnRows();
  rows.resize(rows.size() + row_size_);
  return std::span(rows).last(row_size_);
}

void Append::DropLastRow() {
  std::vector<std::byte>& rows = OwnRows();
  rows.resize(rows.size() - row_size_);
}

absl::StatusOr<uint32_t> Append::CodeOf(const Field& field, std::string_view text) {
  ASSIGN_OR_RETURN(const uint32_t code, log_writer_->CodeOf(field.name, text));
  ASSIGN_OR_RETURN(const auto known, table_.log()->snapshot().Texts(field.name));
  // New codes follow each other.
  NewTexts& news = new_texts_[field.name];
  if (news.texts.empty()) news.first = std::max(known->size(), int64_t{code});
  if (code == news.first + std::ssize(news.texts)) news.texts.emplace_back(text);
  return code;
}

std::shared_ptr<const KeyTexts> Append::WithNewTexts(const Field& field,
                                                     std::shared_ptr<const KeyTexts> texts) const {
  const auto news = new_texts_.find(field.name);
  if (news == new_texts_.end() || texts->size() < news->second.first) return texts;
  std::vector<std::string> more = news->second.texts;
  // A part of them may be committed.
  const int64_t known = std::min(texts->size() - news->second.first, std::ssize(more));
  more.erase(more.begin(), more.begin() + known);
  return std::make_shared<const KeyTexts>(texts->With(std::move(more)));
}

int64_t Append::end_row() const {
  return first_row_ + static_cast<int64_t>(rows_->size() / row_size_);
}

void Append::Savepoint(int number) { savepoints_.insert_or_assign(number, rows_->size()); }

void Append::Release(int number) {
  savepoints_.erase(savepoints_.lower_bound(number), savepoints_.end());
}

void Append::RollbackTo(int number) {
  // A savepoint from before the first row is not known here.
  const auto found = savepoints_.find(number);
  OwnRows().resize(found == savepoints_.end() ? 0 : found->second);
}

absl::Status Append::StageRows(MemberWriter& writer) const {
  const std::span<const std::byte> rows(*rows_);
  return table_.is_array() ? writer.AppendSlices(0, rows) : writer.Append(rows);
}

absl::Status Append::StageUndo(MemberWriter& writer) const {
  return StageTruncation(writer, first_row_ - committed_);
}

void Append::NoteCommitted() {
  const auto count = static_cast<int64_t>(rows_->size() / row_size_);
  committed_ += count;
  first_row_ += count;
  savepoints_.clear();
  new_texts_.clear();
  rows_ = std::make_shared<std::vector<std::byte>>();
  if (transaction_ != nullptr) table_.member()->collection->Renew();
}

absl::Status Append::Commit() {
  if (transaction_ != nullptr) return transaction_->Complete(*this);
  if (rows_->empty()) return absl::OkStatus();
  const std::span<const std::byte> rows(*rows_);
  if (log_writer_) {
    RETURN_IF_ERROR(log_writer_->Append(rows));
    RETURN_IF_ERROR(log_writer_->Commit());
  } else {
    RETURN_IF_ERROR(table_.is_array() ? writer_->AppendSlices(0, rows) : writer_->Append(rows));
    RETURN_IF_ERROR(writer_->Commit().status());
  }
  NoteCommitted();
  return absl::OkStatus();
}

absl::Status Append::Finish() {
  if (transaction_ != nullptr) return std::exchange(transaction_, nullptr)->Finish(*this);
  return log_writer_ ? log_writer_->Close() : writer_->Close();
}

absl::Status Append::Undo() {
  if (committed_ == 0) return absl::OkStatus();
  if (transaction_ != nullptr) {
    table_.member()->collection->Renew();
    return transaction_->Undo();
  }
  const int64_t end = first_row_ - committed_;
  if (!log_writer_) return Truncate(*writer_, end);
  RETURN_IF_ERROR(log_writer_->Close());
  ASSIGN_OR_RETURN(Frame frame, Frame::Open(table_.path()));
  ASSIGN_OR_RETURN(Writer writer, frame.OpenWriter());
  const int64_t dropped = table_.log()->snapshot().first_record();
  RETURN_IF_ERROR(Truncate(writer, end - dropped));
  return writer.Close();
}

}  // namespace cairn::sqlite
