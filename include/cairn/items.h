// Items as calls take them: any contiguous range of plain values, or raw bytes.
#ifndef CAIRN_ITEMS_H_
#define CAIRN_ITEMS_H_

#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <type_traits>

#include "cairn/types.h"

namespace cairn {

// A value that its bytes stand for: a number, a struct of them (std::array is one), std::byte.
// Views and text are none: pass std::as_bytes(std::span(text)).
template <typename T>
concept ItemValue =
    std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !std::ranges::view<T> &&
    !std::is_same_v<T, char> && !std::is_same_v<T, wchar_t> && !std::is_same_v<T, char8_t> &&
    !std::is_same_v<T, char16_t> && !std::is_same_v<T, char32_t>;

// A std::vector, std::array, std::span or C array of such values.
template <typename R>
concept ItemRange = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
    ItemValue<std::remove_all_extents_t<std::ranges::range_value_t<R>>>;

// An ItemRange whose items a call may overwrite.
template <typename R>
concept MutableItemRange = ItemRange<R> && std::ranges::borrowed_range<R> &&
    !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>;

// Items that a call reads. The caller passes a range. Values of another size than the typesize of
// the frame give kInvalidArgument with both sizes; std::byte means raw bytes, which fit any frame.
// A view: use it as a parameter only.
class Items {
 public:
  Items() = default;  // none
  template <ItemRange R>
  Items(const R& range)  // NOLINT(google-explicit-constructor): ranges are passed as they are
      : bytes_(std::as_bytes(std::span(range))), value_size_(ValueSize<R>()) {}

  Bytes bytes() const { return bytes_; }
  // Bytes of one value; 0 for raw bytes.
  size_t value_size() const { return value_size_; }

  // The value_size of a range. The values of a C array float[4][10] are floats.
  template <ItemRange R>
  static constexpr size_t ValueSize() {
    using T = std::remove_all_extents_t<std::ranges::range_value_t<R>>;
    return std::is_same_v<T, std::byte> ? 0 : sizeof(T);
  }

 private:
  Bytes bytes_;
  size_t value_size_ = 0;
};

// Items that a call writes into the caller's memory; in all else as Items.
class MutableItems {
 public:
  MutableItems() = default;  // none
  template <MutableItemRange R>
  MutableItems(R&& range)  // NOLINT(bugprone-forwarding-reference-overload): a range is no such
      : bytes_(std::as_writable_bytes(std::span(range))), value_size_(Items::ValueSize<R>()) {}

  MutableBytes bytes() const { return bytes_; }
  size_t value_size() const { return value_size_; }

 private:
  MutableBytes bytes_;
  size_t value_size_ = 0;
};

// A part of each of many items, such as one field of records, and the array where these parts are
// written, one after another.
struct FieldSpan {
  int32_t offset = 0;     // in the item
  int32_t size = 0;       // bytes
  MutableItems dst = {};  // `size` bytes of each item; of a value's size, or a multiple of it
};

}  // namespace cairn

#endif  // CAIRN_ITEMS_H_
