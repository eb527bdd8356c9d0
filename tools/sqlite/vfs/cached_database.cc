#include "tools/sqlite/vfs/cached_database.h"

#include <utility>

namespace cairn::sqlite {

namespace {

// The first page has a big-endian number here that tells whether the schema has changed.
constexpr size_t kCookieAt = 40;
constexpr size_t kCookieEnd = kCookieAt + sizeof(uint32_t);
// This is more than the numbers of two databases' schemas differ.
constexpr uint32_t kStep = 1 << 24;

void AddToCookie(uint32_t number, MutableBytes first_page) {
  for (size_t i = kCookieEnd; i-- > kCookieAt; number >>= 8) {
    number += static_cast<uint32_t>(first_page[i]);
    first_page[i] = static_cast<std::byte>(number);
  }
}

}  // namespace

void CachedDatabase::Follow(const std::optional<FileIdentity>& file) {
  if (file_.has_value() && file_ != file) {
    is_stale_ = true;
    cookie_shift_ += kStep;
  }
  file_ = file;
}

bool CachedDatabase::TakeStale() { return std::exchange(is_stale_, false); }

bool CachedDatabase::IsShifted(int64_t offset, Bytes bytes) const {
  return cookie_shift_ != 0 && offset == 0 && bytes.size() >= kCookieEnd;
}

void CachedDatabase::Shift(int64_t offset, MutableBytes bytes) const {
  if (IsShifted(offset, bytes)) AddToCookie(cookie_shift_, bytes);
}

void CachedDatabase::Unshift(MutableBytes first_page) const {
  AddToCookie(0 - cookie_shift_, first_page);
}

}  // namespace cairn::sqlite
