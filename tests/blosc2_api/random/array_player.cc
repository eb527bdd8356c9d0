// Random calls on n-dimensional arrays.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "tests/blosc2_api/random/array_model.h"
#include "tests/blosc2_api/random/player.h"

namespace cairn::blosc2_api {

namespace {

using Shape32 = std::array<int32_t, B2ND_MAX_DIM>;

class ArrayPlayer {
 public:
  ArrayPlayer(const Calls& calls, uint64_t seed, const std::string& folder, Transcript& transcript)
      : calls_(calls),
        dice_(seed),
        folder_(folder),
        transcript_(transcript),
        cparams_(MakeParameters(dice_)) {
    cparams_.blocksize = 0;
    ndim_ = static_cast<int8_t>(1 + dice_.Below(3));
    transcript_.Say("codec %d, clevel %d, filter %d, typesize %d, split mode %d", cparams_.compcode,
                    cparams_.clevel, cparams_.filters[5], typesize(), cparams_.splitmode);
    array_ = Create(AnyShape(), model_);
  }
  ArrayPlayer(const ArrayPlayer&) = delete;
  ArrayPlayer& operator=(const ArrayPlayer&) = delete;
  ~ArrayPlayer() {
    if (array_ != nullptr) calls_.b2nd_free(array_);
  }

  void Play() {
    for (int i = 0; i < 25 && array_ != nullptr; ++i) {
      Step();
      if (array_ != nullptr) SayState();
    }
    if (array_ != nullptr) SayAll(*array_);
  }

 private:
  int32_t typesize() const { return cparams_.typesize; }
  size_t n() const { return static_cast<size_t>(ndim_); }
  std::string NextPath() { return folder_ + "/array" + std::to_string(files_++); }

  Index AnyShape() {
    Index shape{};
    constexpr int kMost[] = {0, 600, 30, 11};
    for (size_t i = 0; i < n(); ++i) shape[i] = dice_.OneIn(30) ? 0 : 1 + dice_.Below(kMost[n()]);
    return shape;
  }

  Index ShapeOf(const b2nd_array_t& array) const {
    Index shape{};
    std::copy_n(array.shape, array.ndim, shape.begin());
    return shape;
  }
  Buffer PayloadOf(const Index& shape) {
    return MakePayload(dice_, static_cast<size_t>(ItemsIn(shape, n()) * typesize()));
  }

  // Makes the parameters of a new array, in memory or on disk.
  b2nd_context_t* MakeContext(const Index& shape) {
    blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
    storage.contiguous = dice_.OneIn(2);
    storage.cparams = &cparams_;
    if (dice_.OneIn(3)) {
      paths_.push_back(std::make_unique<std::string>(NextPath()));
      storage.urlpath = paths_.back()->data();
    }
    Shape32 chunkshape{};
    Shape32 blockshape{};
    for (size_t i = 0; i < n(); ++i) {
      const auto extent = static_cast<int32_t>(std::max<int64_t>(shape[i], 1));
      chunkshape[i] = extent / 4 + 1 + dice_.Below(extent);
      blockshape[i] = 1 + dice_.Below(chunkshape[i]);
      transcript_.Say("  %d %d %d", shape[i], chunkshape[i], blockshape[i]);
    }
    b2nd_context_t* const context =
        calls_.b2nd_create_ctx(&storage, ndim_, shape.data(), chunkshape.data(), blockshape.data(),
                               nullptr, 0, nullptr, 0);
    transcript_.Say("create_ctx: %d", context != nullptr);
    return context;
  }

