// Items and MutableItems: the ranges of values that calls read and write. They take any contiguous
// range of plain values, or raw bytes.
#ifndef CAIRN_ITEMS_H_
#define CAIRN_ITEMS_H_

#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <type_traits>

#include "cairn/types.h"

namespace cairn {

// A type whose bytes are its value: a number, a struct of numbers (such as std::array), or
// std::byte. Views and text are excluded. For text, pass std::as_bytes(std::span(text)).
template <typename T>
concept ItemValue =
    std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !std::ranges::view<T> &&
    !std::is_same_v<T, char> && !std::is_same_v<T, wchar_t> && !std::is_same_v<T, char8_t> &&
    !std::is_same_v<T, char16_t> && !std::is_same_v<T, char32_t>;

// A std::vector, std::array, std::span or C array of item values.
template <typename R>
concept ItemRange = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
    ItemValue<std::remove_all_extents_t<std::ranges::range_value_t<R>>>;

// An ItemRange whose items a call may overwrite.
template <typename R>
concept MutableItemRange = ItemRange<R> && std::ranges::borrowed_range<R> &&
    !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>;

// Refers to items that a call reads. The caller passes a range. std::byte means raw bytes, which
// fit any frame. Items is a view, so use it only as a parameter.
//
// Calls that take items return kInvalidArgument if a value has another size than the typesize of
// the frame. The message has both sizes.
class Items {
 public:
  Items() = default;  // no items
  template <ItemRange R>
  Items(const R& range)  // NOLINT(google-explicit-constructor): ranges are passed as they are
      : bytes_(std::as_bytes(std::span(range))), value_size_(ValueSize<R>()) {}

  Bytes bytes() const { return bytes_; }
  // Returns the bytes of one value, or 0 for raw bytes.
  size_t value_size() const { return value_size_; }

  // Returns the value_size of a range. The values of a C array float[4][10] are floats.
  template <ItemRange R>
  static constexpr size_t ValueSize() {
    using T = std::remove_all_extents_t<std::ranges::range_value_t<R>>;
    return std::is_same_v<T, std::byte> ? 0 : sizeof(T);
  }

 private:
  Bytes bytes_;
  size_t value_size_ = 0;
};

// Refers to items that a call writes into the caller's memory. Otherwise it is like Items.
class MutableItems {
 public:
  MutableItems() = default;  // no items
  template <MutableItemRange R>
  MutableItems(R&& range)  // NOLINT(bugprone-forwarding-reference-overload): a range is no such
      : bytes_(std::as_writable_bytes(std::span(range))), value_size_(Items::ValueSize<R>()) {}

  MutableBytes bytes() const { return bytes_; }
  size_t value_size() const { return value_size_; }

 private:
  MutableBytes bytes_;
  size_t value_size_ = 0;
};

// Names a part of each of many items, such as one field of records, and the array into which these
// parts are written one after another.
struct FieldSpan {
  int32_t offset = 0;  // bytes from the start of the item
  int32_t size = 0;    // bytes; a multiple of the size of dst's values
  // Array with room for `size` bytes of each item.
  MutableItems dst = {};
};

}  // namespace cairn

#endif  // CAIRN_ITEMS_H_
