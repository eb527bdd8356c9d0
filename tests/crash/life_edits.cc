// The edits of a life.
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "engine/base/status.h"
#include "tests/crash/life.h"
#include "tests/crash/line.h"

namespace cairn::test {

absl::Status Life::DoEdit(Action action) {
  Begin("edit");
  switch (action) {
    case Action::kSetMetalayer:
    case Action::kSetVlmeta:
    case Action::kDeleteVlmeta:
      return EditLayers(action);
    default:
      return setup_.line ? EditLine(action) : EditChunks(action);
  }
}

absl::Status Life::EditChunks(Action action) {
  if (setup_.free_sizes && dice_.Percent(20)) return EditSizes();
  const int64_t at = AnyChunk();
  const auto chunksize =
      static_cast<size_t>(staged_->fixed_chunks() ? staged_->chunksize() : setup_.chunksize);
  const auto nbytes = static_cast<size_t>(staged_->nbytes());
  switch (action) {
    case Action::kInsert:
    case Action::kUpdate: {
      const NewChunk chunk = {.items = Noise(chunksize)};
      if (action == Action::kInsert) {
        return Edit([&](FrameModel& model) { return model.Insert(at, chunk); },
                    [&](Writer& writer) { return writer.InsertChunk(at, chunk.items); });
      }
      return Edit([&](FrameModel& model) { return model.Update(at, chunk); },
                  [&](Writer& writer) { return writer.UpdateChunk(at, chunk.items); });
    }
    case Action::kDelete:
    case Action::kDeleteAll: {
      const bool all = action == Action::kDeleteAll;
      const int64_t first = all ? 0 : at;
      const int64_t count = all ? staged_->nchunks() : 1 + static_cast<int64_t>(dice_.Below(3));
      return Edit([&](FrameModel& model) { return model.Delete(first, count); },
                  [&](Writer& writer) { return writer.DeleteChunks(first, count); });
    }
    case Action::kReorder: {
      std::vector<int64_t> order(staged_->chunks().size());
      std::iota(order.begin(), order.end(), 0);
      for (size_t i = 1; i < order.size(); ++i) std::swap(order[i], order[dice_.Below(i + 1)]);
      return Edit([&](FrameModel& model) { return model.ReorderChunks(order); },
                  [&](Writer& writer) { return writer.ReorderChunks(order); });
    }
    case Action::kWriteItems: {
      const size_t start = dice_.Below(nbytes + 1);
      const Buffer items = Noise(dice_.Below(std::min<size_t>(nbytes - start, 200) + 1));
      const auto first = static_cast<int64_t>(start);
      return Edit([&](FrameModel& model) { return model.WriteItems(first, items); },
                  [&](Writer& writer) { return writer.WriteItems(first, items); });
    }
    default: {
      const size_t limit = dice_.Percent(50) ? 12 : setup_.most_bytes;
      const size_t size = dice_.Percent(30) ? chunksize : 1 + dice_.Below(limit);
      const Buffer items = Noise(size);
      return Edit([&](FrameModel& model) { return model.Append(items); },
                  [&](Writer& writer) { return writer.Append(items); });
    }
  }
}

// Sets the chunksize after all chunks are deleted, or inserts a chunk of any size.
absl::Status Life::EditSizes() {
  if (staged_->nchunks() > 0 && dice_.Percent(40)) {
    const int64_t at = AnyChunk();
    const NewChunk chunk = {.items = Noise(1 + dice_.Below(static_cast<size_t>(setup_.chunksize)))};
    const auto insert = [&](FrameModel& model) {
      FrameModel freed = model;
      if (!model.Insert(at, chunk).ok()) freed.FreeChunkSizes();
      model = std::move(freed);
      return model.Insert(at, chunk);
    };
    return Edit(insert, [&](Writer& writer) { return writer.InsertChunk(at, chunk.items); });
  }
  CAIRN_RETURN_IF_ERROR(EditChunks(Action::kDeleteAll));
  const ChunkSize sizes[] = {setup_.chunksize, setup_.chunksize / 3, 2 * setup_.chunksize,
                             ChunkSize::Variable()};
  const ChunkSize size = sizes[dice_.Below(4)];
  return Edit([&](FrameModel& model) { return model.SetChunksize(size); },
              [&](Writer& writer) { return writer.SetChunksize(size); });
}

// Resizes the line if an edit would change the number of its chunks.
absl::Status Life::EditLine(Action action) {
  if (action == Action::kUpdate || action == Action::kWriteItems) return EditChunks(action);
  if (action == Action::kAppend) {
    const Buffer items = Noise(1 + dice_.Below(setup_.most_bytes));
    return Edit([&](FrameModel& model) { return AppendToLine(model, items); },
                [&](Writer& writer) { return writer.AppendSlices(0, items); });
  }
  const int64_t complete = LengthOfLine(*staged_) / setup_.chunksize;
  if (action == Action::kDelete && complete > 0) {
    const auto first = static_cast<int64_t>(dice_.Below(static_cast<uint64_t>(complete)));
    const int64_t count =
        1 + static_cast<int64_t>(dice_.Below(static_cast<uint64_t>(complete - first)));
    return Edit([&](FrameModel& model) { return DeleteFromLine(model, first, count); },
                [&](Writer& writer) {
                  return writer.DeleteSlices(0, first * setup_.chunksize, count * setup_.chunksize);
                });
  }
  const auto most = static_cast<size_t>(LengthOfLine(*staged_)) + setup_.most_bytes;
  const int64_t shape[] = {action == Action::kDeleteAll ? 0
                                                        : static_cast<int64_t>(dice_.Below(most))};
  return Edit([&](FrameModel& model) { return ResizeLine(model, shape[0]); },
              [&](Writer& writer) { return writer.ResizeArray(shape); });
}

// Items that make the next record end where a sector does.
absl::Status Life::AppendUpToSector() {
  constexpr int64_t kSector = SimulatedInode::kSector;
  const int64_t begin = (end_ + overhead_) % kSector;
  const Buffer items = Noise(static_cast<size_t>(kSector - begin));
  return Edit([&](FrameModel& model) { return model.Append(items); },
              [&](Writer& writer) { return writer.Append(items); });
}

absl::Status Life::EditLayers(Action action) {
  const std::string name(1, static_cast<char>('a' + dice_.Below(3)));
  const Buffer content =
      Noise(action == Action::kSetMetalayer ? setup_.metalayer_size : dice_.Below(60));
  if (action == Action::kSetMetalayer) {
    return Edit([&](FrameModel& model) { return model.SetMetalayer("m", content); },
                [&](Writer& writer) { return writer.SetMetalayer("m", content); });
  }
  if (action == Action::kSetVlmeta) {
    return Edit([&](FrameModel& model) { return model.SetVlmetalayer(name, content); },
                [&](Writer& writer) { return writer.SetVlmetalayer(name, content); });
  }
  return Edit([&](FrameModel& model) { return model.DeleteVlmetalayer(name); },
              [&](Writer& writer) { return writer.DeleteVlmetalayer(name); });
}

// Edits that must be refused are not tried: other tests do that.
absl::Status Life::Edit(const std::function<Verdict(FrameModel&)>& model,
                        const std::function<absl::Status(Writer&)>& edit) {
  FrameModel after = *staged_;
  if (!model(after).ok()) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(edit(*writer_));
  staged_ = std::move(after);
  edited_ = true;
  return absl::OkStatus();
}

Buffer Life::Noise(size_t size) {
  Buffer bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(dice_.Next() >> 32);
  return bytes;
}

}  // namespace cairn::test