  // Makes an array, and what it holds.
  b2nd_array_t* Create(const Index& shape, ArrayModel& model) {
    model = ArrayModel(n(), shape, typesize());
    b2nd_context_t* const context = MakeContext(shape);
    if (context == nullptr) return nullptr;
    b2nd_array_t* array = nullptr;
    const Buffer payload = PayloadOf(shape);
    const int kind = dice_.Below(4);
    if (kind == 0) {
      transcript_.SayCode("zeros", calls_.b2nd_zeros(context, &array));
    } else if (kind == 1) {
      const Buffer value = MakePayload(dice_, static_cast<size_t>(typesize()));
      Buffer all;
      for (int64_t i = 0; i < ItemsIn(shape, n()); ++i)
        all.insert(all.end(), value.begin(), value.end());
      model.Write({}, shape, all);
      transcript_.SayCode("full", calls_.b2nd_full(context, &array, value.data()));
    } else {
      model.Write({}, shape, payload);
      transcript_.SayCode("from_cbuffer",
                          calls_.b2nd_from_cbuffer(context, &array, payload.data(),
                                                   static_cast<int64_t>(payload.size())));
    }
    calls_.b2nd_free_ctx(context);
    return array;
  }

  // Says which items were read, and whether they are right: C-Blosc2 is not always.
  void SayItems(const Index& start, const Index& extent, Buffer& items) {
    SayIf(model_.Check(start, extent, items), items);
  }
  void SayAll(const b2nd_array_t& array, const Index& start, const Index& extent) {
    Buffer items(static_cast<size_t>(array.nitems * typesize()));
    const int code =
        calls_.b2nd_to_cbuffer(&array, items.data(), static_cast<int64_t>(items.size()));
    transcript_.SayCode("to_cbuffer", code);
    if (code >= 0) SayItems(start, extent, items);
  }
  void SayAll(const b2nd_array_t& array) { SayAll(array, {}, model_.shape()); }

  void SayState() {
    if (ShapeOf(*array_) != model_.shape()) return transcript_.Say("%s", kWrongItems);
    transcript_.Say("  %d items in %d chunks, %d bytes", array_->nitems, array_->sc->nchunks,
                    array_->sc->nbytes);
    for (size_t i = 0; i < n(); ++i) transcript_.Say("  extent %d", array_->shape[i]);
  }

  // Chooses a box of the array. Returns false if the array has no items.
  bool ChooseBox(Index& start, Index& stop, Index& shape) {
    if (array_->nitems == 0) return false;
    for (size_t i = 0; i < n(); ++i) {
      start[i] = dice_.Below(array_->shape[i]);
      stop[i] = start[i] + 1 + dice_.Below(array_->shape[i] - start[i]);
      shape[i] = stop[i] - start[i];
      transcript_.Say("  from %d to %d", start[i], stop[i]);
    }
    return true;
  }

  void CopyBox() {
    Index start{};
    Index stop{};
    Index shape{};
    if (!ChooseBox(start, stop, shape)) return;
    Buffer items = PayloadOf(shape);
    const auto size = static_cast<int64_t>(items.size());
    if (dice_.OneIn(2)) {
      const int code = calls_.b2nd_get_slice_cbuffer(array_, start.data(), stop.data(),
                                                     items.data(), shape.data(), size);
      transcript_.SayCode("get_slice_cbuffer", code);
      if (code >= 0) SayItems(start, shape, items);
      return;
    }
    model_.Write(start, shape, items);
    transcript_.SayCode("set_slice_cbuffer",
                        calls_.b2nd_set_slice_cbuffer(items.data(), shape.data(), size,
                                                      start.data(), stop.data(), array_));
  }

  void ReadBoxAsArray() {
    Index start{};
    Index stop{};
    Index shape{};
    if (!ChooseBox(start, stop, shape)) return;
    b2nd_context_t* const context = MakeContext(shape);
    if (context == nullptr) return;
    b2nd_array_t* part = nullptr;
    const int code = calls_.b2nd_get_slice(context, &part, array_, start.data(), stop.data());
    calls_.b2nd_free_ctx(context);
    transcript_.SayCode("get_slice", code);
    if (code < 0) return;
    SayAll(*part, start, shape);
    calls_.b2nd_free(part);
  }

