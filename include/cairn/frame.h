// Frame: the handle of a Blosc2 frame, which is a file, a directory or a buffer in memory.
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

// Opens, creates and watches one frame. A Snapshot reads and copies its data, and a Writer changes
// it.
// A Frame is movable and thread-safe. Its snapshots and writers may outlive it. A forked child may
// read and refresh it.
//
// Each call lists the errors that a caller can act on. It may also return those of the file system,
// such as kPermissionDenied, or kResourceExhausted if the disk is full.
class CAIRN_EXPORT Frame {
 public:
  Frame(Frame&&) noexcept;
  Frame& operator=(Frame&&) noexcept;
  ~Frame();

  // Opens the frame at `path`: a file, or the directory of a sparse frame. Any Blosc2 library since
  // 2015 may have written it. A relative path is made absolute, so a later chdir has no effect.
  //
  // Reads the header, the trailer and the commits after the trailer. This and later reads load only
  // the parts of the index that they need.
  //
  // A frame whose trailer or journal alone is damaged still opens, read-only: see
  // FrameInfo::trailer_damaged and FrameInfo::journal_damaged.
  //
  // Errors:
  //   kNotFound if nothing exists at `path`, or if `options.generation` is no longer kept.
  //   kInvalidArgument if the content is not a Blosc2 frame ("PATH: not a Blosc2 frame"). This
  //     includes an empty file, and a frame whose first bytes were overwritten; see recover.h.
  //   kInvalidArgument if `path` is a directory and `options.offset` is not 0.
  //   kDataLoss if the frame is damaged.
  //   kUnimplemented if the frame needs a format version or a feature that this build lacks.
  //   kResourceExhausted if the frame exceeds `options.limits`.
  //   kUnavailable if a sparse frame is being replaced, if the reader gets no lock, or if other
  //     processes keep changing the header, or keep dropping generations, during the call.
  static absl::StatusOr<Frame> Open(const std::string& path, const OpenOptions& options = {});
  // Opens a contiguous frame in memory, read-only. The caller keeps `cframe` alive and unchanged
  // while the frame or any of its snapshots exists.
  // Errors: as for Open.
  static absl::StatusOr<Frame> OpenBuffer(Bytes cframe ABSL_ATTRIBUTE_LIFETIME_BOUND,
                                          const OpenOptions& options = {});

  // Creates an empty frame at `path`. The frame is written under a temporary name, synced and
  // renamed. After a failure, whatever was at `path` is still there, unless the message says that
  // it "was replaced".
  //
  // With `options.overwrite`, the new frame replaces an old one. It keeps the owner, the group, the
  // permissions, the access control list and the extended attributes of the old frame.
  //
  // Errors:
  //   kAlreadyExists if something exists at `path` and `options.overwrite` is false.
  //   kInvalidArgument if `options` contradict each other or are out of range.
  //   kUnimplemented if this build cannot apply the codec or a filter of `options`.
  //   kFailedPrecondition if this process may not set the attributes of the old frame.
  //   kFailedPrecondition if a directory at `path` is not a sparse frame, or also contains other
  //     files.
  //   kFailedPrecondition if the lock file of C-Blosc2 next to `path` cannot be used; the message
  //     says what to do.
  //   kFailedPrecondition if `path` is in an object store that ignores the conditions of puts.
  //   kUnavailable if the frame to replace has a writer, or is sparse and being read, or if a
  //     program of C-Blosc2 holds the lock file for longer than 100 ms.
  static absl::StatusOr<Frame> Create(const std::string& path, const CreateOptions& options = {});
  // Begins a new frame. Nothing appears at `path` until the first Commit or Close: then the frame
  // is there, complete and without dead bytes. A writer that is destroyed earlier leaves nothing.
  //
  // Errors: as for Create. kUnavailable, and kFailedPrecondition for a directory or a lock file,
  // come only from that Commit or Close. It also returns kAlreadyExists if something has taken the
  // path in the meantime.
  static absl::StatusOr<Writer> BeginCreate(const std::string& path,
                                            const CreateOptions& options = {});
  // Opens the frame at `path`, or creates an empty one if nothing exists there. Processes that call
  // it at the same time get the same frame. Of an existing frame, `options` change nothing: it is
  // opened with their registry, executor and file system. Use Open for other OpenOptions.
  //
  // Errors: as for Open and Create, except kNotFound; kInvalidArgument if `options.overwrite` is
  // set.
  static absl::StatusOr<Frame> OpenOrCreate(const std::string& path,
                                            const CreateOptions& options = {});
  // Creates an empty frame in memory. Snapshot::ToBuffer returns its bytes.
  //
  // Errors:
  //   kInvalidArgument if `options.layout` is sparse, which needs a directory.
  //   kInvalidArgument and kUnimplemented as for Create.
  static absl::StatusOr<Frame> CreateInMemory(const CreateOptions& options = {});

