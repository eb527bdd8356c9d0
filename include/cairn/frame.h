// A place that holds a frame: a file, a directory or bytes in memory.
#ifndef CAIRN_FRAME_H_
#define CAIRN_FRAME_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/options.h"
#include "cairn/snapshot.h"
#include "cairn/types.h"
#include "cairn/writer.h"

namespace cairn {

namespace frame {
class FrameCore;
}

// What Compact did.
struct CompactReport {
  int64_t size_before = 0;  // bytes of all files of the frame
  int64_t size_after = 0;
};

// A state that can still be opened; see OpenOptions::generation.
struct GenerationInfo {
  uint64_t generation = 0;
  bool checkpoint = false;  // every Blosc2 could read it; the others are batches of the journal
  int64_t nchunks = 0;
  int64_t nbytes = 0;  // decoded
  int64_t end = 0;     // of what it is made of, in the file
};

// Which of them History lists.
struct HistoryOptions {
  std::optional<uint64_t> before = {};  // only generations before this one
  // At most this many: the newest of them. The first generation that is listed is the `before` of
  // the next, older page.
  int64_t limit = std::numeric_limits<int64_t>::max();
};

// Movable and thread-safe. Snapshots and writers stay valid when the Frame goes.
class CAIRN_EXPORT Frame {
 public:
  Frame(Frame&&) noexcept;
  Frame& operator=(Frame&&) noexcept;
  ~Frame();

  // Opens a frame that any Blosc2 wrote since 2015: a file, or the directory of a sparse frame.
  // What it is follows from its content. Costs the header, the trailer, the commits behind them and
  // no more than the pages of the index that reads touch. A relative path means the file that it
  // leads to now, wherever the process goes. kNotFound, kDataLoss, kUnimplemented;
  // kResourceExhausted for what passes `limits`; kInvalidArgument for a directory with an offset;
  // kUnavailable while a sparse frame is being replaced, and for a reader that gets no lock.
  static absl::StatusOr<Frame> Open(const std::string& path, const OpenOptions& options = {});
  // The same for bytes that the caller keeps alive and unchanged; read-only.
  static absl::StatusOr<Frame> OpenBuffer(Bytes cframe, const OpenOptions& options = {});

  // Makes an empty frame: written beside, synced, renamed. With `overwrite` it keeps owner, group,
  // permissions, access control list and extended attributes of what it replaces. kAlreadyExists;
  // kFailedPrecondition for those that this process may not give. After any failure nothing is
  // there that was not before, unless the status says that the old one "was replaced".
  static absl::StatusOr<Frame> Create(const std::string& path, const CreateOptions& options = {});
  // Starts a frame that appears under `path`, whole and without a dead byte, at the first Commit or
  // at Close. If the writer goes before that, nothing stays behind.
  static absl::StatusOr<Writer> Build(const std::string& path, const CreateOptions& options = {});
  // Makes an empty frame that lives in memory; ToBuffer gives its bytes.
  static absl::StatusOr<Frame> CreateInMemory(const CreateOptions& options = {});

  // The newest state that this handle has seen.
  Snapshot snapshot() const;
  // Looks for a newer commit: one system call when there is none and the frame is mapped. A commit
  // may be seen before it is durable. A file that took the frame's name without Cairn's doing is
  // noticed within a second.
  absl::StatusOr<Snapshot> Refresh();
  // The states that can still be opened, the oldest first. Compact and Writer::Reclaim drop older
  // ones, and so does a checkpoint that writes the frame anew: of one without chunks, and of new
  // metalayers where the header is longer than 512 bytes. A sparse frame has the newest only. Costs
  // the newest journal and those that the page lies in, each from its checkpoint up to the page; of
  // checkpoints between them the trailer, and a few bytes of the index. kInvalidArgument for a
  // negative limit; kUnavailable while other processes give up states again and again.
  absl::StatusOr<std::vector<GenerationInfo>> History(const HistoryOptions& options = {}) const;

  // Recovers what a dead writer left, and cuts what else lies behind the frame. kUnavailable while
  // another writer, here or in another process, holds the frame; kFailedPrecondition when the frame
  // lies inside a larger file or buffer, or another frame begins where it ends.
  absl::StatusOr<Writer> OpenWriter(const WriterOptions& options = {});

  // Writes the newest committed state again, without a dead byte and sealed throughout, and gives
  // it the frame's name, owner, group and other attributes, as Create with `overwrite` does;
  // readers of older snapshots go on undisturbed. A sparse frame gets a new index and loses the
  // files that no index names. Chunks are checked, not coded again. Costs the stored bytes.
  // kUnavailable while a writer holds the frame; kDataLoss, kFailedPrecondition, or
  // kResourceExhausted where the disk has no room for the copy, and nothing changes. `progress`,
  // when given, is called with the chunks done and returns false to stop: kCancelled, and nothing
  // changes.
  absl::StatusOr<CompactReport> Compact(absl::FunctionRef<bool(int64_t)> progress = [](int64_t) {
    return true;
  });

  // The newest committed state as one contiguous frame.
  absl::StatusOr<std::vector<std::byte>> ToBuffer() const;

 private:
  explicit Frame(std::shared_ptr<frame::FrameCore> core);
  std::shared_ptr<frame::FrameCore> core_;
};

}  // namespace cairn

#endif  // CAIRN_FRAME_H_
