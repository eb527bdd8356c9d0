#include "tests/crash/model/readers.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace cairn::model {
namespace {

constexpr size_t kMostReaders = 2;
constexpr size_t kMostBesideForks = 6;  // with those of children

bool HasBytes(const Bytes& file, uint64_t begin, const Bytes& bytes) {
  return begin + bytes.size() <= file.size() &&
         std::equal(bytes.begin(), bytes.end(), file.begin() + static_cast<ptrdiff_t>(begin));
}

}  // namespace

bool Readers::AnyIn(uint64_t first, uint64_t end) const {
  return std::ranges::any_of(readers_,
                             [&](const Reader& reader) { return reader.file->AnyIn(first, end); });
}

void Readers::Step(uint64_t acknowledged) {
  if (!harm_.empty()) return;
  acknowledged_ = acknowledged;
  const uint64_t action = random_.Below(100);
  const size_t most = conditions_.forks ? kMostBesideForks : kMostReaders;
  if (action < 8 && readers_.size() < most) {
    Come();
  } else if (action < 50 && !readers_.empty()) {
    GoOn(readers_[random_.Below(readers_.size())]);
  } else if (action < 53 && !readers_.empty()) {
    Leave(conditions_.forks ? random_.Below(readers_.size()) : 0);
  } else if (conditions_.forks && action < 63 && !readers_.empty() && readers_.size() < most) {
    Fork(readers_[random_.Below(readers_.size())].file);
  }
  for (size_t i = readers_.size(); i-- > 0;) {
    if (readers_[i].header.empty()) Leave(i);
  }
  if (!std::ranges::all_of(readers_, [&](const Reader& reader) { return IsUndisturbed(reader); })) {
    harm_ = "reader: its state changed";
  }
}

void Readers::Come() {
  std::string why;
  const Bytes& file = disk_.cache();
  const std::optional<Checkpoint> checkpoint = ReadCheckpoint(file, conditions_.header_size, why);
  if (!checkpoint.has_value() || checkpoint->trailer_damaged) return;  // the header is just written
  // A process may have several readers of a file that it has opened once.
  const bool joins = conditions_.forks && !readers_.empty() && random_.Percent(50);
  const std::shared_ptr<ReaderLocks> opened =
      joins ? readers_[random_.Below(readers_.size())].file : std::make_shared<ReaderLocks>(rules_);
  Reader& reader = readers_.emplace_back();
  reader.file = opened;
  reader.generation = checkpoint->generation;
  reader.header = Slice(file, 0, conditions_.header_size);
  reader.follows = conditions_.gradual && random_.Percent(50);
}

// The child has a copy of each reader of the process.
void Readers::Fork(const std::shared_ptr<ReaderLocks>& file) {
  const std::shared_ptr<ReaderLocks> child = file->Fork();
  const size_t before = readers_.size();
  for (size_t i = 0; i < before; ++i) {
    if (readers_[i].file != file) continue;
    readers_.push_back(readers_[i]);
    readers_.back().file = child;
  }
}

void Readers::Leave(size_t position) {
  const Reader& reader = readers_[position];
  if (reader.phase != Phase::kHasHeader) reader.file->Unlock(reader.generation);
  readers_.erase(readers_.begin() + static_cast<ptrdiff_t>(position));
}

void Readers::GoOn(Reader& reader) {
  switch (reader.phase) {
    case Phase::kHasHeader:
      reader.phase = Phase::kRegistered;
      reader.file->Lock(reader.generation);
      break;
    case Phase::kRegistered:
      Read(reader);
      break;
    case Phase::kReads:
      if (!reader.follows) break;
      if (HasNewHeader(reader)) return reader.header.clear();
      reader.phase = Phase::kFollows;
      break;
    case Phase::kFollows:
      Follow(reader);
      break;
  }
}

bool Readers::HasNewHeader(const Reader& reader) const {
  return !HasBytes(disk_.cache(), 0, reader.header);
}

// Without a header afterwards it begins again.
void Readers::Read(Reader& reader) {
  if (rules_.reader_looks_again && HasNewHeader(reader)) return reader.header.clear();
  TakeView(reader);
}

// By the journal of the checkpoint that it knows.
void Readers::Follow(Reader& reader) {
  if (rules_.follower_looks_again && HasNewHeader(reader)) return reader.header.clear();
  const uint64_t generation = reader.view.generation;
  TakeView(reader);
  if (reader.view.generation < generation && harm_.empty()) harm_ = "reader: it went back";
}

void Readers::TakeView(Reader& reader) {
  Bytes file = disk_.cache();
  std::ranges::copy(reader.header, file.begin());
  reader.view = Replay(file, disk_.boot(), conditions_.header_size, rules_);
  const bool intact = reader.view.opens && !reader.view.checkpoint.trailer_damaged &&
                      std::ranges::all_of(reader.view.state.chunks, [&](const ChunkRef& chunk) {
                        return ChunkIsIntact(file, chunk);
                      });
  if (!intact && rules_.reader_looks_again) harm_ = "reader: a state that is not there";
  if (!intact) return reader.header.clear();
  if (reader.view.generation < acknowledged_ && rules_.reader_looks_again) {
    harm_ = "reader: an acknowledged commit is missing";
  }
  reader.phase = Phase::kReads;
  reader.index = Slice(file, reader.view.checkpoint.index_begin, reader.view.checkpoint.base.end);
  const std::optional<Summary>& summary = reader.view.summary;
  reader.summary = summary.has_value() ? Slice(file, summary->begin, summary->end) : Bytes();
}

bool Readers::IsUndisturbed(const Reader& reader) const {
  if (reader.phase != Phase::kReads) return true;
  const Bytes& file = disk_.cache();
  const uint64_t summary_begin = reader.view.summary.has_value() ? reader.view.summary->begin : 0;
  // A journal without commits may begin after the end of the file.
  const Checkpoint& base = reader.view.checkpoint;
  const bool has_commits = reader.view.generation > base.generation;
  return file.size() >= (has_commits ? reader.view.commit_end : base.base.end) &&
         HasBytes(file, summary_begin, reader.summary) &&
         HasBytes(file, base.index_begin, reader.index) &&
         std::ranges::all_of(reader.view.state.chunks,
                             [&](const ChunkRef& chunk) { return ChunkIsIntact(file, chunk); });
}

}  // namespace cairn::model
