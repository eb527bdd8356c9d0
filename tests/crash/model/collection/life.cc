#include "tests/crash/model/collection/life.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace cairn::model {

CollectionLife::CollectionLife(const CollectionRules& rules, uint64_t seed, CollectionTally& tally)
    : rules_(rules),
      tally_(tally),
      random_(seed),
      machine_(random_),
      readers_(machine_, rules_, random_, history_) {}

std::string CollectionLife::Run() {
  CollectionWriter::CreateCollection(machine_, ids_);
  machine_.OnStep([this] { readers_.Step(); });
  const uint64_t processes = 2 + random_.Below(4);
  std::string violation;
  for (uint64_t i = 0; i < processes && violation.empty(); ++i) violation = RunProcess();
  if (violation.empty()) violation = ChangeOutside();
  tally_.checks += readers_.checks();
  ++tally_.lives;
  return violation;
}

std::string CollectionLife::RunProcess() {
  constexpr uint64_t kMost[] = {8, 40, 100, 300};
  machine_.StartProcess(random_.Below(kMost[random_.Below(4)]), random_.Percent(20));
  std::string violation = random_.Percent(35) ? RunSharers() : RunWriter();
  machine_.StartProcess(std::nullopt, false);
  if (!readers_.harm().empty()) return readers_.harm();
  // They may have seen a commit that a failed sync takes back.
  if (machine_.sync_failed()) readers_.Clear();
  return violation.empty() ? EndProcess() : violation;
}

std::string CollectionLife::RunWriter() {
  closed_ = false;
  CollectionWriter writer({machine_, rules_, random_, readers_, ids_}, history_);
  const std::string refusal = writer.Open();
  if (!refusal.empty()) return "writer: " + refusal;
  if (std::string violation = Adopt(writer.ledger().newest, writer.running()); !violation.empty()) {
    return violation;
  }
  if (writer.running()) machine_.ForgetFailure();
  for (uint64_t acts = random_.Below(40); acts > 0 && writer.running(); --acts) {
    writer.Act();
    if (!readers_.harm().empty()) return readers_.harm();
    if (writer.running() && random_.Percent(3)) backup_ = CopyOf(machine_.files());
  }
  if (random_.Percent(40)) {
    writer.Close();
    closed_ = writer.running();
  }
  return writer.problem().empty() ? "" : "writer: " + writer.problem();
}

std::string CollectionLife::RunSharers() {
  closed_ = false;
  CollectionWriter::Holders holders;
  const MemberWriter::Site site = {machine_, rules_, random_, readers_, ids_};
  struct Sharer {
    std::unique_ptr<CollectionWriter> writer;
    Machine::Process process;
  };
  std::vector<Sharer> sharers(2 + random_.Below(2));
  for (Sharer& sharer : sharers) {
    sharer.writer = std::make_unique<CollectionWriter>(site, history_, &holders);
  }
  // The first one finds nobody, and opens as if it were alone.
  CollectionWriter& first = *sharers.front().writer;
  if (const std::string refusal = first.Open(); !refusal.empty()) return "writer: " + refusal;
  if (std::string violation = Adopt(first.ledger().newest, first.running()); !violation.empty()) {
    return violation;
  }
  if (first.running()) machine_.ForgetFailure();
  sharers.front().process = machine_.SwitchTo({});
  // Others may die or fail, too. The last writer goes on to the end.
  for (size_t i = 1; i + 1 < sharers.size(); ++i) {
    sharers[i].process = {.operations_left = random_.Below(200), .may_fail_sync = true};
  }
  for (uint64_t acts = random_.Below(80); acts > 0; --acts) {
    Sharer& sharer = sharers[random_.Below(sharers.size())];
    if (sharer.writer == nullptr) continue;
    std::string violation = ActOf(*sharer.writer, sharer.process);
    if (!violation.empty()) return violation;
    // A writer that failed dies after a while.
    const bool has_failed = !sharer.writer->running() && random_.Percent(30);
    if (!sharer.process.running || has_failed) sharer.writer.reset();
  }
  return "";
}

