#include "engine/frame/repair/chunk_list.h"

#include "absl/strings/str_cat.h"

#include "engine/base/byte_writer.h"
#include "engine/base/bytes.h"

namespace cairn::frame {

std::string ChunkList(std::span<const int64_t> chunks) {
  std::string list;
  for (size_t i = 0; i < chunks.size();) {
    size_t end = i + 1;
    while (end < chunks.size() && chunks[end] == chunks[end - 1] + 1) ++end;
    absl::StrAppend(&list, list.empty() ? "" : ", ", chunks[i]);
    if (end - i > 1) absl::StrAppend(&list, "-", chunks[end - 1]);
    i = end;
  }
  return list;
}

std::vector<std::byte> EncodeText(std::string_view text) {
  constexpr uint8_t kStr32 = 0xDB;
  ByteWriter writer;
  writer.U8(kStr32);
  writer.Be(static_cast<uint32_t>(text.size()));
  writer.Append(AsBytes(text));
  return std::move(writer).Take();
}

}  // namespace cairn::frame
