// Reads the records of a journal, and skips the chunks between them.
#ifndef CAIRN_ENGINE_FRAME_REPLAY_JOURNAL_READER_H_
#define CAIRN_ENGINE_FRAME_REPLAY_JOURNAL_READER_H_

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/base/scan_budget.h"
#include "engine/chunk/header.h"
#include "engine/format/journal.h"
#include "engine/frame/files/frame_file.h"

namespace cairn::frame {

// An intact record, in a copy of its own.
struct FoundRecord {
  format::RecordKind kind = format::RecordKind::kCommit;
  int64_t begin = 0;
  std::vector<std::byte> bytes;
  // Of a commit record: the one right after it.
  std::optional<format::Receipt> receipt = {};

  int64_t end() const {
    return begin + std::ssize(bytes) + (receipt.has_value() ? receipt->size : 0);
  }
};

// Chunks lie back to back before the record that names them. Everything is read by system calls: a
// writer may cut away what no reader has accepted, and with it pages of a map. Not thread-safe.
class JournalReader {
 public:
  // `source` must outlive the reader. `memory` is for what it reads.
  JournalReader(const FrameFile& source, int64_t position, std::vector<std::byte> memory = {})
      : source_(source),
        begin_(position),
        position_(position),
        window_(std::move(memory)),
        window_begin_(position) {}

  // The next record; nothing when the file does not go on with complete chunks and an intact one.
  absl::StatusOr<std::optional<FoundRecord>> Next();
  void GoTo(int64_t position) { position_ = position; }
  // From now on nothing is found that ends after `end`.
  void StopAt(int64_t end) { end_ = end; }
  // Where that ended: after the record, or at what is neither chunk nor record.
  int64_t position() const { return position_; }
  // The last chunk that was skipped, and how many were.
  struct SkippedChunk {
    int64_t position = 0;
    std::array<std::byte, chunk::kHeaderSize> header{};
    int64_t count = 0;
  };
  const SkippedChunk& skipped() const { return skipped_; }
  // Whether there is anything but zeros at the position, or not far after it.
  absl::StatusOr<bool> StoppedAtBytes();
  // Bytes that were read on the way here, if they are all at hand still; else none.
  Bytes Seen(int64_t begin, int64_t size) const;
  // The memory, for the next reader. This one has only position() and skipped() left.
  std::vector<std::byte> TakeMemory() { return std::move(window_); }
  // Looks at every byte from `begin` on for intact records, wherever they lie, until `visit` says
  // that it has seen enough. Bytes up to `seen` are looked at once more: false when that passes the
  // budget. The position stays.
  absl::StatusOr<bool> Search(int64_t begin, int64_t seen,
                              absl::FunctionRef<bool(FoundRecord)> visit);

 private:
  // Whether the reader may look once more at so many bytes. Only a journal that was made to waste
  // time needs so much that it may not.
  absl::StatusOr<bool> Spend(int64_t size);
  // The bytes from the position on: `size` of them or more, or all that there are.
  absl::StatusOr<Bytes> Ahead(size_t size);
  // The window reaches that far, or to the end of the file.
  absl::Status ReadUpTo(int64_t end);
  void ForgetPassed();
  // The record at the position, if it is one.
  absl::StatusOr<std::optional<FoundRecord>> ReadHere(const format::RecordHead& head);
  absl::StatusOr<std::optional<FoundRecord>> Take(const format::RecordHead& head);
  absl::Status TakeReceipt(FoundRecord& commit);

  const FrameFile& source_;
  const int64_t begin_;
  int64_t position_;
  int64_t end_ = INT64_MAX;
  // What was read last, in the first `filled_` bytes. Grows while it is read through, so that a
  // long journal of small commits takes few calls.
  std::vector<std::byte> window_;
  size_t filled_ = 0;
  int64_t window_begin_;
  SkippedChunk skipped_;
  std::optional<ScanBudget> budget_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_REPLAY_JOURNAL_READER_H_
