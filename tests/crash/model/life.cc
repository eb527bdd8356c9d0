#include "tests/crash/model/life.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace cairn::model {

std::string Life::Run() {
  CreateFile(disk_, conditions_, rules_, random_);
  history_.commits.emplace_back();
  const uint64_t deaths = 2 + random_.Below(3);
  for (uint64_t i = 0; i < deaths && !over_; ++i) {
    if (std::string violation = RunProcess(); !violation.empty()) return violation;
  }
  return "";
}

std::string Life::RunProcess() {
  constexpr std::array<uint64_t, 4> kMost = {6, 30, 60, 200};
  const uint64_t most = kMost[random_.Below(kMost.size())];
  short_life_ = most == kMost.front();
  disk_.StartProcess(random_.Below(most), conditions_.failing_syncs);
  if (conditions_.gradual) pace_ = 30 + random_.Below(65);
  Writer writer(disk_, conditions_, rules_, random_, history_.proofs, readers_);
  if (std::string violation = OpenWriter(writer); over_ || !violation.empty()) return violation;
  closed_ = false;
  while (disk_.running() && !closed_ && !over_) {
    if (std::string violation = Act(writer); !violation.empty()) return violation;
    StepCheckpoint(writer);
    if (!writer.AccountsForSpace()) return "space is lost";
    if (!readers_.harm().empty()) return readers_.harm();
  }
  unmarked_ |= writer.IsUnmarked();
  return over_ ? "" : EndProcess();
}

std::string Life::Act(Writer& writer) {
  uint64_t action = random_.Below(100);
  // Events between a header and its sync are rare otherwise.
  if (writer.IsFlipped() && random_.Percent(40)) action = random_.Percent(50) ? 77 : 92;
  if (action < 70) {
    std::string violation = CommitOnce(writer);
    if (random_.Percent(40)) writer.Summarize();
    return violation;
  }
  if (action < 77) {
    SyncCommitted(writer);
  } else if (action < 92) {
    if (conditions_.gradual && random_.Percent(conditions_.shrinks ? 90 : 70)) {
      writer.BeginCheckpoint();
    } else {
      MakeCheckpoint(writer);
    }
  } else if (action < 97 && !handed_over_) {
    return HandOver(writer);
  } else {
    closed_ = true;  // without a checkpoint
  }
  return "";
}

void Life::StepCheckpoint(Writer& writer) {
  while (conditions_.gradual && disk_.running() && random_.Percent(pace_)) writer.StepCheckpoint();
}

std::string Life::OpenWriter(Writer& writer) {
  std::string violation = Adopt(writer, writer.Open());
  ForgetWhatIsNotTold();
  return violation;
}

// A writer that begins knows only of the checkpoint before the one that there is.
void Life::ForgetWhatIsNotTold() {
  disk_.ForgetOlderSectors(unmarked_ ? 0 : 1);
  unmarked_ = false;
}

// Another process writes, and ends in one way or another; then this one continues.
std::string Life::HandOver(Writer& writer) {
  writer.Suspend();
  if (!disk_.running()) return "";
  const Disk::Pause pause = disk_.PauseProcess();
  if (conditions_.gradual && random_.Percent(30)) return Adopt(writer, writer.Resume());
  handed_over_ = true;
  disk_.StartProcess(random_.Below(60), conditions_.failing_syncs);
  Writer other(disk_, conditions_, rules_, random_, history_.proofs, readers_);
  std::string violation = OpenWriter(other);
  while (!over_ && violation.empty() && disk_.running() && !closed_) {
    violation = Act(other);
    StepCheckpoint(other);
  }
  handed_over_ = closed_ = false;
  unmarked_ |= other.IsUnmarked();
  if (over_ || !violation.empty()) return violation;
  disk_.ContinueProcess(pause);
  violation = Adopt(writer, writer.Resume());
  ForgetWhatIsNotTold();
  return violation;
}

