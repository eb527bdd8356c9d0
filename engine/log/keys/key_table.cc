#include "engine/log/keys/key_table.h"

#include <span>
#include <utility>

#include "engine/base/binary_value.h"
#include "engine/base/byte_reader.h"
#include "engine/base/byte_writer.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"

namespace cairn::log {

namespace {

constexpr uint32_t kKeyMagic = 0x4B474C43;  // "CLGK"
constexpr uint32_t kKeyVersion = 1;

}  // namespace

absl::Status CheckKey(std::string_view text) {
  if (text.empty()) return InvalidArgument("a key: an empty text");
  if (std::ssize(text) > kMaxKeyLength) {
    return InvalidArgument("a key: expected at most %d bytes, got %d", kMaxKeyLength, text.size());
  }
  if (text.find('\0') != std::string_view::npos) return InvalidArgument("a key: a zero in a text");
  return IsUtf8(text) ? absl::OkStatus() : InvalidArgument("a key: a text that is not UTF-8");
}

void KeyTable::Add(const KeyText& text) {
  ByteWriter writer;
  writer.Varint(text.field);
  writer.Varint(text.text.size());
  writer.Append(std::as_bytes(std::span(text.text)));
  const std::vector<std::byte> encoded = std::move(writer).Take();
  texts.insert(texts.end(), encoded.begin(), encoded.end());
  ++ntexts;
}

void KeyTable::Add(const KeyTable& more) {
  texts.insert(texts.end(), more.texts.begin(), more.texts.end());
  ntexts += more.ntexts;
}

absl::StatusOr<KeyTable> ParseKeyTable(Bytes content) {
  ByteReader reader(content, "keys");
  ReadHeadIfAny(reader);
  if (reader.Le<uint32_t>("magic") != kKeyMagic) reader.Fail("magic", "not that of keys");
  const auto version = reader.Le<uint32_t>("version");
  if (reader.ok() && version != kKeyVersion) {
    return Unimplemented("keys of a log: version %d, this Cairn knows %d", version, kKeyVersion);
  }
  KeyTable table;
  table.first = reader.Le<int64_t>("texts before");
  table.ntexts = reader.Le<int64_t>("texts");
  // Each text has a byte or more.
  if (table.first < 0 || table.first > kMaxKeyBytes || table.ntexts < 0 ||
      table.ntexts > kMaxKeyBytes || std::cmp_greater(reader.remaining(), kMaxKeyBytes)) {
    reader.Fail("texts", "more than can be");
  }
  const Bytes texts = reader.Take(reader.remaining(), "texts");
  CAIRN_RETURN_IF_ERROR(reader.status());
  table.texts.assign(texts.begin(), texts.end());
  return table;
}

std::vector<std::byte> EncodeKeyTable(const KeyTable& table) {
  ByteWriter writer = BeginBinary();
  writer.Le(kKeyMagic);
  writer.Le(kKeyVersion);
  writer.Le(table.first);
  writer.Le(table.ntexts);
  writer.Append(table.texts);
  return EndBinary(std::move(writer));
}

absl::StatusOr<std::vector<KeyText>> DecodeTexts(const KeyTable& table, size_t begin,
                                                 size_t nfields) {
  ByteReader reader(Bytes(table.texts).subspan(begin), "keys");
  std::vector<KeyText> texts;
  while (reader.remaining() > 0 && reader.ok()) {
    const uint64_t field = reader.Varint("field");
    if (field >= nfields) reader.Fail("field", "a number that no key field has");
    const Bytes bytes = reader.Take(reader.Varint("length"), "text");
    KeyText& text = texts.emplace_back();
    text.field = static_cast<uint32_t>(field);
    text.text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (reader.ok() && !CheckKey(text.text).ok()) reader.Fail("text", "none that a key can have");
  }
  CAIRN_RETURN_IF_ERROR(reader.status());
  return texts;
}

}  // namespace cairn::log
