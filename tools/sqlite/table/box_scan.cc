#include <algorithm>
#include <utility>

#include "tools/sqlite/table/scan.h"
#include "tools/status.h"

namespace cairn::sqlite {

namespace {

constexpr int64_t kFirstSlabBytes = 4 << 10;  // of the first piece
constexpr int64_t kMostSlabBytes = 8 << 20;
constexpr int64_t kByteGrowth = 8;

// Cuts a box into slabs: one index of the outer dimensions, some of one, and all of the inner ones.
// So the items of a slab follow each other.
class BoxScan final : public Scan {
 public:
  BoxScan(StatePtr state, const std::vector<Column>& columns, const IntegerRange& rows,
          const std::vector<IntegerRange>& box)
      : state_(std::move(state)), columns_(columns), rows_(rows), done_(rows.empty()) {
    const std::vector<int64_t>& shape = state_->shape();
    for (size_t i = 0; i < shape.size(); ++i) {
      begin_.push_back(std::max<int64_t>(box[i].least, 0));
      end_.push_back(std::min(box[i].greatest, shape[i] - 1) + 1);
      done_ = done_ || box[i].empty() || begin_[i] >= end_[i];
    }
    stride_.assign(shape.size(), 1);
    for (size_t i = shape.size(); i-- > 1;) stride_[i - 1] = stride_[i] * shape[i];
    if (!done_) ClipToRows();
    at_ = begin_;
  }

  absl::Status Next(Batch& batch) override {
    batch.size = 0;
    while (!done_ && batch.size == 0) RETURN_IF_ERROR(NextSlab(batch));
    return absl::OkStatus();
  }

  absl::Status Load(Batch& /*batch*/, size_t column) override {
    return absl::InternalError("column " + columns_[column].name + ": is loaded always");
  }

 private:
  // Leaves out slabs of the slowest dimension that have no wanted row.
  void ClipToRows() {
    const int64_t last = stride_[0] * state_->shape()[0] - 1;
    const int64_t from = std::max<int64_t>(rows_.least, 0);
    const int64_t to = std::min(rows_.greatest, last);
    if (from > to) {
      done_ = true;
      return;
    }
    begin_[0] = std::max(begin_[0], from / stride_[0]);
    end_[0] = std::min(end_[0], to / stride_[0] + 1);
    done_ = begin_[0] >= end_[0];
    // If only one item is wanted, the other indices are known as well.
    for (size_t i = 1; !done_ && from == to && i < begin_.size(); ++i) {
      const int64_t index = from / stride_[i] % state_->shape()[i];
      done_ = index < begin_[i] || index >= end_[i];
      begin_[i] = index;
      end_[i] = index + 1;
    }
  }

  absl::Status NextSlab(Batch& batch) {
    const int64_t item_size = state_->item_size();
    const int64_t most_items = std::max<int64_t>(1, bytes_ / std::max<int64_t>(1, item_size));
    bytes_ = std::min(bytes_ * kByteGrowth, kMostSlabBytes);
    // This is the dimension that is cut. Those after it are included as a whole.
    size_t axis = begin_.size() - 1;
    int64_t inner = 1;  // items of one index of the axis
    while (axis > 0 && at_[axis] == begin_[axis] &&
           end_[axis] - begin_[axis] <= most_items / inner) {
      inner *= end_[axis] - begin_[axis];
      --axis;
    }
    int64_t count = std::min(std::max<int64_t>(1, most_items / inner), end_[axis] - at_[axis]);
    // Blocks are decoded once if the slab ends with them.
    const int64_t block = state_->blockshape()[axis];
    if (const int64_t past = (at_[axis] + count) % std::max<int64_t>(1, block);
        at_[axis] + count < end_[axis] && past < count) {
      count -= past;
    }
    std::vector<int64_t> start = at_;
    std::vector<int64_t> extent(at_.size(), 1);
    extent[axis] = count;
    for (size_t i = axis + 1; i < at_.size(); ++i) extent[i] = end_[i] - begin_[i];
    const int64_t nitems = count * inner;
    items_.resize(static_cast<size_t>(nitems * item_size));
    RETURN_IF_ERROR(state_->snapshot().ReadBox(start, extent, items_));
    Advance(axis, count);
    Show(batch, start, extent);
    return absl::OkStatus();
  }

  // Moves to the first item after a slab.
  void Advance(size_t axis, int64_t count) {
    at_[axis] += count;
    while (at_[axis] == end_[axis]) {
      if (axis == 0) {
        done_ = true;
        return;
      }
      at_[axis] = begin_[axis];
      ++at_[--axis];
    }
  }

  // Shows the rows of a slab, except unwanted ones at its ends.
  void Show(Batch& batch, const std::vector<int64_t>& start, const std::vector<int64_t>& extent) {
    std::vector<int64_t> index(start.size());
    batch.numbers.clear();
    size_t item = 0;
    size_t first = 0;
    const size_t count = items_.size() / static_cast<size_t>(std::max(1, state_->item_size()));
    for (; item < count; ++item) {
      int64_t number = 0;
      for (size_t i = 0; i < index.size(); ++i) number += (start[i] + index[i]) * stride_[i];
      if (number > rows_.greatest) break;
      if (number >= rows_.least) {
        batch.numbers.push_back(number);
      } else {
        ++first;
      }
      for (size_t i = index.size(); i-- > 0;) {
        if (++index[i] < extent[i]) break;
        index[i] = 0;
      }
    }
    batch.size = batch.numbers.size();
    const auto step = static_cast<size_t>(state_->item_size());
    batch.columns.clear();
    for (const Column& column : columns_) {
      batch.columns.push_back({.data = items_.data() + first * step + column.offset, .step = step});
    }
  }

  StatePtr state_;
  const std::vector<Column>& columns_;
  IntegerRange rows_;
  std::vector<int64_t> stride_;  // items from one index of a dimension to the next
  std::vector<int64_t> begin_;   // the box
  std::vector<int64_t> end_;
  std::vector<int64_t> at_;  // the next item
  bool done_ = false;
  int64_t bytes_ = kFirstSlabBytes;
  std::vector<std::byte> items_;
};

}  // namespace

std::unique_ptr<Scan> MakeBoxScan(StatePtr state, const std::vector<Column>& columns,
                                  const IntegerRange& rows, std::vector<IntegerRange> box) {
  return std::make_unique<BoxScan>(std::move(state), columns, rows, box);
}

}  // namespace cairn::sqlite
