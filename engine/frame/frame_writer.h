// Commits what a stager made.
//
// A commit, for now, is a checkpoint:
//   1. Chunks go behind the committed end of the frame as they are staged. Nothing refers to them,
//      so a crash leaves the old state.
//   2. Index and trailer go behind the chunks; sync. Still nothing refers to them.
//   3. The header's first sector is written in one piece; sync. It alone moves the frame from the
//      old state to the new one, and 512 aligned bytes reach the disk whole or not at all.
// No other committed byte is ever overwritten: old index and trailer become dead bytes, so every
// snapshot stays good. What cannot be done that way (an empty frame, whose trailer must follow its
// header; metalayers behind the first sector) is written to a new file that takes the old one's
// name.
#ifndef CAIRN_ENGINE_FRAME_FRAME_WRITER_H_
#define CAIRN_ENGINE_FRAME_FRAME_WRITER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/options.h"
#include "engine/frame/checkpoint.h"
#include "engine/frame/frame_core.h"
#include "engine/frame/new_file.h"
#include "engine/frame/stager.h"

namespace cairn::frame {

// Not thread-safe. After a failed write every call gives kFailedPrecondition.
class FrameWriter {
 public:
  // Opens the writer of a frame that is there. kUnavailable while another one holds it.
  static absl::StatusOr<std::unique_ptr<FrameWriter>> Open(std::shared_ptr<FrameCore> core,
                                                           const WriterOptions& options);
  // Starts a frame that is nowhere yet: it appears at `place` with the first commit. With `plain`
  // and no fingerprints that commit leaves out both of Cairn's layers.
  static absl::StatusOr<std::unique_ptr<FrameWriter>> Build(FramePlace place,
                                                            const CreateOptions& options,
                                                            bool plain);
  ~FrameWriter();

  // The stager, when edits are possible.
  absl::StatusOr<Stager*> GetStager();

  // The committed state with the staged edits on top.
  absl::StatusOr<std::shared_ptr<const State>> Staged();
  absl::StatusOr<std::shared_ptr<const State>> Commit();
  void Rollback();
  absl::Status Close();

  const std::shared_ptr<FrameCore>& core() const { return core_; }

 private:
  // A file that is nowhere yet.
  struct Unpublished {
    NewFile file;
    bool replace = false;  // whether it may take the name of another
    bool plain = false;
    bool array = false;  // begins as an n-dimensional array of zeros
  };

  FrameWriter(std::shared_ptr<FrameCore> core, std::shared_ptr<File> file, FrameSource source,
              std::shared_ptr<const State> base, StagerOptions options);

  absl::Status CheckUsable() const;
  void StartStaging(int64_t begin);
  absl::Status StageNewArray();
  absl::Status StartOver();

  absl::Status Confirm();
  absl::Status Publish();
  bool FitsInPlace() const;
  CheckpointPlan PlanAt(int64_t index_begin, bool new_file) const;
  absl::Status CommitInPlace();
  absl::Status CommitFirst();
  absl::Status CommitToNewFile();
  absl::Status WriteWhole(File& file, const Draft& draft, int64_t chunks_end) const;
  absl::StatusOr<Draft> CopyChunks(ChunkLog& log);
  absl::Status Adopt(std::shared_ptr<File> file);
  absl::Status CutFile();

  std::shared_ptr<FrameCore> core_;
  std::shared_ptr<File> file_;  // holds the lock
  FrameSource source_;          // the same file, for reading; without the lock
  std::shared_ptr<const State> base_;
  StagerOptions options_;
  FingerprintType fingerprint_ = FingerprintType::k64Bit;
  std::optional<Unpublished> unpublished_;  // file_, while it has no name
  std::optional<Stager> stager_;
  bool committed_ = false;
  int64_t shared_end_ = 0;  // staged bytes before this are read by a snapshot, so they must stay
  absl::Status unusable_;   // the first failure, or that the writer is closed
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_FRAME_WRITER_H_
