#include <algorithm>
#include <utility>

#include "tools/sqlite/table/scan.h"
#include "tools/status.h"

namespace cairn::sqlite {

namespace {

// A look at a row or two decodes little, but a long scan soon reads large pieces.
constexpr int64_t kFirstRows = 16;
constexpr int64_t kGrowth = 4;
constexpr int64_t kMostRows = 65'536;
constexpr int64_t kMostBytes = 4 << 20;  // of the columns of a batch

class RangeScan final : public Scan {
 public:
  RangeScan(StatePtr state, const std::vector<Column>& columns, const IntegerRange& rows,
            std::vector<bool> wanted, bool descending)
      : state_(std::move(state)),
        columns_(columns),
        begin_(std::max(rows.least, state_->first_row())),
        end_(rows.greatest < state_->end_row() ? rows.greatest + 1 : state_->end_row()),
        descending_(descending),
        buffers_(columns.size()),
        wanted_(std::move(wanted)) {
    if (rows.empty()) begin_ = end_;
    if (state_->log() != nullptr) deleted_ = state_->log()->deleted();
    for (size_t i = 0; i < columns.size(); ++i) wanted_bytes_ += wanted_[i] ? columns[i].size : 0;
  }

  bool descending() const override { return descending_; }

  absl::Status Next(Batch& batch) override {
    batch.columns.assign(columns_.size(), {});
    const int64_t most = std::max<int64_t>(1, kMostBytes / std::max<int64_t>(1, wanted_bytes_));
    const int64_t rest = SkipDeleted();
    int64_t count = std::min({rest, rows_, most});
    if (!descending_ && count < rest && count > 0) {
      count = state_->AlignedEnd(begin_, count) - begin_;
    }
    batch.size = count > 0 ? static_cast<size_t>(count) : 0;
    if (batch.size == 0) return absl::OkStatus();
    batch.first = descending_ ? end_ - count : begin_;
    if (descending_) {
      end_ -= count;
    } else {
      begin_ += count;
    }
    rows_ = std::min(rows_ * kGrowth, kMostRows);
    return Read(batch, wanted_);
  }

  absl::Status Load(Batch& batch, size_t column) override {
    std::vector<bool> only(columns_.size());
    only[column] = true;
    if (!wanted_[column]) wanted_bytes_ += columns_[column].size;
    wanted_[column] = true;
    return Read(batch, only);
  }

 private:
  // Goes to the next row that is not deleted. Returns how many such rows follow each other there.
  int64_t SkipDeleted() {
    if (descending_) {
      while (!deleted_.empty() && deleted_.back().end >= end_) {
        end_ = std::min(end_, std::max(begin_, deleted_.back().begin));
        deleted_.pop_back();
      }
      return end_ - (deleted_.empty() ? begin_ : std::max(begin_, deleted_.back().end));
    }
    for (; next_deleted_ < deleted_.size(); ++next_deleted_) {
      const RecordRange& range = deleted_[next_deleted_];
      if (range.begin > begin_) return std::min(end_, range.begin) - begin_;
      begin_ = std::max(begin_, std::min(end_, range.end));
    }
    return end_ - begin_;
  }

  absl::Status Read(Batch& batch, const std::vector<bool>& which) {
    std::vector<FieldSpan> fields;
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (!which[i]) continue;
      const Column& column = columns_[i];
      const auto size = static_cast<size_t>(column.size);
      buffers_[i].resize(std::max<size_t>(1, batch.size * size));
      batch.columns[i] = {.data = buffers_[i].data(), .step = size};
      if (size == 0) continue;
      fields.push_back({.offset = column.offset,
                        .size = column.size,
                        .dst = MutableBytes(buffers_[i]).first(batch.size * size)});
    }
    if (fields.empty()) return absl::OkStatus();
    return state_->ReadFields(batch.first, static_cast<int64_t>(batch.size), fields);
  }

  StatePtr state_;
  const std::vector<Column>& columns_;
  int64_t begin_;
  int64_t end_;
  bool descending_;
  std::vector<RecordRange> deleted_;  // records of a log
  size_t next_deleted_ = 0;           // the first of them that may lie after begin_
  int64_t rows_ = kFirstRows;
  std::vector<std::vector<std::byte>> buffers_;
  std::vector<bool> wanted_;  // columns
  int64_t wanted_bytes_ = 0;  // of a row
};

class MemoryScan final : public Scan {
 public:
  MemoryScan(MemoryRows rows, bool descending) : rows_(std::move(rows)), descending_(descending) {}

  bool descending() const override { return descending_; }

  absl::Status Next(Batch& batch) override {
    batch = {};
    if (std::exchange(done_, true)) return absl::OkStatus();
    batch.size = rows_.numbers.size();
    batch.numbers.swap(rows_.numbers);
    batch.columns = rows_.columns;
    return absl::OkStatus();
  }

  absl::Status Load(Batch& /*batch*/, size_t /*column*/) override { return absl::OkStatus(); }

 private:
  MemoryRows rows_;
  bool descending_;
  bool done_ = false;
};

}  // namespace

std::unique_ptr<Scan> MakeRangeScan(StatePtr state, const std::vector<Column>& columns,
                                    const IntegerRange& rows, std::vector<bool> wanted,
                                    bool descending) {
  return std::make_unique<RangeScan>(std::move(state), columns, rows, std::move(wanted),
                                     descending);
}

std::unique_ptr<Scan> MakeMemoryScan(MemoryRows rows, bool descending) {
  return std::make_unique<MemoryScan>(std::move(rows), descending);
}

}  // namespace cairn::sqlite
