// A sparse frame from its creation on, through several processes and their deaths.
#ifndef CAIRN_TESTS_CRASH_MODEL_SPARSE_LIFE_H_
#define CAIRN_TESTS_CRASH_MODEL_SPARSE_LIFE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/crash/model/examiner.h"
#include "tests/crash/model/random.h"
#include "tests/crash/model/reader_locks.h"
#include "tests/crash/model/rules.h"
#include "tests/crash/model/sparse_directory.h"
#include "tests/crash/model/sparse_writer.h"

namespace cairn::model {

class SparseLife {
 public:
  SparseLife(const Conditions& conditions, const SparseRules& rules, size_t images, uint64_t seed,
             Tally& tally);

  // The first violation; empty: there is none.
  std::string Run();

 private:
  // Locks the index that it opened, and opens chunk files by name whenever it likes. At first it
  // does not know its state.
  struct Reader {
    std::shared_ptr<const Disk> index;
    std::shared_ptr<ReaderLocks> locks;
    State state = {};
  };

  std::string RunProcess();
  void Act(SparseWriter& writer);
  void CommitOnce(SparseWriter& writer);
  std::string EndProcess();
  std::string Examine(const Directory::Image& image, uint64_t boot, size_t required) const;
  std::string FindLost(const SparseWriter& writer) const;
  SparseView ViewOf(const Disk& index) const;
  void StepArrival();
  void StepReaders();
  void Fork(const Reader& reader);
  void Leave(size_t position);
  bool IsRead(const std::string& name) const;

  Conditions conditions_;
  SparseRules rules_;
  size_t images_;
  Tally& tally_;
  Random random_;
  Directory directory_;
  History history_;
  std::vector<Reader> readers_;
  std::optional<Reader> arrival_;
  std::string harm_;  // that a reader took
  std::string lost_;  // files that nobody needs
  uint64_t chunk_id_ = 0;
  uint64_t metadata_ = 1;
  bool closed_ = false;
};

}  // namespace cairn::model

#endif  // CAIRN_TESTS_CRASH_MODEL_SPARSE_LIFE_H_
