#include "tests/frame/small_frames.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/base/status.h"
#include "engine/format/frame_header.h"
#include "engine/format/trailer.h"

namespace cairn::test {

std::vector<std::byte> Noise(size_t size, uint64_t seed) {
  std::vector<std::byte> bytes(size);
  uint64_t x = seed * 0x9E3779B97F4A7C15u + 1;
  for (std::byte& byte : bytes) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    byte = static_cast<std::byte>(x >> 32);
  }
  return bytes;
}

std::vector<std::byte> FileBytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.is_open()) << path;
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  return ToVector(AsBytes(text));
}

void PutFileBytes(const std::string& path, Bytes bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  const std::string_view text = AsText(bytes);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  EXPECT_TRUE(out.good()) << path;
}

std::vector<std::string> NamesIn(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

FrameParts PartsOf(Bytes frame) {
  FrameParts parts;
  const auto header = format::ParseFrameHeader(frame);
  EXPECT_TRUE(header.ok()) << header.status();
  if (!header.ok()) return parts;
  parts.header_len = header->header_len;
  parts.index_begin = header->header_len + header->cbytes;
  parts.frame_size = header->frame_size;
  constexpr auto kTail = static_cast<size_t>(format::kTrailerTailSize);
  const Bytes tail = frame.first(static_cast<size_t>(parts.frame_size)).last(kTail);
  parts.trailer_begin = parts.frame_size - int64_t{LoadBe<uint32_t>(tail.data() + 1)};
  return parts;
}

void DropFingerprint(std::vector<std::byte>& frame) {
  std::fill(frame.end() - 17, frame.end(), std::byte{0});
}

absl::StatusOr<std::vector<std::byte>> DataOf(const Snapshot& snapshot) {
  std::vector<std::byte> data(static_cast<size_t>(snapshot.info().nbytes));
  CAIRN_RETURN_IF_ERROR(snapshot.ReadBytes(0, data));
  return data;
}

absl::StatusOr<FrameContent> FullContentOf(const Snapshot& snapshot) {
  FrameContent content;
  CAIRN_ASSIGN_OR_RETURN(content.data, DataOf(snapshot));
  for (const Metalayer& layer : snapshot.metalayers()) {
    content.metalayers[layer.name] = AsText(layer.content);
  }
  for (const std::string& name : snapshot.vlmetalayers()) {
    CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> value, snapshot.GetVlmeta(name));
    content.vlmetalayers[name] = AsText(value);
  }
  return content;
}

CreateOptions PlainCopies(int32_t chunksize) {
  CreateOptions options;
  options.compression.clevel = 0;
  options.chunksize = chunksize;
  return options;
}

absl::Status WriteFrame(const std::string& path, const CreateOptions& options, Bytes data,
                        const std::map<std::string, std::string>& vlmetalayers) {
  CAIRN_ASSIGN_OR_RETURN(Writer writer, Frame::Build(path, options));
  CAIRN_RETURN_IF_ERROR(writer.Append(data));
  for (const auto& [name, value] : vlmetalayers) {
    CAIRN_RETURN_IF_ERROR(writer.SetVlmeta(name, AsBytes(value)));
  }
  return writer.Close();
}

absl::Status AppendTo(const std::string& path, Bytes data) {
  CAIRN_ASSIGN_OR_RETURN(Frame frame, Frame::Open(path));
  CAIRN_ASSIGN_OR_RETURN(Writer writer, frame.OpenWriter());
  CAIRN_RETURN_IF_ERROR(writer.Append(data));
  return writer.Close();
}

int64_t StoredBytes(const Snapshot& snapshot) {
  int64_t total = 0;
  for (int64_t i = 0; i < snapshot.info().nchunks; ++i) {
    const auto entry = snapshot.GetEntry(i);
    const auto chunk = snapshot.GetChunk(i);
    EXPECT_TRUE(entry.ok() && chunk.ok()) << i;
    if (entry.ok() && chunk.ok() && entry->offset >= 0) {
      total += static_cast<int64_t>(chunk->bytes().size());
    }
  }
  return total;
}

}  // namespace cairn::test
