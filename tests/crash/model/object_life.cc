#include "tests/crash/model/object_life.h"

#include <algorithm>
#include <utility>

namespace cairn::model {

ObjectLife::ObjectLife(const ObjectConditions& conditions, const ObjectRules& rules, Choose choose)
    : conditions_(conditions),
      rules_(rules),
      world_{.conditions = conditions_, .rules = rules_, .choose = std::move(choose)} {
  world_.bucket.index = {.frame = 1, .state = {}, .begin = 1000, .last = -1};
  for (int i = 0; i < conditions_.writers; ++i) {
    writers_.push_back(std::make_unique<ObjectWriter>(world_, ledger_, conditions_.commits));
  }
  for (int i = 0; i < conditions_.readers; ++i) {
    readers_.push_back(std::make_unique<ObjectReader>(world_));
  }
  for (int i = 0; i < conditions_.collectors; ++i) {
    collectors_.push_back(std::make_unique<ObjectCollector>(world_));
  }
  if (conditions_.replacer) replacer_ = std::make_unique<ObjectReplacer>(world_, ledger_);
}

void ObjectLife::PassTime() {
  const int64_t ticks =
      1 + static_cast<int64_t>(world_.choose(static_cast<uint64_t>(conditions_.grace)));
  world_.now += ticks;
  world_.DropLate();
  if (!conditions_.sleeps || !world_.Chance(50)) return;
  writers_[world_.choose(writers_.size())]->Sleep(ticks);
}

// Performs one event.
void ObjectLife::Step() {
  if (conditions_.time && world_.Chance(10)) return PassTime();
  std::vector<ObjectActor*> actors;
  for (size_t i = 0; i < writers_.size(); ++i) {
    if (writers_[i]->done() && conditions_.time) {
      // Another one begins.
      writers_[i] = std::make_unique<ObjectWriter>(world_, ledger_, conditions_.commits);
    }
    if (!writers_[i]->done()) actors.push_back(writers_[i].get());
  }
  for (const auto& reader : readers_) actors.push_back(reader.get());
  for (const auto& collector : collectors_) actors.push_back(collector.get());
  if (replacer_ != nullptr && !replacer_->done()) actors.push_back(replacer_.get());
  if (actors.empty() && world_.in_flight.empty()) return;
  if (conditions_.time) {
    if (world_.Chance(3)) stalled_ = world_.choose(2 * actors.size());
    if (stalled_ < actors.size()) {
      actors.erase(actors.begin() + static_cast<ptrdiff_t>(stalled_));
    }
  }
  const uint64_t event = world_.choose(actors.size() + world_.in_flight.size());
  if (event < actors.size()) {
    actors[event]->Step();
  } else {
    world_.Land(event - actors.size());
  }
}

std::string ObjectLife::ExamineCommits(const VisibleFrame& frame) const {
  const std::vector<int64_t>& visible = frame.state.commits;
  for (size_t i = 0; i < visible.size(); ++i) {
    if (std::find(visible.begin(), visible.begin() + static_cast<ptrdiff_t>(i), visible[i]) !=
        visible.begin() + static_cast<ptrdiff_t>(i)) {
      return "a commit is there twice";
    }
  }
  for (const auto& [commit, fate] : ledger_.fates) {
    const bool there = std::find(visible.begin(), visible.end(), commit) != visible.end();
    if (fate == CommitLedger::Fate::kAborted && there) return "an aborted commit is there";
    if (fate != CommitLedger::Fate::kMade || there) continue;
    const int64_t of = ledger_.frames.at(commit);
    const bool was_replaced = replacer_ != nullptr && replacer_->Replaces(of, frame.index.frame);
    if (!was_replaced) return "a commit is lost";
  }
  return "";
}

std::string ObjectLife::Examine() {
  const VisibleFrame frame = OpenNow(world_.bucket);
  if (!frame.applies) return "an update of another chunk is there";
  if (frame.index.state.pending > 0) return "a checkpoint has pending items";
  if (ledger_.late) return "a frame that was replaced takes a commit";
  for (const FrameState::Slot& slot : frame.state.slots) {
    const auto chunk = world_.bucket.chunks.find(slot.chunk);
    if (slot.chunk == 0) continue;
    if (chunk == world_.bucket.chunks.end()) return "a chunk is missing";
    if (chunk->second.value != slot.commit) return "a chunk is another's";
  }
  const std::vector<int64_t>& commits = frame.state.commits;
  if (frame.index.frame == seen_frame_ &&
      (commits.size() < seen_.size() || !std::equal(seen_.begin(), seen_.end(), commits.begin()))) {
    return "what was committed changes";
  }
  seen_ = commits;
  seen_frame_ = frame.index.frame;
  if (std::string violation = ExamineCommits(frame); !violation.empty()) return violation;
  for (const auto& reader : readers_) {
    if (std::string violation = reader->Examine(); !violation.empty()) return violation;
  }
  return "";
}

std::vector<int64_t> ObjectLife::Key() const {
  constexpr size_t kUsual = 256;  // words
  std::vector<int64_t> key;
  key.reserve(kUsual);
  key.push_back(world_.faults);
  const auto add_record = [&](const CommitObject& record) {
    key.insert(key.end(), {record.commit, record.previous, static_cast<int64_t>(record.kind),
                           record.chunk, record.based_on});
  };
  for (const auto& writer : writers_) writer->AppendKey(key);
  for (const auto& reader : readers_) reader->AppendKey(key);
  for (const auto& collector : collectors_) collector->AppendKey(key);
  if (replacer_ != nullptr) replacer_->AppendKey(key);
  key.insert(key.end(), {world_.bucket.index.frame, world_.bucket.index.begin,
                         world_.bucket.index.last, world_.bucket.index.state.pending,
                         static_cast<int64_t>(world_.bucket.records.size())});
  for (const auto& [position, record] : world_.bucket.records) {
    key.push_back(position);
    add_record(record.value);
  }
  for (const auto& [number, chunk] : world_.bucket.chunks) key.push_back(number);
  for (const ObjectWorld::InFlight& late : world_.in_flight) {
    key.insert(key.end(), {-1, static_cast<int64_t>(late.request.kind), late.request.number,
                           late.request.index.begin});
    add_record(late.request.record);
  }
  for (const auto& [commit, fate] : ledger_.fates) key.push_back(static_cast<int64_t>(fate));
  return key;
}

std::string ObjectLife::Run(const Visit& visit) {
  for (; steps_ < conditions_.steps; ++steps_) {
    if (visit != nullptr && !visit(*this)) return "";
    Step();
    if (std::string violation = Examine(); !violation.empty()) return violation;
  }
  return "";
}

}  // namespace cairn::model