std::string CollectionLife::ActOf(CollectionWriter& writer, Machine::Process& process) {
  machine_.SwitchTo(process);
  if (writer.running()) writer.ActBesideOthers();
  process = machine_.SwitchTo({});
  if (!readers_.harm().empty()) return readers_.harm();
  // They may have seen a commit that a failed sync takes back.
  if (machine_.sync_failed()) readers_.Clear();
  if (!writer.problem().empty()) return "writer: " + writer.problem();
  if (!random_.Percent(15)) return "";
  // After a failed sync the cache may lack what is restored when a member is needed.
  std::string violation;
  if (!machine_.sync_failed()) violation = Examine(machine_.files(), machine_.boot());
  if (!violation.empty()) return "beside others: " + violation;
  violation = Examine(machine_.PossibleImage(), machine_.boot() + 1);
  return violation.empty() ? "" : "power cut beside others: " + violation;
}

// The newest commit that a writer found is where history goes on. It is durable when the writer has
// opened.
std::string CollectionLife::Adopt(Txn newest, bool durable) {
  if (newest < history_.acknowledged) return "an acknowledged commit is lost";
  if (newest >= history_.states.size()) return "a commit that was not made";
  history_.states.resize(newest + 1);
  if (durable) history_.acknowledged = newest;
  return "";
}

std::string CollectionLife::EndProcess() {
  // After a failed sync the cache may lack what the next writer restores.
  if (!machine_.sync_failed()) {
    std::string violation = Examine(machine_.files(), machine_.boot());
    if (!violation.empty()) return "killed: " + violation;
  }
  if (closed_) {
    std::string violation = ExamineClosed();
    if (!violation.empty()) return "closed: " + violation;
  }
  for (int i = 0; i < 8; ++i) {
    std::string violation = Examine(machine_.PossibleImage(), machine_.boot() + 1);
    if (!violation.empty()) return "power cut: " + violation;
  }
  return random_.Percent(40) ? "" : CutPower();
}

std::string CollectionLife::CutPower() {
  const Files image = machine_.PossibleImage();
  std::string violation = Examine(image, machine_.boot() + 1);
  if (!violation.empty()) return "power cut: " + violation;
  readers_.Clear();
  machine_.CutPower(image);
  return Adopt(ReadLedger(image).newest, true);
}

// Opens what a crash left, before any writer does.
std::string CollectionLife::Examine(const Files& files, uint64_t boot) {
  ++tally_.states;
  const Ledger ledger = ReadLedger(files);
  if (!ledger.opens) return "the ledger does not open";
  if (ledger.newest < history_.acknowledged) return "an acknowledged commit is lost";
  if (ledger.newest >= history_.states.size()) return "a commit that was not made";
  std::vector<Txn> kept = {ledger.newest};
  for (const KeptState& state : ledger.past) kept.push_back(state.txn);
  for (const Txn txn : kept) {
    std::string violation = ExamineCommit(files, boot, ledger, txn);
    if (!violation.empty()) return txn < ledger.newest ? "older commit: " + violation : violation;
  }
  return ExamineAlone(files, boot, ledger.newest);
}

// Reads all members after a commit.
std::string CollectionLife::ExamineCommit(const Files& files, uint64_t boot, const Ledger& newest,
                                          Txn txn) {
  const Ledger ledger = LedgerAt(newest, txn);
  const Truth& truth = history_.states[txn];
  if (ledger.table.size() != truth.size()) return "other members";
  for (const auto& [id, entry] : ledger.table) {
    const MemberView member =
        ReadMember(files, rules_, ledger, id, entry, newest.NamesOf(id), boot);
    if (!member.problem.empty()) return member.problem;
    const auto expected = truth.find(id);
    const MemberTruth seen = {.name = entry.name, .chunks = IdsOf(member.chunks)};
    if (expected == truth.end() || expected->second != seen) return "a state not committed";
  }
  return "";
}

// Opens members without the ledger, as Cairn and as another Blosc2.
std::string CollectionLife::ExamineAlone(const Files& files, uint64_t boot, Txn newest) {
  for (const auto& [name, file] : files) {
    if (!IsMemberName(name)) continue;
    const Checkpoint* checkpoint = CheckpointOf(*file);
    if (checkpoint == nullptr) return "alone: does not open";
    const auto committed = [&](const std::vector<Id>& chunks) {
      return WasCommitted(checkpoint->member, chunks, newest);
    };
    if (!committed(IdsOf(checkpoint->chunks))) return "another Blosc2: a state not committed";
    for (const ChunkAt& chunk : checkpoint->chunks) {
      if (!ChunkIsAt(*file, chunk)) return "another Blosc2: a damaged chunk";
    }
    const MemberView alone = ReadAlone(file, boot);
    if (!committed(IdsOf(alone.chunks))) return "alone: a state not committed";
    for (const ChunkAt& chunk : alone.chunks) {
      if (!ChunkIsAt(*file, chunk)) return "alone: a damaged chunk";
    }
  }
  return "";
}

