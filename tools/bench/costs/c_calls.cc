// Makes the most common calls of the C API.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "cairn/cairn.h"
#include "tools/bench/costs/frames.h"
#include "tools/bench/costs/operation.h"
#include "tools/status.h"

namespace cairn::bench {
namespace {

constexpr int32_t kChunk = 4096;
constexpr int64_t kChunks = 1000;

struct Opened {
  Opened() = default;
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() {
    cairn_snapshot_free(snapshot);
    cairn_frame_free(frame);
  }

  cairn_frame* frame = nullptr;
  cairn_snapshot* snapshot = nullptr;
  std::vector<std::byte> room = std::vector<std::byte>(kChunk);
};

absl::Status Told(cairn_code code) {
  return code == CAIRN_OK ? absl::OkStatus() : absl::InternalError("a call of the C API failed");
}

absl::StatusOr<std::shared_ptr<Opened>> OpenByC(const std::string& folder) {
  const std::string path = folder + "/frame";
  RETURN_IF_ERROR(MakeFrame(path, DataSet::kA, kChunk, kChunks));
  const auto opened = std::make_shared<Opened>();
  RETURN_IF_ERROR(Told(cairn_frame_open(path.c_str(), nullptr, &opened->frame, nullptr)));
  RETURN_IF_ERROR(Told(cairn_frame_snapshot(opened->frame, &opened->snapshot, nullptr)));
  for (int64_t i = 0; i < kChunks; ++i) {
    RETURN_IF_ERROR(
        Told(cairn_snapshot_read_chunk(opened->snapshot, i, opened->room.data(), kChunk, nullptr)));
  }
  return opened;
}

absl::StatusOr<Steps> ReadChunk(const std::string& folder) {
  ASSIGN_OR_RETURN(const auto opened, OpenByC(folder));
  return Steps{[opened](int64_t number) {
    return Told(cairn_snapshot_read_chunk(opened->snapshot, number % kChunks, opened->room.data(),
                                          kChunk, nullptr));
  }};
}

absl::StatusOr<Steps> ReadItem(const std::string& folder) {
  ASSIGN_OR_RETURN(const auto opened, OpenByC(folder));
  return Steps{[opened](int64_t number) {
    return Told(cairn_snapshot_read_items(opened->snapshot, number * 7919 % (kChunks * kChunk / 8),
                                          opened->room.data(), 8, nullptr));
  }};
}

}  // namespace

std::vector<Operation> COperations() {
  return {{"C: warm read of 4 KiB, A", 1000, ReadChunk}, {"C: an item", 1000, ReadItem}};
}

}  // namespace cairn::bench
