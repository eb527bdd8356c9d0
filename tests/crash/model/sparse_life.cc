#include "tests/crash/model/sparse_life.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <utility>

namespace cairn::model {
namespace {

constexpr uint64_t kReaderLock = 0;

}  // namespace

SparseLife::SparseLife(const Conditions& conditions, const SparseRules& rules, size_t images,
                       uint64_t seed, Tally& tally)
    : conditions_(conditions),
      rules_(rules),
      images_(images),
      tally_(tally),
      random_(seed),
      directory_(conditions, random_) {
  directory_.OnStep([this] { StepReaders(); });
}

std::string SparseLife::Run() {
  SparseWriter::CreateFrame(directory_, conditions_.header_size);
  history_.commits.emplace_back();
  const uint64_t deaths = 2 + random_.Below(3);
  for (uint64_t i = 0; i < deaths; ++i) {
    if (std::string violation = RunProcess(); !violation.empty()) return violation;
  }
  return "";
}

std::string SparseLife::RunProcess() {
  constexpr std::array<uint64_t, 4> kMost = {6, 30, 60, 200};
  directory_.StartProcess(random_.Below(kMost[random_.Below(kMost.size())]));
  SparseWriter writer(directory_, conditions_.header_size, rules_, random_,
                      [this](const std::string& name) { return IsRead(name); });
  if (!writer.Open()) return "writer refuses";
  const std::optional<size_t> generation = history_.Find(writer.view().state);
  if (!generation.has_value()) return "writer: not a committed state";
  if (*generation < history_.survives_kill) return "writer: acknowledged commit lost";
  history_.KeepUntil(*generation);
  if (directory_.running()) history_.survives_kill = history_.survives_power_cut = *generation;
  closed_ = false;
  lost_ = FindLost(writer);
  while (directory_.running() && !closed_ && harm_.empty() && lost_.empty()) Act(writer);
  if (!lost_.empty()) return lost_;
  return harm_.empty() ? EndProcess() : harm_;
}

// A writer may keep only the files that it needs itself, or that a reader may see. Some readers may
// have gone since it asked.
std::string SparseLife::FindLost(const SparseWriter& writer) const {
  if (!directory_.running()) return "";
  const Directory::Image files = directory_.Cached();
  std::set<uint64_t> needed = FilesOf(writer.view());
  for (const Reader& reader : readers_) needed.merge(FilesOf(ViewOf(*reader.index)));
  if (arrival_.has_value()) needed.merge(FilesOf(ViewOf(*arrival_->index)));
  for (const auto& [name, bytes] : files) {
    if (!name.starts_with("old index")) continue;
    needed.merge(
        FilesOf(ReplaySparse(files, directory_.boot(), conditions_.header_size, rules_, name)));
  }
  const bool lost = std::ranges::any_of(files, [&](const auto& file) {
    return file.first.starts_with("chunk") && !needed.contains(NumberOf(file.first));
  });
  return lost ? "space is lost" : "";
}

void SparseLife::Act(SparseWriter& writer) {
  const uint64_t action = random_.Below(100);
  if (action < 70) {
    CommitOnce(writer);
  } else if (action < 77) {
    writer.SyncCommitted();
    if (directory_.running()) history_.survives_power_cut = history_.survives_kill;
  } else if (action < 92) {
    writer.MakeCheckpoint();
    if (!directory_.running()) return;
    history_.survives_power_cut = history_.survives_kill;
    lost_ = FindLost(writer);
  } else {
    closed_ = true;  // without a checkpoint
  }
}

void SparseLife::CommitOnce(SparseWriter& writer) {
  constexpr std::array<size_t, 4> kSizes = {40, 300, 700, 1500};
  if (random_.Percent(20)) writer.RemoveOrphans();
  SparseEdit edit;
  edit.metadata = ++metadata_;
  edit.machine = random_.Percent(50);
  for (uint64_t count = random_.Below(3); count > 0; --count) {
    edit.chunks.push_back(MakeChunk(++chunk_id_, kSizes[random_.Below(kSizes.size())]));
  }
  for (uint64_t i = writer.view().state.chunks.size(); i-- > 0;) {
    if (random_.Percent(25)) edit.removed.push_back(i);
  }
  const BatchRecord record = writer.Stage(edit);
  if (!directory_.running()) return;
  State after = writer.view().state;
  Apply(record, after);
  history_.commits.push_back(after);
  writer.Commit(record, edit.machine);
  if (!directory_.running()) return;
  history_.survives_kill = history_.commits.size() - 1;
  if (edit.machine) history_.survives_power_cut = history_.survives_kill;
}

std::string SparseLife::Examine(const Directory::Image& image, uint64_t boot,
                                size_t required) const {
  const SparseView view = ReplaySparse(image, boot, conditions_.header_size, rules_);
  if (!view.opens) return "does not open";
  const std::optional<size_t> generation = history_.Find(view.state);
  if (!generation.has_value()) return "not a committed state";
  if (view.damaged) return "false alarm";
  if (*generation < required) return "acknowledged commit lost";
  const bool intact = std::ranges::all_of(
      view.state.chunks, [&](const ChunkRef& chunk) { return SparseChunkIsIntact(image, chunk); });
  return intact ? "" : "half commit";
}

std::string SparseLife::EndProcess() {
  ++tally_.states;
  std::string violation = Examine(directory_.Cached(), directory_.boot(), history_.survives_kill);
  if (!violation.empty()) return "killed: " + violation;
  for (size_t i = 0; i < images_; ++i) {
    ++tally_.states;
    violation =
        Examine(directory_.PossibleImage(), directory_.boot() + 1, history_.survives_power_cut);
    if (!violation.empty()) return "power cut: " + violation;
  }
  if (random_.Percent(50)) return "";
  const Directory::Image image = directory_.PossibleImage();
  const SparseView view =
      ReplaySparse(image, directory_.boot() + 1, conditions_.header_size, rules_);
  const std::optional<size_t> generation = history_.Find(view.state);
  if (!generation.has_value()) return "power cut: not a committed state";
  history_.KeepUntil(*generation);
  history_.survives_kill = *generation;
  readers_.clear();
  arrival_.reset();
  directory_.CutPower(image);
  return "";
}

bool SparseLife::IsRead(const std::string& name) const {
  const std::shared_ptr<const Disk> file = directory_.Find(name);
  const auto has_locked = [&](const Reader& reader) {
    return reader.index == file && reader.locks->AnyIn(kReaderLock, kReaderLock + 1);
  };
  return (arrival_.has_value() && has_locked(*arrival_)) ||
         std::ranges::any_of(readers_, has_locked);
}

SparseView SparseLife::ViewOf(const Disk& index) const {
  Directory::Image files = directory_.Cached();
  files[kIndexName] = index.cache();
  return ReplaySparse(files, directory_.boot(), conditions_.header_size, rules_);
}

// A reader opens the index, locks it, and looks at the name again. The writer works on in between.
void SparseLife::StepArrival() {
  if (!arrival_.has_value()) {
    arrival_ = {.index = directory_.Find(kIndexName),
                .locks = std::make_shared<ReaderLocks>(rules_)};
  } else if (!arrival_->locks->AnyIn(kReaderLock, kReaderLock + 1)) {
    arrival_->locks->Lock(kReaderLock);
  } else {
    Reader arrival = *std::exchange(arrival_, std::nullopt);
    if (rules_.reader_looks_again && directory_.Find(kIndexName) != arrival.index) return;
    const SparseView view = ViewOf(*arrival.index);
    if (!view.opens) return;
    arrival.state = view.state;
    readers_.push_back(std::move(arrival));
  }
}

// The child reads on by the file that its parent has opened.
void SparseLife::Fork(const Reader& reader) {
  Reader child = reader;
  child.locks = reader.locks->Fork();
  readers_.push_back(std::move(child));
}

void SparseLife::Leave(size_t position) {
  readers_[position].locks->Unlock(kReaderLock);
  readers_.erase(readers_.begin() + static_cast<ptrdiff_t>(position));
}

// A reader may come, follow the journal of its index, fork, or go. Then every reader's chunks must
// be what they were.
void SparseLife::StepReaders() {
  if (directory_.Find(kIndexName) == nullptr) return;
  if (random_.Percent(30) && readers_.size() < 3) StepArrival();
  if (random_.Percent(8) && !readers_.empty()) Leave(random_.Below(readers_.size()));
  if (conditions_.forks && random_.Percent(8) && !readers_.empty() && readers_.size() < 6) {
    Fork(readers_[random_.Below(readers_.size())]);
  }
  for (Reader& reader : readers_) {
    if (random_.Percent(3)) reader.state = ViewOf(*reader.index).state;
  }
  const auto sees = [&](const ChunkRef& chunk) {
    const std::shared_ptr<const Disk> file = directory_.Find(ChunkName(chunk.offset));
    return file != nullptr && file->cache().size() == chunk.size &&
           Hash(file->cache(), 0, chunk.size) == chunk.hash;
  };
  for (const Reader& reader : readers_) {
    if (!std::ranges::all_of(reader.state.chunks, sees)) harm_ = "a reader's chunk is gone";
  }
}

}  // namespace cairn::model
