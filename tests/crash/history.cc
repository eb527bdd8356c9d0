#include "tests/crash/history.h"

#include <algorithm>
#include <map>
#include <string>

#include "engine/base/bytes.h"
#include "engine/base/hash.h"
#include "engine/base/status.h"

namespace cairn::test {

namespace {

class ContentHash {
 public:
  void Add(Bytes bytes) {
    hash_ = (hash_ ^ Xxh3(bytes) ^ bytes.size()) * 0x9E3779B97F4A7C15u;
    hash_ ^= hash_ >> 29;
  }
  // Layers have no order among themselves.
  void Add(const std::vector<Metalayer>& layers) {
    std::map<std::string, Bytes> sorted;
    for (const Metalayer& layer : layers) sorted.emplace(layer.name, layer.content);
    Add(AsBytes(std::to_string(layers.size())));
    for (const auto& [name, content] : sorted) {
      Add(AsBytes(name));
      Add(content);
    }
  }
  uint64_t Get() const { return hash_; }

 private:
  uint64_t hash_ = 1;
};

}  // namespace

uint64_t ContentOf(const FrameModel& model) {
  ContentHash hash;
  // -1 if the first chunk is to decide it.
  const int32_t chunksize = model.first_chunksize().has_value() ? -1 : model.chunksize();
  hash.Add(AsBytes(std::to_string(chunksize)));
  for (const Buffer& chunk : model.chunks()) hash.Add(chunk);
  hash.Add(model.metalayers());
  hash.Add(model.vlmetalayers());
  return hash.Get();
}

absl::StatusOr<uint64_t> ReadContent(const Snapshot& snapshot) {
  ContentHash hash;
  const FrameInfo& info = snapshot.info();
  hash.Add(AsBytes(std::to_string(info.variable_chunks ? 0 : info.chunksize.value_or(-1))));
  for (int64_t i = 0; i < info.nchunks; ++i) {
    CAIRN_ASSIGN_OR_RETURN(const int32_t size, snapshot.ChunkNbytes(i));
    Buffer chunk(static_cast<size_t>(size));
    CAIRN_RETURN_IF_ERROR(snapshot.ReadChunk(i, chunk));
    hash.Add(chunk);
  }
  hash.Add(snapshot.metalayers());
  std::vector<Metalayer> layers;
  for (const std::string& name : snapshot.vlmetalayers()) {
    CAIRN_ASSIGN_OR_RETURN(Buffer content, snapshot.GetVlmetalayer(name));
    layers.push_back({.name = name, .content = std::move(content)});
  }
  hash.Add(layers);
  return hash.Get();
}

void History::Add(const FrameModel& model) { states_.push_back({ContentOf(model), model}); }

void History::Acknowledge(Durability durability) {
  process_ = newest();
  if (durability == Durability::kMachine) machine_ = newest();
}

std::optional<size_t> History::Find(uint64_t content) const {
  for (size_t i = states_.size(); i-- > 0;) {
    if (states_[i].content == content) return i;
  }
  return std::nullopt;
}

void History::ContinueFrom(size_t state, Durability survived) {
  states_.resize(state + 1);
  process_ = state;
  machine_ = survived == Durability::kMachine ? state : std::min(machine_, state);
}

}  // namespace cairn::test
