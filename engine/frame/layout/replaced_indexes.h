// Keeps files of older indexes in the directory of a sparse frame while they are read.
#ifndef CAIRN_ENGINE_FRAME_LAYOUT_REPLACED_INDEXES_H_
#define CAIRN_ENGINE_FRAME_LAYOUT_REPLACED_INDEXES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "engine/frame/files/frame_file.h"
#include "engine/frame/replay/replay.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// Returns the chunk files that readers of an index may see: those of its checkpoint, and those of
// every commit of its journal, in ascending order. `state` is the newest state of that index.
// `names` is how many files its directory has. Errors: kDataLoss if the index names far more files
// than that, as one that was made to cost memory does, or is damaged.
absl::StatusOr<std::vector<int64_t>> FilesSeenIn(
    const FrameFile& source, const State& state,
    const std::vector<JournalFootprint::Placed>& journaled, size_t names);

// Knows which indexes lost their name and are still read, on behalf of the frame's writer.
//
// The present index is durable, so a power cut brings back no other one: all other files are there
// for readers alone. A reader opens chunk files by name when it needs them, but only those that its
// own index names, or the journal of that index. So a chunk file that neither the present index nor
// one of these names is removed, even if it came and went while an older index was read.
//
// Lists of numbers are in ascending order. Not thread-safe.
class ReplacedIndexes {
 public:
  ReplacedIndexes(std::shared_ptr<FileSystem> directory, std::shared_ptr<const FrameContext> env)
      : directory_(std::move(directory)), env_(std::move(env)) {}

  // Looks at all names of the directory: finds the indexes that other writers left, and removes
  // each file that nobody needs. `named` has the chunk files that the present index or its journal
  // names. Nothing may be staged, and no snapshot may read files that were staged.
  void Sweep(const std::vector<std::string>& names, const std::vector<int64_t>& named);
  // Returns true if there may be files that only Sweep finds.
  bool needs_sweep() const { return needs_sweep_; }

  // Adds an index that was replaced and now has the name `index`, which is empty if there is none.
  // Its readers may see the chunk files in `files`. `named` has the files of the present index.
  void Add(std::string index, std::vector<int64_t> files, const std::vector<int64_t>& named);
  // Checks for the next two of the indexes if they are still read, and removes up to `most` files.
  void ReleaseSome(int64_t most, const std::vector<int64_t>& named);
  // Gives the disk the bytes that the indexes reserve past their ends.
  void CutReserves();
  // Checks all indexes, and removes all files that nobody needs.
  void Release(const std::vector<int64_t>& named);

  // Returns true if any of the indexes was read when it was last checked.
  bool is_read() const { return !read_.empty(); }
  // Returns the chunk files that are there for these indexes, or that will be removed soon.
  std::vector<int64_t> Files(const std::vector<int64_t>& named) const;
  // Returns the bytes of all files that were removed.
  int64_t freed() const { return freed_; }

 private:
  struct Index {
    std::string name;
    // Nothing if the index cannot be read. Then it may name any file.
    std::optional<std::vector<int64_t>> files;
  };

  Index Load(const std::string& name, size_t names) const;
  bool IsSeen(int64_t number) const;
  void Ask(size_t at, const std::vector<int64_t>& named);
  void Drop(const std::vector<int64_t>& files, const std::vector<int64_t>& named);
  void RemoveFree(int64_t most);
  void Remove(const std::string& name);

  std::shared_ptr<FileSystem> directory_;
  std::shared_ptr<const FrameContext> env_;
  std::vector<Index> read_;
  size_t next_ = 0;            // the index in `read_` that was checked last
  std::vector<int64_t> free_;  // chunk files that nobody needs
  bool needs_sweep_ = false;
  int64_t freed_ = 0;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_LAYOUT_REPLACED_INDEXES_H_