// Notes that the state that the writer builds upon is durable now.
std::string Life::Adopt(const Writer& writer, bool opens) {
  if (!opens) {
    over_ = true;
    return evicted_ ? "" : "writer refuses";
  }
  const std::optional<size_t> generation = history_.Find(writer.view().state);
  if (!generation.has_value()) return "writer: not a committed state";
  if (*generation < history_.survives_kill) return "writer: acknowledged commit lost";
  history_.KeepUntil(*generation);
  if (writer.owes()) {
    history_.survives_kill = *generation;
  } else if (disk_.running() && rules_.confirms && !evicted_) {
    history_.survives_kill = history_.survives_power_cut = history_.vouched = *generation;
  }
  return "";
}

// A copy of the file went its own way, and comes back as the content of a chunk: records of the
// same base, with generations to come.
Bytes Life::PartOfFork(const Writer& writer) {
  const Replayed& view = writer.view();
  constexpr uint64_t kPosition = 777;  // in the copy
  Bytes part = Encode(BatchRecord{.base = view.base,
                                  .generation = view.generation + 1,
                                  .previous = view.previous,
                                  .durable_end = view.base.end,
                                  .metadata = 999},
                      rules_.binds_position ? kPosition : 0);
  const Receipt receipt = {.base = view.base,
                           .generation = view.generation + 2,
                           .durable_generation = view.generation + 2};
  const Bytes encoded = Encode(receipt, rules_.binds_position ? kPosition + part.size() : 0);
  part.insert(part.end(), encoded.begin(), encoded.end());
  return part;
}

Edit Life::ChooseEdit(const Writer& writer) {
  constexpr std::array<size_t, 5> kSizes = {40, 300, 300, 700, 1500};
  Edit edit;
  if (conditions_.past_border.has_value()) {
    const uint64_t begin = writer.view().end;
    const uint64_t rest = RecordSize(1, 0) + (rules_.writes_receipts ? kReceiptSize : 0);
    const uint64_t least = begin + 32 + rest;
    const uint64_t border = (least + kSectorSize - 1) / kSectorSize * kSectorSize;
    edit.chunks.push_back(MakeChunk(++chunk_id_, border + *conditions_.past_border - begin - rest));
    edit.machine = random_.Percent(*conditions_.past_border == 0 ? 10 : 60);
    edit.at_end = true;
    return edit;
  }
  if (random_.Percent(15)) edit.metadata = ++metadata_;
  size_t count = random_.Below(4);
  if (count == 0 && edit.metadata == 0) count = 1;
  for (size_t i = 0; i < count; ++i) {
    const Bytes embedded = random_.Percent(3) ? PartOfFork(writer) : Bytes();
    edit.chunks.push_back(MakeChunk(++chunk_id_, kSizes[random_.Below(kSizes.size())], embedded));
  }
  // Each state differs from all others by what is new in it.
  const uint64_t chunks = writer.view().state.chunks.size();
  const uint64_t kept =
      random_.Percent(conditions_.shrinks ? 50 : 20) ? random_.Below(chunks + 1) : chunks;
  if (chunks > 0 && random_.Percent(25)) {
    const uint64_t number = random_.Below(chunks);
    if (ChunkIsIntact(disk_.cache(), writer.view().state.chunks[number])) edit.moved = number;
  }
  for (uint64_t i = chunks; i-- > 0;) {
    if (i >= kept || i == edit.moved || random_.Percent(25)) edit.removed.push_back(i);
  }
  if (edit.moved.has_value()) {
    const ChunkRef& chunk = writer.view().state.chunks[*edit.moved];
    edit.chunks.push_back(Slice(disk_.cache(), chunk.offset, chunk.end()));
  }
  edit.at_end = random_.Percent(conditions_.shrinks ? 3 : 20);
  edit.machine = random_.Percent(60);
  edit.syncs_chunks = random_.Percent(10);
  return edit;
}

std::string Life::CommitOnce(Writer& writer) {
  const Edit edit = ChooseEdit(writer);
  if (!writer.HasSpaceFor(edit)) {
    MakeCheckpoint(writer);
    return "";
  }
  const Placed placed = writer.Place(edit);
  if (conditions_.prepares && random_.Percent(30)) {
    writer.Prepare(placed);
    if (random_.Percent(40)) {
      writer.Cancel(placed);
      return "";
    }
  }
  history_.commits.push_back(placed.after);
  const Bytes before = disk_.cache();
  writer.Commit(placed);
  if (!disk_.running()) return "";
  history_.survives_kill = history_.vouched = history_.commits.size() - 1;
  if (edit.machine) history_.survives_power_cut = history_.survives_kill;
  return evicted_ || !random_.Percent(20) ? "" : ReadDuringCommit(before);
}

