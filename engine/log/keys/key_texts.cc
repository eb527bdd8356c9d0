#include "cairn/key_texts.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

namespace cairn {

namespace {

constexpr size_t kBlockTexts = 1024;

}  // namespace

std::string_view KeyTexts::Get(uint32_t code) const {
  if (code == 0 || code >= size_) return {};
  const size_t place = code - size_t{1};
  return (*blocks_[place / kBlockTexts])[place % kBlockTexts];
}

KeyTexts KeyTexts::With(std::vector<std::string> more) const {
  KeyTexts all = *this;
  all.size_ += std::ssize(more);
  std::vector<std::string> last;
  if (!all.blocks_.empty() && all.blocks_.back()->size() < kBlockTexts) {
    last = *all.blocks_.back();
    all.blocks_.pop_back();
  }
  for (std::string& text : more) {
    last.push_back(std::move(text));
    if (last.size() < kBlockTexts) continue;
    all.blocks_.push_back(
        std::make_shared<const std::vector<std::string>>(std::exchange(last, {})));
  }
  if (!last.empty()) {
    all.blocks_.push_back(std::make_shared<const std::vector<std::string>>(std::move(last)));
  }
  return all;
}

}  // namespace cairn
