#include "tests/crash/model/examiner.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace cairn::model {
namespace {

bool IsIntact(const Proof& proof, const Bytes& file) {
  return proof.offset + proof.bytes.size() <= file.size() &&
         std::equal(proof.bytes.begin(), proof.bytes.end(),
                    file.begin() + static_cast<ptrdiff_t>(proof.offset));
}

}  // namespace

std::optional<size_t> History::Find(const State& state) const {
  for (size_t i = commits.size(); i-- > 0;) {
    if (commits[i] == state) return i;
  }
  return std::nullopt;
}

void History::KeepUntil(size_t generation) {
  commits.resize(generation + 1);
  survives_kill = std::min(survives_kill, generation);
  survives_power_cut = std::min(survives_power_cut, generation);
  vouched = std::min(vouched, generation);
}

size_t History::CountIntact(const Bytes& file) const {
  return static_cast<size_t>(
      std::ranges::count_if(proofs, [&](const Proof& proof) { return IsIntact(proof, file); }));
}

// Only a mark says that what follows it was durable.
bool History::HasLostMark(const Bytes& file, const Base& base) const {
  return std::ranges::any_of(proofs, [&](const Proof& proof) {
    return proof.base == base && proof.durable_generation > proof.generation &&
           !IsIntact(proof, file);
  });
}

bool History::HasProofAfter(const Bytes& file, const Base& base, uint64_t boot) const {
  const std::optional<uint64_t> checkpoint = TrailerGeneration(file, base);
  return checkpoint.has_value() && std::ranges::any_of(proofs, [&](const Proof& proof) {
           const bool proves = proof.header_is_durable || proof.durable_generation > *checkpoint ||
                               (proof.boot == boot && boot != 0);
           return proof.base == base && proof.generation > *checkpoint && proves &&
                  IsIntact(proof, file);
         });
}

uint64_t History::CoveredByReceipts(const Bytes& file, const Base& base, uint64_t boot) const {
  uint64_t covered = 0;
  for (const Proof& proof : proofs) {
    if (proof.boot == 0 || proof.base != base || !IsIntact(proof, file)) continue;
    covered = std::max(covered, proof.boot == boot ? proof.generation : proof.durable_generation);
  }
  return covered;
}

size_t History::ProvenDurable(const Bytes& file, const Base& base, bool own) const {
  size_t proven = 0;
  for (const Proof& proof : proofs) {
    if (own && proof.durable_generation != proof.generation) continue;
    if (proof.base == base && proof.durable_generation > proven && IsIntact(proof, file)) {
      proven = proof.durable_generation;
    }
  }
  return proven;
}

// A reader may skip what is summed up; the next writer does not.
std::string Examiner::ExamineCrash(const Bytes& file, const Crash& crash) const {
  std::string violation = ExamineView(file, Read(file, crash.boot), crash);
  if (!violation.empty()) return violation;
  return ExamineView(file, Read(file, crash.boot, Begin::kCheckpoint), crash);
}

std::string Examiner::ExamineView(const Bytes& file, const Replayed& view,
                                  const Crash& crash) const {
  if (!view.opens) return "does not open: " + view.why;
  if (view.checkpoint.trailer_damaged) return "does not open: trailer";
  const std::optional<size_t> generation = history_.Find(view.state);
  if (!generation.has_value()) return "not a committed state";
  if (view.damaged) return crash.may_tell ? "" : "false alarm";
  if (*generation < crash.required) return "acknowledged commit lost";
  const bool intact = std::ranges::all_of(
      view.state.chunks, [&](const ChunkRef& chunk) { return ChunkIsIntact(file, chunk); });
  return intact || crash.may_tell ? "" : "half commit";
}

// The trailer is reported. What cannot be checked without it must not be silently less.
std::string Examiner::ExamineUnsealed(const Bytes& file, const Replayed& view,
                                      size_t required) const {
  const bool intact = std::ranges::all_of(
      view.state.chunks, [&](const ChunkRef& chunk) { return ChunkIsIntact(file, chunk); });
  if (view.damaged || !intact) return "";
  const std::optional<size_t> generation = history_.Find(view.state);
  if (!generation.has_value()) return "flip of the trailer: not a committed state";
  return *generation < required ? "flip of the trailer: commit lost untold" : "";
}

std::string Examiner::ExamineDamage(const Bytes& file, uint64_t boot, size_t required,
                                    Tally& tally) const {
  ++tally.flips;
  const Replayed view = Read(file, boot);
  if (view.opens && view.checkpoint.trailer_damaged) return ExamineUnsealed(file, view, required);
  if (view.opens && !view.damaged) {
    // A chunk that is wrong is reported when it is read: it stays in its state.
    const std::optional<size_t> generation = history_.Find(view.state);
    if (!generation.has_value()) return "flip: not a committed state";
    const size_t least = std::max(required, history_.ProvenDurable(file, view.base, false));
    return *generation < least ? "flip: commit lost untold" : "";
  }
  ++tally.told;
  if (!view.opens) return "";
  if (!history_.Find(view.state).has_value()) return "flip: no good prefix";
  Random random(1);
  std::vector<Proof> proofs;
  Disk copy(disk_, file);
  const Nobody readers;
  Writer writer(copy, conditions_, rules_, random, proofs, readers);
  const bool opened = writer.Open();
  return opened || copy.cache() != file ? "flip: damaged journal cut" : "";
}

}  // namespace cairn::model