// A reader that is overtaken by the writer sees first bytes of before, then bytes of after.
std::string Life::ReadDuringCommit(const Bytes& before) {
  Bytes seen = disk_.cache();
  const size_t overtaken = random_.Below(before.size() + 1);
  std::copy_n(before.begin(), std::min(overtaken, seen.size()), seen.begin());
  Replayed view = Replay(seen, disk_.boot(), conditions_.header_size, rules_);
  if (view.damaged && rules_.rereads) {
    view = Replay(disk_.cache(), disk_.boot(), conditions_.header_size, rules_);
  }
  if (view.damaged) return "reader: false alarm";
  return history_.Find(view.state).has_value() ? "" : "reader: not a committed state";
}

void Life::SyncCommitted(Writer& writer) {
  if (random_.Percent(50)) {
    writer.SyncCommitted();
  } else {
    writer.Sync();
  }
  if (disk_.running()) history_.survives_power_cut = history_.survives_kill;
}

void Life::MakeCheckpoint(Writer& writer) {
  if (conditions_.past_border == 0) return;
  writer.MakeCheckpoint();
  if (!disk_.running()) return;
  history_.survives_kill = history_.survives_power_cut = history_.commits.size() - 1;
  history_.vouched = history_.survives_kill;
}

std::string Life::EndProcess() {
  if (disk_.sync_failed() && random_.Percent(20)) {
    disk_.Evict();
    readers_.Clear();
    evicted_ = true;
    // The sync that failed told of the others.
    history_.survives_kill = history_.survives_power_cut;
  }
  const bool keeps_power =
      disk_.sync_failed() || (conditions_.dies_at_flips && !conditions_.gradual && !short_life_);
  if (random_.Percent(keeps_power ? 30 : 75)) return CutPower();
  ++tally_.states;
  const Bytes& file = disk_.cache();
  std::string violation = examiner_.ExamineCrash(
      file, {.boot = disk_.boot(), .required = history_.survives_kill, .may_tell = evicted_});
  if (!violation.empty() || evicted_) return violation;
  violation =
      LoseFirstSector(file, disk_.boot(), conditions_.knows_boot ? history_.survives_kill : 0);
  if (!violation.empty()) return violation;
  return Damage(file, disk_.boot(), conditions_.knows_boot ? history_.vouched : 0);
}

std::string Life::CutPower() {
  const uint64_t next_boot = disk_.next_boot();
  Bytes image;
  for (size_t i = 0; i < effort_.images; ++i) {
    ++tally_.states;
    image = disk_.PossibleImage();
    Crash crash = {
        .boot = next_boot, .required = history_.survives_power_cut, .may_tell = evicted_};
    std::string violation = examiner_.ExamineCrash(image, crash);
    if (!violation.empty()) return violation;
    // The device goes away and comes back while the machine runs on: that may be reported.
    crash.boot = disk_.boot();
    crash.may_tell = true;
    violation = examiner_.ExamineCrash(image, crash);
    if (!violation.empty()) return "device loss: " + violation;
    if (evicted_) continue;
    violation = Damage(image, next_boot, random_.Percent(50) ? ProvenBefore(image) : 0);
    if (violation.empty()) violation = LoseFirstSector(image, next_boot, 0);
    if (!violation.empty()) return "power cut, " + violation;
  }
  // The mark of a newer header may not have reached the disk.
  disk_.ForgetOlderSectors(0);
  disk_.CutPower(image);
  readers_.Clear();
  const Replayed view = Replay(image, next_boot, conditions_.header_size, rules_);
  const std::optional<size_t> generation = history_.Find(view.state);
  history_.KeepUntil(*generation);
  history_.survives_kill = *generation;
  history_.vouched = 0;
  return "";
}