  void Resize() {
    Index shape = ShapeOf(*array_);
    for (size_t i = 0; i < n(); ++i) {
      if (dice_.OneIn(2)) shape[i] = std::max(int64_t{0}, shape[i] + dice_.Below(20) - 10);
      transcript_.Say("  to %d", shape[i]);
    }
    model_ = model_.Resized(shape, array_->chunkshape);
    transcript_.SayCode("resize", calls_.b2nd_resize(array_, shape.data(), nullptr));
  }

  // Adds or takes away complete chunks inside of the array.
  void ResizeInside() {
    const auto axis = static_cast<size_t>(dice_.Below(ndim_));
    const int64_t unit = array_->chunkshape[axis];
    if (unit == 0 || array_->shape[axis] < 2 * unit) return;
    Index start{};
    Index shape = ShapeOf(*array_);
    for (size_t i = 0; i < n(); ++i) start[i] = shape[i];
    start[axis] = unit * dice_.Below(shape[axis] / unit);
    const bool more = dice_.OneIn(2);
    shape[axis] += more ? unit : -unit;
    if (start[axis] > shape[axis]) return;
    transcript_.Say("axis %d, %d from %d on", axis, more, start[axis]);
    model_ = model_.Resized(shape, array_->chunkshape, axis, start[axis]);
    transcript_.SayCode("resize inside", calls_.b2nd_resize(array_, shape.data(), start.data()));
  }

  // Puts more items into the model along an axis.
  void WriteMore(size_t axis, int64_t at, const Index& extent, const Buffer& items) {
    Index start{};
    start[axis] = at;
    Index shape = model_.shape();
    const bool at_end = at == shape[axis];
    shape[axis] += extent[axis];
    model_ = model_.Resized(shape, array_->chunkshape,
                            at_end ? std::nullopt : std::optional<size_t>(axis), at);
    model_.Write(start, extent, items);
  }

  void Append() {
    const auto axis = static_cast<size_t>(dice_.Below(ndim_));
    Index shape = ShapeOf(*array_);
    shape[axis] = 1 + dice_.Below(12);
    const Buffer items = PayloadOf(shape);
    if (items.empty()) return;
    transcript_.Say("axis %d, %d", axis, shape[axis]);
    WriteMore(axis, model_.shape()[axis], shape, items);
    transcript_.SayCode("append",
                        calls_.b2nd_append(array_, items.data(), static_cast<int64_t>(items.size()),
                                           static_cast<int8_t>(axis)));
  }

  void InsertOrDelete() {
    const auto axis = static_cast<size_t>(dice_.Below(ndim_));
    const int64_t unit = array_->chunkshape[axis];
    if (unit == 0 || array_->nitems == 0) return;
    const int64_t chunks = array_->shape[axis] / unit;
    if (chunks == 0) return;
    const int64_t at = unit * dice_.Below(chunks);
    transcript_.Say("axis %d at %d", axis, at);
    if (dice_.OneIn(2)) {
      Index shape = ShapeOf(*array_);
      shape[axis] = unit;
      const Buffer items = PayloadOf(shape);
      WriteMore(axis, at, shape, items);
      transcript_.SayCode(
          "insert", calls_.b2nd_insert(array_, items.data(), static_cast<int64_t>(items.size()),
                                       static_cast<int8_t>(axis), at));
    } else {
      Index shape = ShapeOf(*array_);
      shape[axis] -= unit;
      model_ = model_.Resized(shape, array_->chunkshape, axis, at);
      transcript_.SayCode("delete",
                          calls_.b2nd_delete(array_, static_cast<int8_t>(axis), at, unit));
    }
  }

  Index One() const {
    Index one{};
    std::fill_n(one.begin(), n(), int64_t{1});
    return one;
  }

  // Calls visit(at, begin) with the place of each chosen item in the array and in the buffer.
  void ForEachChosen(const std::vector<std::vector<int64_t>>& chosen, const Index& shape,
                     const std::function<void(const Index& at, size_t begin)>& visit) {
    const int64_t items = ItemsIn(shape, n());
    for (int64_t i = 0; i < items; ++i) {
      Index at{};
      int64_t rest = i;
      for (size_t k = n(); k-- > 0; rest /= shape[k]) {
        at[k] = chosen[k][static_cast<size_t>(rest % shape[k])];
      }
      visit(at, static_cast<size_t>(i * typesize()));
    }
  }