std::string CollectionLife::ExamineClosed() const {
  for (const auto& [id, truth] : history_.states[history_.acknowledged]) {
    const auto file = machine_.files().find(truth.name);
    if (file == machine_.files().end()) return "a name is missing";
    const Checkpoint* checkpoint = CheckpointOf(*file->second);
    const MemberView alone = ReadAlone(file->second, machine_.boot());
    // A checkpoint needs room, of which readers may hold too much.
    const bool has_journal = !alone.used.empty();
    if (!has_journal && IdsOf(checkpoint->chunks) != truth.chunks) {
      return "another Blosc2 does not see the last commit";
    }
  }
  return "";
}

// A change from outside must be told, or change nothing that is read. Until a writer comes, it may
// pass for what a crash left; so one opens first.
std::string CollectionLife::ChangeOutside() {
  CollectionWriter writer({machine_, rules_, random_, readers_, ids_}, history_);
  if (const std::string refusal = writer.Open(); !refusal.empty()) return "writer: " + refusal;
  if (std::string violation = Adopt(writer.ledger().newest, true); !violation.empty()) {
    return violation;
  }
  constexpr int kKinds = 5;
  for (int kind = 0; kind < kKinds; ++kind) {
    Files files = CopyOf(machine_.files());
    if (!MakeChange(kind, files)) continue;
    if (std::string violation = ExamineOutside(files, kind == 1); !violation.empty()) {
      const char* const what[] = {"older member", "older ledger", "foreign edit", "removed member",
                                  "swapped members"};
      return "outside: " + violation + ", " + what[kind];
    }
  }
  return "";
}

bool CollectionLife::MakeChange(int kind, Files& files) {
  std::vector<std::string> names;
  for (const auto& [name, file] : files) {
    if (IsMemberName(name)) names.push_back(name);
  }
  if (names.empty()) return false;
  const std::string name = names[random_.Below(names.size())];
  const std::string restored = kind == 1 ? kLedgerName : name;
  if (kind <= 1) {  // restored from a backup
    if (!backup_.contains(restored)) return false;
    files[restored] = CopyOf(backup_)[restored];
  } else if (kind == 2) {  // edited by another Blosc2, which cuts the journal off
    SlotFile& file = *files[name];
    Checkpoint edited = *CheckpointOf(file);
    edited.id = ++ids_;
    edited.foreign = true;
    for (const int slot : edited.journal) file.cache[static_cast<size_t>(slot)] = nullptr;
    edited.chunks.clear();
    file.cache[static_cast<size_t>(As<Header>(file.cache[0])->checkpoint)] = Make(edited);
  } else if (kind == 3) {
    files.erase(name);
  } else {
    std::swap(files[name], files[names[random_.Below(names.size())]]);
  }
  return true;
}

// Returns true if the member had this content after one of the commits up to `last`.
bool CollectionLife::WasCommitted(MemberId id, const std::vector<Id>& chunks, Txn last) const {
  const auto end = history_.states.begin() + static_cast<ptrdiff_t>(last) + 1;
  return std::any_of(history_.states.begin(), end, [&](const Truth& state) {
    const auto member = state.find(id);
    return member != state.end() && member->second.chunks == chunks;
  });
}

std::string CollectionLife::ExamineOutside(const Files& files, bool older_ledger) {
  ++tally_.outside;
  const Ledger ledger = ReadLedger(files);
  const Truth& now = history_.states.back();
  for (const auto& [id, entry] : ledger.table) {
    const MemberView member =
        ReadMember(files, rules_, ledger, id, entry, ledger.NamesOf(id), machine_.boot());
    if (!member.problem.empty()) {
      ++tally_.told;
      continue;
    }
    const std::vector<Id> chunks = IdsOf(member.chunks);
    // An older ledger shows its own state of those members that still hold it.
    const auto truth = now.find(id);
    const bool fits = older_ledger ? WasCommitted(id, chunks, history_.states.size() - 1)
                                   : truth != now.end() && truth->second.chunks == chunks;
    if (!fits) return "a change is not told";
  }
  return "";
}

}  // namespace cairn::model