// A commit whose own receipt said on the disk that it is durable stays proved.
size_t Life::ProvenBefore(const Bytes& image) const {
  const Replayed view = Replay(image, disk_.next_boot(), conditions_.header_size, rules_);
  return history_.ProvenDurable(disk_.durable(), view.base, true);
}

std::string Life::Damage(const Bytes& file, uint64_t boot, size_t required) {
  return effort_.every_bit ? DamageEveryBit(file, boot, required)
                           : DamageSomewhere(file, boot, required);
}

Bytes Life::DamagedCopy(const Bytes& file, bool sectors) {
  Bytes damaged = file;
  const uint64_t way = random_.Below(sectors ? 10 : 8);
  if (way < 6 && !history_.proofs.empty()) {  // a bit of a record or receipt
    const Proof& proof = history_.proofs[random_.Below(history_.proofs.size())];
    const uint64_t at = proof.offset + random_.Below(proof.bytes.size());
    if (at < file.size()) damaged[at] ^= static_cast<uint8_t>(1u << random_.Below(8));
  } else if (way < 8) {  // any bit
    damaged[random_.Below(file.size())] ^= static_cast<uint8_t>(1u << random_.Below(8));
  } else {  // a sector
    const size_t begin = random_.Below(file.size()) / kSectorSize * kSectorSize;
    for (size_t at = begin; at < std::min(begin + kSectorSize, file.size()); ++at) {
      damaged[at] = way == 8 ? static_cast<uint8_t>(random_.Next()) : uint8_t{0};
    }
  }
  return damaged;
}

std::string Life::DamageSomewhere(const Bytes& file, uint64_t boot, size_t required) {
  for (size_t i = 0; i < effort_.flips; ++i) {
    const Bytes damaged = DamagedCopy(file, required == 0);
    // The last byte of a record that a kill cut off may be one bit.
    if (history_.CountIntact(damaged) > history_.CountIntact(file)) continue;
    std::string violation = examiner_.ExamineDamage(damaged, boot, required, tally_);
    if (!violation.empty()) return violation;
  }
  return "";
}

// The header's first sector is as it once was: the disk lost its last write, or all since. Of a
// file so small that what tells it lies in there too, nothing can tell it.
std::string Life::LoseFirstSector(const Bytes& file, uint64_t boot, size_t required) {
  if (!conditions_.loses_header) return "";
  const Base newest = Replay(file, boot, conditions_.header_size, rules_).base;
  const bool has_proof = history_.HasProofAfter(file, newest, boot);
  for (const Bytes& first : disk_.older_first_sectors()) {
    Bytes damaged = file;
    std::copy_n(first.begin(), std::min(first.size(), conditions_.header_size), damaged.begin());
    if (history_.CountIntact(damaged) > history_.CountIntact(file)) continue;
    // Chunks may lie by now where the mark lay, although the trailer before it is still there. Then
    // commits tell it that lie above.
    const Replayed old = Replay(damaged, boot, conditions_.header_size, rules_);
    const bool has_commits_above = has_proof && newest.end > old.base.end;
    const bool is_unmarked = history_.HasLostMark(file, old.base) && !has_commits_above;
    // And where the journal continues after a newer checkpoint, receipts of commits after it tell.
    const bool goes_on =
        newest == old.base && history_.CoveredByReceipts(file, old.base, boot) <= old.generation;
    const size_t least = is_unmarked || goes_on ? 0 : required;
    const std::string violation = examiner_.ExamineDamage(damaged, boot, least, tally_);
    if (!violation.empty()) return "older header, " + violation;
  }
  return "";
}

std::string Life::DamageEveryBit(const Bytes& file, uint64_t boot, size_t required) {
  Bytes damaged = file;
  for (const Proof& proof : history_.proofs) {
    const uint64_t end = std::min<uint64_t>(proof.offset + proof.bytes.size(), file.size());
    for (uint64_t at = proof.offset; at < end; ++at) {
      for (unsigned bit = 0; bit < 8; ++bit) {
        damaged[at] = file[at] ^ static_cast<uint8_t>(1u << bit);
        std::string violation = examiner_.ExamineDamage(damaged, boot, required, tally_);
        if (!violation.empty()) return violation;
      }
      damaged[at] = file[at];
    }
  }
  return "";
}

}  // namespace cairn::model