  // Returns true if an item is that of the model, and makes one that may be any 0.
  bool CheckItem(const Index& at, Buffer& items, size_t begin) {
    Buffer item(&items[begin], &items[begin] + typesize());
    const bool right = model_.Check(at, One(), item);
    std::ranges::copy(item, &items[begin]);
    return right;
  }

  void SaySelection(const std::vector<std::vector<int64_t>>& chosen, const Index& shape,
                    Buffer& items) {
    bool right = true;
    ForEachChosen(chosen, shape, [&](const Index& at, size_t begin) {
      right = CheckItem(at, items, begin) && right;
    });
    SayIf(right, items);
  }

  void SayIf(bool right, const Buffer& items) {
    if (right) {
      transcript_.SayBytes("  items", items);
    } else {
      transcript_.Say("%s", kWrongItems);
    }
  }

  void CopySelection() {
    if (array_->nitems == 0) return;
    std::vector<std::vector<int64_t>> chosen(n());
    std::vector<int64_t*> selection;
    Index shape{};
    for (size_t i = 0; i < n(); ++i) {
      chosen[i].resize(static_cast<size_t>(1 + dice_.Below(4)));
      for (int64_t& k : chosen[i]) k = dice_.Below(array_->shape[i]);
      selection.push_back(chosen[i].data());
      shape[i] = std::ssize(chosen[i]);
    }
    Index sizes = shape;
    Buffer items = PayloadOf(shape);
    const auto size = static_cast<int64_t>(items.size());
    if (dice_.OneIn(2)) {
      const int code = calls_.b2nd_get_orthogonal_selection(array_, selection.data(), sizes.data(),
                                                            items.data(), shape.data(), size);
      transcript_.SayCode("get_orthogonal_selection", code);
      if (code >= 0) SaySelection(chosen, shape, items);
      return;
    }
    // Which item of two in one place stays is not said.
    for (std::vector<int64_t>& axis : chosen) {
      std::ranges::sort(axis);
      if (std::ranges::adjacent_find(axis) != axis.end()) return;
    }
    ForEachChosen(chosen, shape, [&](const Index& at, size_t begin) {
      model_.Write(at, One(), Buffer(&items[begin], &items[begin] + typesize()));
    });
    transcript_.SayCode("set_orthogonal_selection",
                        calls_.b2nd_set_orthogonal_selection(array_, selection.data(), sizes.data(),
                                                             items.data(), shape.data(), size));
  }

  void ReadSparsely() {
    if (array_->nitems == 0) return;
    std::vector<int64_t> coords(static_cast<size_t>(1 + dice_.Below(10)));
    for (int64_t& coord : coords) coord = dice_.Below(array_->nitems);
    Buffer items(coords.size() * static_cast<size_t>(typesize()));
    const int code =
        calls_.b2nd_get_sparse_cbuffer(array_, std::ssize(coords), coords.data(), items.data(),
                                       static_cast<int64_t>(items.size()));
    transcript_.SayCode("get_sparse_cbuffer", code);
    if (code < 0) return;
    bool right = true;
    for (size_t i = 0; i < coords.size(); ++i) {
      Index at{};
      int64_t rest = coords[i];
      for (size_t k = n(); k-- > 0; rest /= array_->shape[k]) at[k] = rest % array_->shape[k];
      right = CheckItem(at, items, i * static_cast<size_t>(typesize())) && right;
    }
    SayIf(right, items);
  }

  void Replace(b2nd_array_t* other) {
    calls_.b2nd_free(array_);
    array_ = other;
  }

  void Copy() {
    b2nd_context_t* const context = MakeContext(ShapeOf(*array_));
    if (context == nullptr) return;
    b2nd_array_t* copy = nullptr;
    const int code = calls_.b2nd_copy(context, array_, &copy);
    calls_.b2nd_free_ctx(context);
    transcript_.SayCode("copy", code);
    if (code >= 0) Replace(copy);
  }

