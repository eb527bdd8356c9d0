// The vlmetalayers with the texts of a log's key fields. Texts are only added. New texts are in the
// first table; a full table is added to the next, so that a few new texts do not write all again.
//
//   magic "CLGK" | version u32 | texts in the tables after this one u64 | texts u64 | for each:
//   number of the key field varint, length varint, text
#ifndef CAIRN_ENGINE_LOG_KEYS_KEY_TABLE_H_
#define CAIRN_ENGINE_LOG_KEYS_KEY_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/types.h"

namespace cairn::log {

inline constexpr std::string_view kKeyLayers[] = {"cairn.log.keys0", "cairn.log.keys1",
                                                  "cairn.log.keys2"};
inline constexpr int64_t kMaxKeyLength = 65'535;
// Bytes of the texts of all key fields in their tables.
inline constexpr int64_t kMaxKeyBytes = 16 << 20;

struct KeyText {
  uint32_t field = 0;  // number of the field among the log's key fields
  std::string text;
  bool operator==(const KeyText&) const = default;
};

struct KeyTable {
  int64_t first = 0;  // texts in the tables after this one, which are older
  int64_t ntexts = 0;
  std::vector<std::byte> texts = {};  // encoded

  int64_t end() const { return first + ntexts; }
  void Add(const KeyText& text);
  // Adds the texts of a table that begins where this one ends.
  void Add(const KeyTable& more);
};

// Checks a text of a key. Errors: kInvalidArgument if it is empty, too long, contains a zero or is
// not UTF-8.
absl::Status CheckKey(std::string_view text);

// Parses a table of a log with this many key fields. Errors: kDataLoss if it is damaged;
// kUnimplemented if a newer Cairn wrote it.
absl::StatusOr<KeyTable> ParseKeyTable(Bytes content);
std::vector<std::byte> EncodeKeyTable(const KeyTable& table);
// Decodes the texts from byte `begin` on. Errors: kDataLoss for texts that no log with this many
// key fields has.
absl::StatusOr<std::vector<KeyText>> DecodeTexts(const KeyTable& table, size_t begin,
                                                 size_t nfields);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_KEYS_KEY_TABLE_H_
