// Readers of the file next to the writer. Each reads the header, registers the generation of its
// checkpoint, looks at the header again, and then sees one state for as long as it lives, or
// follows the writer until it makes another checkpoint. Processes may fork: then a child continues
// with what its parent has opened.
#ifndef CAIRN_TESTS_CRASH_MODEL_READERS_H_
#define CAIRN_TESTS_CRASH_MODEL_READERS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/crash/model/disk.h"
#include "tests/crash/model/random.h"
#include "tests/crash/model/reader_locks.h"
#include "tests/crash/model/replay.h"
#include "tests/crash/model/rules.h"
#include "tests/crash/model/space.h"

namespace cairn::model {

class Readers final : public Registrations {
 public:
  Readers(const Disk& disk, const Conditions& conditions, const Rules& rules, Random& random)
      : disk_(disk), conditions_(conditions), rules_(rules), random_(random) {}

  bool AnyIn(uint64_t first, uint64_t end) const override;
  // A reader may come, continue or go away. Then every reader's state must be what it was.
  // What it reads then must hold the commits up to `acknowledged`.
  void Step(uint64_t acknowledged);
  // Their machine lost power.
  void Clear() { readers_.clear(); }
  // The first harm that a reader took; empty: none.
  const std::string& harm() const { return harm_; }

 private:
  enum class Phase : uint8_t { kHasHeader, kRegistered, kReads, kFollows };
  struct Reader {
    std::shared_ptr<ReaderLocks> file;  // as its process has it open
    Bytes header;
    uint64_t generation = 0;  // of the checkpoint
    Phase phase = Phase::kHasHeader;
    bool follows = false;  // the writer; else it stays with what it read
    Replayed view;
    Bytes index;    // and trailer
    Bytes summary;  // both are read when they are needed
  };

  void Come();
  void Fork(const std::shared_ptr<ReaderLocks>& file);
  void Leave(size_t position);
  void GoOn(Reader& reader);
  void Read(Reader& reader);
  void Follow(Reader& reader);
  bool HasNewHeader(const Reader& reader) const;
  void TakeView(Reader& reader);
  bool IsUndisturbed(const Reader& reader) const;

  const Disk& disk_;
  const Conditions& conditions_;
  const Rules& rules_;
  Random& random_;
  std::vector<Reader> readers_;
  uint64_t acknowledged_ = 0;
  std::string harm_;
};

}  // namespace cairn::model

#endif  // CAIRN_TESTS_CRASH_MODEL_READERS_H_
