// A frame: a file, a directory or bytes in memory.
#ifndef CAIRN_FRAME_H_
#define CAIRN_FRAME_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/copy.h"
#include "cairn/options.h"
#include "cairn/reports.h"
#include "cairn/snapshot.h"
#include "cairn/types.h"
#include "cairn/writer.h"

namespace cairn {

namespace frame {
class FrameCore;
}

// Movable, thread-safe; a forked child may read and refresh it. Snapshots and writers outlive it.
class CAIRN_EXPORT Frame {
 public:
  Frame(Frame&&) noexcept;
  Frame& operator=(Frame&&) noexcept;
  ~Frame();

  // Opens a frame that any Blosc2 wrote since 2015: a file, or the directory of a sparse frame; the
  // content decides which. Reads the header, the trailer and the commits after them, and no more of
  // the index than later reads touch. A relative path is made absolute, so a later chdir has no
  // effect.
  //
  // kNotFound; kInvalidArgument for what is not a Blosc2 frame ("PATH: not a Blosc2 frame"; also an
  // empty file, and a frame whose first bytes are overwritten, see recover.h) and for a directory
  // with an offset; kDataLoss for a damaged frame; kUnimplemented; kResourceExhausted past
  // `limits`; kUnavailable while a sparse frame is being replaced, and for a reader that gets no
  // lock.
  static absl::StatusOr<Frame> Open(const std::string& path, const OpenOptions& options = {});
  // Opens a frame in memory, read-only. The caller keeps the bytes alive and unchanged as long as
  // the frame and its snapshots.
  static absl::StatusOr<Frame> OpenBuffer(Bytes cframe ABSL_ATTRIBUTE_LIFETIME_BOUND,
                                          const OpenOptions& options = {});

  // Makes an empty frame: written to a temporary name, synced, renamed. With `overwrite` it keeps
  // owner, group, permissions, access control list and extended attributes of what it replaces.
  // kAlreadyExists; kFailedPrecondition for attributes that this process may not set. After any
  // failure what was there before is still there, unless the status says that it "was replaced".
  static absl::StatusOr<Frame> Create(const std::string& path, const CreateOptions& options = {});
  // Starts a frame that appears under `path`, complete and without a dead byte, at the first Commit
  // or at Close. A writer that is destroyed before leaves nothing.
  static absl::StatusOr<Writer> BeginCreate(const std::string& path,
                                            const CreateOptions& options = {});
  // Makes an empty frame that lives in memory; ToBuffer returns its bytes.
  static absl::StatusOr<Frame> CreateInMemory(const CreateOptions& options = {});

  // The newest state that this handle has seen.
  [[nodiscard]] Snapshot snapshot() const;
  // Looks for a newer commit: one system call when there is none and the frame is mapped. A commit
  // may be seen before it is durable. A file that another program renamed to the frame's path is
  // noticed within a second.
  absl::StatusOr<Snapshot> Refresh();
  // Waits for a commit, of any process, after `seen`, and returns the newest state, as Refresh
  // does; after the timeout `seen` itself. A thread that waits is woken by the file system, within
  // a fraction of a millisecond, and takes no processor time; where that tells nothing, it looks
  // every millisecond. It also looks once a second for another file or directory that got the
  // frame's path; one that is renamed over the frame's file wakes it at once. Thread-safe: any
  // number of threads may wait.
  absl::StatusOr<Snapshot> WaitForCommit(const Snapshot& seen, std::chrono::milliseconds timeout);
  // The generations that can still be opened, the oldest first: those since the last checkpoint,
  // and what WriterOptions::keep_generations keeps. Compact and Writer::Reclaim drop older ones,
  // and so does a checkpoint that writes the frame anew: of a frame without chunks, and of new
  // metalayers where the header is longer than 512 bytes. A sparse frame has those since its
  // checkpoint. Reads the newest journal and those that the listed generations lie in; of
  // checkpoints between them the trailer, and a few bytes of the index. kInvalidArgument for a
  // negative limit; kUnavailable while other processes drop generations again and again.
  absl::StatusOr<std::vector<GenerationInfo>> History(const HistoryOptions& options = {}) const;

  // The readers, of this process too, that hold a generation before the last checkpoint which this
  // handle has seen; the oldest generation first. It is empty for a sparse frame and for one in
  // memory. Meant for people: it looks at all processes of the machine (/proc). Of those of other
  // users, neither pid nor age is known.
  absl::StatusOr<std::vector<GenerationHolder>> OldReaders() const;

  // Opens the one writer. Keeps what a killed writer committed and cuts off what it did not.
  // kUnavailable while another writer, of this or another process, holds the frame;
  // kFailedPrecondition when the frame lies inside a larger file or buffer, or another frame begins
  // where it ends.
  absl::StatusOr<Writer> OpenWriter(const WriterOptions& options = {});

  // Writes the newest committed state again, without a dead byte and sealed throughout, and gives
  // it the frame's name, owner, group and other attributes, as Create with `overwrite` does;
  // readers of older snapshots go on undisturbed. A sparse frame gets a new index and loses the
  // files that no index names. Chunks are checked, not coded again. Costs the stored bytes; in a
  // contiguous frame also up to 80 bytes of memory a chunk. A writer of such a frame goes on while
  // its chunks are copied; the writer's lock is then held for what is new, and what commits have
  // replaced meanwhile stays as dead bytes. kUnavailable while a writer holds the frame and
  // `options.wait` has passed; kDataLoss, kFailedPrecondition, or kResourceExhausted where the disk
  // has no room for the copy, and nothing changes.
  absl::StatusOr<CompactReport> Compact(const CompactOptions& options = {});

  // Copies the newest state, which Refresh would see, to a new frame, and returns it. Needs no
  // writer and disturbs none. The copy has no dead byte, no history and the state's generation, and
  // is sealed; it appears under `path`, durable, when it is complete. Chunks are checked, not coded
  // again, but for pending items, and one at a time is in memory. Costs the stored bytes; with
  // `since`, what is new, and a pass over both indexes (8 bytes of memory a chunk each, and 24 for
  // those that changed their place). kAlreadyExists; kDataLoss for damage; kUnimplemented for a
  // frame from before Blosc2 2.0; kFailedPrecondition where no increment leads from `since` here;
  // kResourceExhausted for one of over 2^24 new chunks of special values, or 64 MiB of metadata.
  absl::StatusOr<Snapshot> CopyTo(const std::string& path, const CopyOptions& options = {});

  // The newest committed state as one contiguous frame.
  absl::StatusOr<std::vector<std::byte>> ToBuffer() const;

 private:
  explicit Frame(std::shared_ptr<frame::FrameCore> core);
  std::shared_ptr<frame::FrameCore> core_;
};

}  // namespace cairn

#endif  // CAIRN_FRAME_H_