  // Returns the path of the frame, or of the directory of a sparse frame, as an absolute path.
  // Empty for a frame in memory.
  [[nodiscard]] std::string path() const;
  // Returns the newest state that this handle has seen. Does not look for newer commits.
  [[nodiscard]] Snapshot snapshot() const;
  // Looks for newer commits and returns the newest state. If there is none and the frame is mapped,
  // a call costs one system call. A file that another program renames to the frame's path is
  // noticed within a second.
  //
  // A commit may be visible before it is durable; see OpenOptions::durable_only. If the frame was
  // removed, the handle keeps the state that it has, and Refresh returns it.
  //
  // Errors: as for Open, if the newer state cannot be read. The handle then keeps the state that it
  // has.
  absl::StatusOr<Snapshot> Refresh();
  // Waits until any process has made a commit after `seen`, and returns the newest state, as
  // Refresh does. Returns `seen` itself after the timeout. Thread-safe: any number of threads may
  // wait.
  //
  // The file system wakes the thread within a fraction of a millisecond of the commit, and the
  // thread uses no CPU while it waits. If the file system cannot notify, the thread polls every
  // millisecond.
  //
  // A file that is renamed over the frame's file wakes the thread at once. Any other file or
  // directory that takes over the path is noticed within a second.
  //
  // Errors: as for Refresh.
  absl::StatusOr<Snapshot> WaitForCommit(const Snapshot& seen, std::chrono::milliseconds timeout);
  // Lists the generations that can still be opened, oldest first: the last checkpoint, the commits
  // after it, and the older generations that WriterOptions::keep_generations keeps. A sparse frame
  // has no generations before its last checkpoint.
  //
  // Older generations are dropped by Compact, by Writer::Reclaim and by a checkpoint that must
  // rewrite the file. A checkpoint rewrites the file if the frame has no chunks, or if metalayers
  // changed and the header is longer than 512 bytes.
  //
  // Reads the newest journal and the journals that contain the listed generations. Of the
  // checkpoints between them it reads the trailer and a few bytes of the index.
  //
  // Errors:
  //   kInvalidArgument if `options.limit` is negative.
  //   kDataLoss if a checkpoint that it must read is damaged.
  //   kUnavailable if other processes keep dropping generations during the call.
  absl::StatusOr<std::vector<GenerationInfo>> History(const HistoryOptions& options = {}) const;

  // Lists the readers that hold a generation older than the last checkpoint that this handle has
  // seen, oldest generation first. Readers in this process are included. The list is empty for a
  // sparse frame and for a frame in memory.
  //
  // Use it for diagnosis: it looks at all processes of the machine (/proc). For the processes of
  // other users, neither the pid nor the age is known.
  absl::StatusOr<std::vector<GenerationHolder>> OldReaders() const;

  // Opens the only writer of the frame. It keeps every commit of a writer that was killed, and cuts
  // off what that writer had not committed. A frame in an object store may have several writers.
  //
  // Errors:
  //   kInvalidArgument if `options` are out of range.
  //   kUnavailable if another writer, in this or another process, holds the frame for longer than
  //     `options.wait`, or if a program of C-Blosc2 holds the lock file for longer than that and
  //     100 ms.
  //   kFailedPrecondition if the frame lies inside a larger file or in the caller's buffer, or if
  //     another frame begins where this one ends.
  //   kFailedPrecondition if this handle is read-only: it was opened with a generation or with
  //     durable_only, or the frame predates Blosc2 2.0.
  //   kFailedPrecondition if the parent of this forked process opened the handle.
  //   kFailedPrecondition if the lock file of C-Blosc2 or the object store cannot be used, as for
  //     Create.
  //   kFailedPrecondition if another program is replacing the file.
  //   kDataLoss if the trailer, the index or the journal is damaged; see recover.h.
  absl::StatusOr<Writer> OpenWriter(const WriterOptions& options = {});

  // Rewrites the newest committed state without dead bytes and seals all of it. The new file takes
  // over the name, the owner, the group and the other attributes, as Create with `overwrite` does.
  // Readers of older snapshots are not disturbed. A sparse frame gets a new index and loses the
  // chunk files that no index names.
  //
  // Chunks are verified but not recompressed. The cost is a copy of all stored bytes. A contiguous
  // frame also needs up to 80 bytes of memory per chunk.
  //
  // A writer of a contiguous frame can keep committing while its chunks are copied. Compact then
  // waits until that writer closes or suspends, takes the writer's lock and copies what is new.
  // Chunks that commits replaced during the copy remain as dead bytes.
  //
  // Errors, after which nothing has changed:
  //   kUnavailable if a writer holds the frame for longer than `options.wait`.
  //   kDataLoss if a chunk, the trailer, the index or the journal is damaged.
  //   kFailedPrecondition as for OpenWriter, or if this process may not set the attributes of the
  //     old file.
  //   kResourceExhausted if the disk has no room for the copy.
  //   kCancelled if `options.progress` returns false.
  absl::StatusOr<CompactReport> Compact(const CompactOptions& options = {});

 private:
  explicit Frame(std::shared_ptr<frame::FrameCore> core);
  std::shared_ptr<frame::FrameCore> core_;
};

}  // namespace cairn

#endif  // CAIRN_FRAME_H_
