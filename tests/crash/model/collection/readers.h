// Readers beside the writer of a collection in the model.
#ifndef CAIRN_TESTS_CRASH_MODEL_COLLECTION_READERS_H_
#define CAIRN_TESTS_CRASH_MODEL_COLLECTION_READERS_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/crash/model/collection/machine.h"
#include "tests/crash/model/collection/reading.h"
#include "tests/crash/model/collection/rules.h"

namespace cairn::model {

// Up to three readers, each at a state of its own. They open members late, and read them again.
class CollectionReaders {
 public:
  CollectionReaders(Machine& machine, const CollectionRules& rules, Random& random,
                    const History& history)
      : machine_(machine), rules_(rules), random_(random), history_(history) {}

  // Returns true if a reader may need states of the commits [first, end). A writer asks.
  bool AnyIn(Txn first, Txn end) const;
  void Clear() { readers_.clear(); }
  // Makes a writer a reader of this commit.
  void Keep(const void* writer, Txn oldest) { kept_[writer] = oldest; }
  void LetGo(const void* writer) { kept_.erase(writer); }
  // Says what a reader saw that must not be; empty: nothing.
  const std::string& harm() const { return harm_; }
  uint64_t checks() const { return checks_; }

  void Step();

 private:
  enum class Phase { kEnters, kKnows, kReads };
  struct Reader {
    Phase phase = Phase::kEnters;
    bool in_entry = true;
    uint64_t pace = 50;
    std::optional<Txn> lock = {};
    Ledger ledger = {};
    Truth truth = {};
    std::map<MemberId, MemberView> opened = {};
  };

  void Continue(Reader& reader);
  void Enter(Reader& reader);
  void OpenSome(Reader& reader);
  void Check(const MemberView& member);
  void Harm(const std::string& what);

  Machine& machine_;
  const CollectionRules& rules_;
  Random& random_;
  const History& history_;
  std::vector<Reader> readers_;
  std::map<const void*, Txn> kept_;  // by writer
  std::string harm_;
  uint64_t checks_ = 0;
};

}  // namespace cairn::model

#endif  // CAIRN_TESTS_CRASH_MODEL_COLLECTION_READERS_H_
