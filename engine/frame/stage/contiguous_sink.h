// Writes staged chunks into a frame's file: into free space, or back to back after the journal.
#ifndef CAIRN_ENGINE_FRAME_STAGE_CONTIGUOUS_SINK_H_
#define CAIRN_ENGINE_FRAME_STAGE_CONTIGUOUS_SINK_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "engine/base/extent.h"
#include "engine/base/extent_pool.h"
#include "engine/format/journal.h"
#include "engine/frame/files/frame_file.h"
#include "engine/frame/stage/chunk_sink.h"

namespace cairn::frame {

// The room for bytes after the journal. Readers still need the bytes from `limit` to `resume`.
struct JournalRoom {
  int64_t limit = INT64_MAX;
  int64_t resume = INT64_MAX;
};

class ContiguousSink final : public ChunkSink {
 public:
  // Writes to `file`, which `source` reads: into extents of `free`, which may be null, and from
  // `begin` on, which lies after every committed byte. Entries of the index count from
  // `header_len`.
  ContiguousSink(File* file, FrameFile source, int64_t header_len, int64_t begin,
                 ExtentPool* free = nullptr, JournalRoom room = {})
      : file_(file),
        source_(std::move(source)),
        header_len_(header_len),
        free_(free),
        room_(room),
        begin_(begin),
        flushed_(begin),
        announced_(begin) {}

  absl::StatusOr<int64_t> Append(Bytes chunk) override;
  bool TakeBack(const IndexEntry& entry) override;
  absl::Status Flush() override;
  // Writes the chunks in free space.
  absl::Status FlushReused();
  bool IsPending(int64_t entry) const override;
  absl::StatusOr<std::shared_ptr<const ChunkSource>> Source(const State& base) override;
  // Returns a view of the frame with all chunks that were flushed.
  absl::StatusOr<FrameView> View(const State& base);
  // Puts the commit's record and its receipt after the chunks, and returns the checksum that ends
  // the record. They must fit before the limit of the room.
  absl::StatusOr<uint64_t> AppendRecord(const format::CommitRecordParts& commit,
                                        const format::Receipt& receipt);
  // Everything before this position that is not free is in the file.
  int64_t flushed() const { return flushed_; }
  // Returns the first position after all chunks and records.
  int64_t end() const { return flushed_ + static_cast<int64_t>(pending_.size()); }

  // Leaves `size` bytes unused after the chunks, as readers of the journal skip a chunk that no
  // commit names. They must fit before the limit of the room.
  absl::Status Skip(int64_t size);
  // Puts these bytes first. Called before anything else.
  void BeginWith(std::vector<std::byte> bytes) { pending_ = std::move(bytes); }
  void SetRoom(JournalRoom room) { room_ = room; }
  // `may_reuse` is called before the first chunk goes into free space, and returns true if it may.
  void AskBeforeReuse(std::function<absl::StatusOr<bool>()> may_reuse) {
    may_reuse_ = std::move(may_reuse);
  }
  // `has_holes` is called when a chunk goes into free space, and returns true if that may lie in
  // holes. By default it does not.
  void AskForHoles(std::function<bool()> has_holes) { has_holes_ = std::move(has_holes); }
  // Refuses chunks after the journal that would end after the limit.
  void SetLimit(SizeLimit limit) { limit_ = std::move(limit); }
  // Returns true if `size` more bytes may follow.
  bool HasRoomFor(int64_t size) const { return end() <= room_.limit - size; }
  // Returns true if chunks lie after bytes that readers need, so that no record can follow them.
  bool left_journal() const { return left_journal_; }

  // Returns where the chunks went since the last call of ForgetPlaced. Of their bytes, `reused` are
  // in free space.
  const std::vector<Extent>& placed() const { return placed_; }
  // Adds a chunk that another class wrote into free space.
  void NotePlaced(const Extent& chunk) {
    placed_.push_back(chunk);
    reused_ += chunk.size();
  }
  int64_t reused() const { return reused_; }
  // Keeps the placed chunks, which a snapshot reads: TakeBack refuses until ForgetPlaced.
  void KeepPlaced() { placed_is_read_ = true; }
  void ForgetPlaced() {
    reused_ = 0;
    indexed_ = 0;
    placed_.clear();
    places_.clear();
    placed_is_read_ = false;
  }

 private:
  absl::Status Write(Bytes bytes);
  absl::StatusOr<std::optional<int64_t>> TakeFree(int64_t size);
  absl::StatusOr<std::optional<int64_t>> PutIntoFree(Bytes chunk);
  absl::Status WriteReused(int64_t position, Bytes chunk);
  absl::StatusOr<int64_t> AppendAtEnd(Bytes chunk);

  File* file_;
  FrameFile source_;
  int64_t header_len_;
  ExtentPool* free_;
  std::function<absl::StatusOr<bool>()> may_reuse_;  // empty if chunks may go into free space
  std::function<bool()> has_holes_;                  // empty if it has none
  JournalRoom room_;
  SizeLimit limit_;
  bool left_journal_ = false;
  const int64_t begin_;
  int64_t flushed_;
  int64_t announced_;  // bytes before this are on their way to the disk
  std::vector<std::byte> pending_;
  // Chunks in free space that wait, because the next chunk may lie right after them.
  int64_t reused_begin_ = 0;
  std::vector<std::byte> reused_pending_;
  std::vector<Extent> placed_;
  absl::flat_hash_map<int64_t, size_t> places_;  // the first `indexed_` of `placed_`, by begin
  size_t indexed_ = 0;
  bool placed_is_read_ = false;
  int64_t reused_ = 0;
  FrameView view_;  // of the last call of Source
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STAGE_CONTIGUOUS_SINK_H_