  void Concatenate() {
    const auto axis = static_cast<size_t>(dice_.Below(ndim_));
    Index shape = ShapeOf(*array_);
    shape[axis] = 1 + dice_.Below(10);
    if (ItemsIn(shape, n()) == 0) return;
    ArrayModel other_model;
    b2nd_array_t* const other = Create(shape, other_model);
    if (other == nullptr) return;
    b2nd_context_t* const context = MakeContext(ShapeOf(*array_));
    b2nd_array_t* both = nullptr;
    const int code =
        calls_.b2nd_concatenate(context, array_, other, static_cast<int8_t>(axis), true, &both);
    calls_.b2nd_free_ctx(context);
    transcript_.Say("axis %d", axis);
    transcript_.SayCode("concatenate", code);
    calls_.b2nd_free(other);
    if (code < 0) return;
    WriteMore(axis, model_.shape()[axis], shape, other_model.items());
    Replace(both);
  }

  void Reopen() {
    if (array_->sc->storage->urlpath == nullptr) {
      std::string path = NextPath();
      transcript_.SayCode("save", calls_.b2nd_save(array_, path.data()));
      b2nd_array_t* saved = nullptr;
      const int code = calls_.b2nd_open(path.c_str(), &saved);
      transcript_.SayCode("open", code);
      if (code >= 0) Replace(saved);
      return;
    }
    const std::string path = array_->sc->storage->urlpath;
    calls_.b2nd_free(array_);
    array_ = nullptr;
    const int code = calls_.b2nd_open(path.c_str(), &array_);
    transcript_.SayCode("open", code);
    if (code < 0) array_ = nullptr;
  }

  void GoThroughCframe() {
    uint8_t* cframe = nullptr;
    int64_t size = 0;
    bool needs_free = false;
    const int code = calls_.b2nd_to_cframe(array_, &cframe, &size, &needs_free);
    transcript_.SayCode("to_cframe", code);
    if (code < 0) return;
    Buffer copy(cframe, cframe + size);
    if (needs_free) std::free(cframe);
    b2nd_array_t* other = nullptr;
    const int read = calls_.b2nd_from_cframe(copy.data(), size, true, &other);
    transcript_.SayCode("from_cframe", read);
    if (read >= 0) Replace(other);
  }

  void Squeeze() {
    b2nd_array_t* view = nullptr;
    const int code = calls_.b2nd_squeeze(array_, &view);
    transcript_.SayCode("squeeze", code);
    if (code < 0) return;
    transcript_.Say("  %d dimensions", view->ndim);
    SayAll(*view);
    calls_.b2nd_free(view);
  }

  void Step() {
    switch (dice_.Below(16)) {
      case 0:
      case 1:
      case 2:
        return CopyBox();
      case 3:
        return ReadBoxAsArray();
      case 4:
      case 5:
        return Resize();
      case 6:
        return ResizeInside();
      case 7:
        return Append();
      case 8:
        return InsertOrDelete();
      case 9:
        return CopySelection();
      case 10:
        return ReadSparsely();
      case 11:
        return Copy();
      case 12:
        return Concatenate();
      case 13:
        return Reopen();
      case 14:
        return GoThroughCframe();
      default:
        return Squeeze();
    }
  }

  const Calls& calls_;
  Dice dice_;
  const std::string folder_;
  Transcript& transcript_;
  blosc2_cparams cparams_;
  int8_t ndim_ = 1;
  int files_ = 0;
  std::vector<std::unique_ptr<std::string>> paths_;  // contexts point to them
  b2nd_array_t* array_ = nullptr;
  ArrayModel model_;  // of the array
};

}  // namespace

void PlayArrays(const Calls& calls, uint64_t seed, const std::string& folder,
                Transcript& transcript) {
  ArrayPlayer(calls, seed, folder, transcript).Play();
}

}  // namespace cairn::blosc2_api
