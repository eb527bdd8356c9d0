#include "engine/storage/buffer_mapping.h"

#include <utility>

namespace cairn::storage {

namespace {

class BufferMapping final : public Mapping {
 public:
  BufferMapping(Bytes bytes, std::shared_ptr<const void> owner)
      : bytes_(bytes), owner_(std::move(owner)) {}
  Bytes bytes() const override { return bytes_; }
  bool follows_file() const override { return false; }

 private:
  const Bytes bytes_;
  const std::shared_ptr<const void> owner_;
};

}  // namespace

std::shared_ptr<const Mapping> BorrowBytes(Bytes bytes) { return ShareBytes(bytes, nullptr); }

std::shared_ptr<const Mapping> OwnBytes(std::vector<std::byte> bytes) {
  auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  const Bytes view = *owner;
  return ShareBytes(view, std::move(owner));
}

std::shared_ptr<const Mapping> ShareBytes(Bytes bytes, std::shared_ptr<const void> owner) {
  return std::make_shared<BufferMapping>(bytes, std::move(owner));
}

}  // namespace cairn::storage
