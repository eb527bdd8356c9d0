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
  // The receipt right after a commit record.
  std::optional<format::Receipt> receipt = {};

  int64_t end() const {
    return begin + std::ssize(bytes) + (receipt.has_value() ? receipt->size : 0);
  }
};

// Reads records, and the chunks back to back before the records that name them. All reads are
// system calls, because a writer may cut away bytes that no reader has accepted, and with them
// pages of a mapping. Not thread-safe.
class JournalReader {
 public:
  // `source` must outlive the reader. `memory` is for the bytes that it reads.
  JournalReader(const FrameFile& source, int64_t position, std::vector<std::byte> memory = {})
      : source_(source),
        begin_(position),
        position_(position),
        window_(std::move(memory)),
        window_begin_(position) {}

  // Returns the next record, or nothing if the file does not continue with complete chunks and an
  // intact record.
  absl::StatusOr<std::optional<FoundRecord>> Next();
  void GoTo(int64_t position) { position_ = position; }
  // From now on, finds nothing that ends after `end`.
  void StopAt(int64_t end) { end_ = end; }
  // Returns where Next ended: after the record, or at bytes that are neither chunk nor record.
  int64_t position() const { return position_; }
  // The last chunk that was skipped, and the number of skipped chunks.
  struct SkippedChunk {
    int64_t position = 0;
    std::array<std::byte, chunk::kHeaderSize> header{};
    int64_t count = 0;
  };
  const SkippedChunk& skipped() const { return skipped_; }
  // Returns true if there is anything except zeros at the position, or not far after it.
  absl::StatusOr<bool> StoppedAtBytes();
  // Returns true if there is anything except zeros within that many bytes of the position.
  absl::StatusOr<bool> StoppedAtBytes(size_t size);
  // Returns bytes that were read on the way here, if all of them are still in memory; else none.
  Bytes Seen(int64_t begin, int64_t size) const;
  // Returns the memory, for the next reader. This one then has only position() and skipped().
  std::vector<std::byte> TakeMemory() { return std::move(window_); }
  // Looks at every byte from `begin` on for intact records, wherever they lie, until `visit`
  // returns true. Bytes up to `seen` are read again. Returns false if that passes the budget. The
  // position stays.
  absl::StatusOr<bool> Search(int64_t begin, int64_t seen,
                              absl::FunctionRef<bool(FoundRecord)> visit);

 private:
  // Returns true if the reader may read this many bytes again. Only a journal that was made to
  // waste time needs more.
  absl::StatusOr<bool> Spend(int64_t size);
  // Returns the bytes from the position on: `size` of them or more, or all that there are.
  absl::StatusOr<Bytes> Ahead(size_t size);
  // Extends the window up to there, or to the end of the file.
  absl::Status ReadUpTo(int64_t end);
  void ForgetPassed();
  // Returns the record at the position, if there is one.
  absl::StatusOr<std::optional<FoundRecord>> ReadHere(const format::RecordHead& head);
  absl::StatusOr<std::optional<FoundRecord>> Take(const format::RecordHead& head);
  absl::Status TakeReceipt(FoundRecord& commit);

  const FrameFile& source_;
  const int64_t begin_;
  int64_t position_;
  int64_t end_ = INT64_MAX;
  // The bytes that were read last are the first `filled_` ones. The window grows during reading, so
  // that a long journal of small commits takes few calls.
  std::vector<std::byte> window_;
  size_t filled_ = 0;
  int64_t window_begin_;
  SkippedChunk skipped_;
  std::optional<ScanBudget> budget_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_REPLAY_JOURNAL_READER_H_
