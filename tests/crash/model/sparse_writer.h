// The writer of a sparse frame, and what replay makes of its files.
#ifndef CAIRN_TESTS_CRASH_MODEL_SPARSE_WRITER_H_
#define CAIRN_TESTS_CRASH_MODEL_SPARSE_WRITER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/crash/model/format.h"
#include "tests/crash/model/rules.h"
#include "tests/crash/model/sparse_directory.h"

namespace cairn::model {

// A chunk's `offset` is the number of its file.
struct SparseView {
  bool opens = false;
  bool damaged = false;
  Checkpoint checkpoint;
  State state;
  uint64_t generation = 0;
  uint64_t previous = 0;
  uint64_t end = 0;
  uint64_t durable_end = 0;
  std::optional<Receipt> receipt;  // after the last record
  struct File {
    uint64_t number = 0;
    uint64_t commit_end = 0;
  };
  std::vector<File> files;  // of all commits of the journal
};

// `index` is the name of the index file.
SparseView ReplaySparse(const Directory::Image& files, uint64_t boot, size_t header_size,
                        const SparseRules& rules, const std::string& index = kIndexName);
// The chunk files of the checkpoint and of each commit of its journal: those that its readers see.
std::set<uint64_t> FilesOf(const SparseView& view);
bool SparseChunkIsIntact(const Directory::Image& files, const ChunkRef& chunk);

struct SparseEdit {
  std::vector<uint64_t> removed;  // the last one first
  std::vector<Bytes> chunks;
  uint64_t metadata = 0;
  bool machine = false;
};

// Once its process was stopped nothing that it does has an effect.
class SparseWriter {
 public:
  // Returns true if a reader has the file of this name.
  using IsRead = std::function<bool(const std::string&)>;

  SparseWriter(Directory& directory, size_t header_size, const SparseRules& rules, Random& random,
               IsRead is_read)
      : directory_(directory),
        header_size_(header_size),
        rules_(rules),
        random_(random),
        is_read_(std::move(is_read)) {}

  static void CreateFrame(Directory& directory, size_t header_size);

  // False when the frame does not open.
  bool Open();
  const SparseView& view() const { return view_; }
  // The state that Commit is going to leave is that of the result; its chunks have files then.
  BatchRecord Stage(const SparseEdit& edit);
  void Commit(BatchRecord record, bool machine);
  void SyncCommitted();
  void MakeCheckpoint();
  // Old indexes that are not read go, and chunk files that no other index names. Nothing is staged.
  void RemoveOrphans();

 private:
  std::set<uint64_t> Named() const;
  void Confirm();
  void SyncFiles();
  void WriteReceipt(uint64_t position);

  Directory& directory_;
  size_t header_size_;
  const SparseRules& rules_;
  Random& random_;
  IsRead is_read_;
  SparseView view_;
  std::vector<uint64_t> unsynced_;
  uint64_t synced_end_ = 0;
  uint64_t synced_generation_ = 0;
};

}  // namespace cairn::model

#endif  // CAIRN_TESTS_CRASH_MODEL_SPARSE_WRITER_H_
