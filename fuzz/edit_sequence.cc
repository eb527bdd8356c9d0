// The input is the kind of a frame and a sequence of edits, commits and openings, made by a writer
// and on the model of the frame. Snapshots hold what the model held when they were taken.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cairn/frame.h"
#include "engine/base/bytes.h"
#include "fuzz/check.h"
#include "fuzz/input.h"
#include "fuzz/mutator.h"
#include "fuzz/read_all.h"
#include "tests/support/frame_model.h"
#include "tests/support/simulated_disk.h"

namespace cairn::fuzz {
namespace {

using Buffer = std::vector<std::byte>;
using test::FrameModel;
using test::Verdict;

constexpr int kMostEdits = 60;
constexpr int64_t kMostBytes = 1 << 18;
constexpr char kPath[] = "f";

void CheckHolds(const Snapshot& snapshot, const FrameModel& model) {
  Check(snapshot.info().nchunks == model.nchunks(), "a snapshot has the model's chunks");
  for (int64_t i = 0; i < model.nchunks(); ++i) {
    const Buffer& expected = model.chunks()[static_cast<size_t>(i)];
    const absl::StatusOr<int32_t> size = snapshot.ChunkNbytes(i);
    CheckOk(size.status(), "a chunk has a size");
    Check(*size == std::ssize(expected), "a chunk has the model's size");
    Buffer chunk(expected.size());
    CheckOk(snapshot.ReadChunk(i, chunk), "a chunk is read");
    CheckSame(chunk, expected, "a chunk holds what the model does");
  }
  Check(snapshot.metalayers() == model.metalayers(), "metalayers are the model's");
  const std::vector<std::string> names = snapshot.vlmetalayers();
  Check(names.size() == model.vlmetalayers().size(), "there are as many vlmetalayers");
  for (size_t i = 0; i < names.size(); ++i) {
    const absl::StatusOr<Buffer> content = snapshot.GetVlmetalayer(names[i]);
    CheckOk(content.status(), "a vlmetalayer is read");
    Check(Metalayer{names[i], *content} == model.vlmetalayers()[i], "vlmetalayers are the model's");
  }
}

CreateOptions TakeOptions(Input& input) {
  static constexpr Codec kCodecs[] = {Codec::kLz4, Codec::kBloscLz, Codec::kZstd, Codec::kZlib};
  static constexpr int32_t kTypesizes[] = {1, 4, 8, 3, 300};
  CreateOptions options;
  const auto kind = input.Number<uint8_t>();
  options.layout = kind % 4 == 0 ? Layout::kSparse : Layout::kContiguous;
  options.fingerprint = static_cast<FingerprintType>(kind >> 2 & 3);
  options.compression.codec = kCodecs[kind >> 4 & 3];
  options.compression.typesize = kTypesizes[input.Below(std::size(kTypesizes))];
  const auto items = static_cast<int32_t>(input.Below(100));
  options.chunksize =
      items == 0 ? ChunkSize::Variable() : ChunkSize(items * options.compression.typesize);
  options.metalayers = {{"m", Buffer(static_cast<size_t>(kind >> 6))}};
  return options;
}

// A frame, and everyone who looks at it.
class Session {
 public:
  explicit Session(Input input)
      : input_(std::move(input)),
        options_(TakeOptions(input_)),
        model_(options_.compression.typesize, options_.chunksize.nbytes().value_or(0),
               options_.metalayers),
        committed_(model_) {
    options_.file_system = disk_.root();
    absl::StatusOr<Frame> frame = Frame::Create(kPath, options_);
    CheckOk(frame.status(), "a frame is made");
    frame_.emplace(*std::move(frame));
    OpenWriter();
  }

  void Run() {
    for (int i = 0; i < kMostEdits && !input_.empty(); ++i) {
      Edit();
      Check(model_.nbytes() == writer_->StagedSnapshot()->info().nbytes, "edits count");
    }
    CheckHolds(*writer_->StagedSnapshot(), model_);
    Reopen(true);
    CheckHolds(frame_->snapshot(), model_);
    ReadAll(frame_->snapshot());
    if (old_.has_value()) CheckHolds(old_->first, old_->second);
  }

 private:
  void OpenWriter() {
    absl::StatusOr<Writer> writer = frame_->OpenWriter();
    CheckOk(writer.status(), "a writer opens");
    writer_.emplace(*std::move(writer));
  }

  // Puts the frame away, with what is staged or without.
  void Reopen(bool close) {
    if (close) {
      CheckOk(writer_->Close(), "a writer closes");
      committed_ = model_;
    }
    writer_.reset();
    frame_.reset();
    model_ = committed_;
    OpenOptions options = SmallLimits();
    options.file_system = disk_.root();
    absl::StatusOr<Frame> frame = Frame::Open(kPath, options);
    CheckOk(frame.status(), "a frame opens");
    frame_.emplace(*std::move(frame));
    CheckHolds(frame_->snapshot(), model_);
  }

  void Compare(const Verdict& verdict, const absl::Status& status) {
    Check(static_cast<bool>(verdict.IsMetBy(status)), "writer and model agree", status.ToString());
  }

  Buffer Items(size_t bytes) {
    const Bytes pattern = input_.Take(std::min<size_t>(bytes, 8));
    Buffer items(bytes);
    for (size_t i = 0; i < bytes && !pattern.empty(); ++i) {
      items[i] = pattern[i % pattern.size()] ^ static_cast<std::byte>(i / 61);
    }
    return items;
  }
  // Mostly as many as a chunk has.
  Buffer ChunkItems() {
    const auto whole = static_cast<size_t>(std::max(options_.chunksize.nbytes().value_or(0), 64));
    const auto choice = input_.Number<uint8_t>();
    return Items(choice % 4 != 0 ? whole : choice / 4 * typesize());
  }
  size_t typesize() const { return static_cast<size_t>(options_.compression.typesize); }
  // At times one that is not there.
  int64_t AnyChunk() {
    return static_cast<int64_t>(input_.Below(static_cast<size_t>(model_.nchunks()) + 2));
  }
  std::string AnyName() { return std::string(1 + input_.Below(2), "mvxy"[input_.Below(4)]); }

  void Edit() {
    const auto operation = input_.Number<uint8_t>();
    if (operation % 20 < 8) return EditChunks(operation % 20);
    if (operation % 20 < 12) return EditLayers(operation % 20);
    Commit(operation % 20);
  }

  void EditChunks(int operation) {
    if (model_.nbytes() > kMostBytes) operation = 4;
    switch (operation) {
      case 0: {
        const Buffer items = Items(input_.Below(300) * typesize());
        return Compare(model_.Append(items), writer_->Append(items));
      }
      case 1: {
        const auto special = static_cast<SpecialValue>(input_.Below(5));
        const auto count = static_cast<int64_t>(input_.Below(400));
        const Buffer value = Items(special == SpecialValue::kRepeat ? typesize() : 0);
        return Compare(model_.AppendSpecial(special, count, value),
                       writer_->AppendSpecial(special, count, value));
      }
      case 2: {
        const int64_t nchunk = AnyChunk();
        const Buffer items = ChunkItems();
        return Compare(model_.Insert(nchunk, {.items = items}),
                       writer_->InsertChunk(nchunk, items));
      }
      case 3: {
        const int64_t nchunk = AnyChunk();
        const Buffer items = ChunkItems();
        return Compare(model_.Update(nchunk, {.items = items}),
                       writer_->UpdateChunk(nchunk, items));
      }
      case 4: {
        const int64_t first = AnyChunk();
        const int64_t count = AnyChunk();
        return Compare(model_.Delete(first, count), writer_->DeleteChunks(first, count));
      }
      case 5: {
        const auto start = static_cast<int64_t>(input_.Number<uint16_t>());
        const Buffer items = Items(input_.Below(200) * typesize());
        return Compare(model_.WriteItems(start, items), writer_->WriteItems(start, items));
      }
      case 6: {
        std::vector<int64_t> order;
        for (int64_t i = 0; i < model_.nchunks(); ++i) order.push_back(i);
        const size_t by = input_.Below(order.size() + 1);
        std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(by), order.end());
        return Compare(model_.ReorderChunks(order), writer_->ReorderChunks(order));
      }
      default: {
        const Buffer items = ChunkItems();
        Buffer chunk(MaxCompressedSize(items.size()));
        const absl::StatusOr<size_t> size = CompressChunk(items, options_.compression, chunk);
        CheckOk(size.status(), "a chunk is made");
        chunk.resize(*size);
        return Compare(model_.Insert(model_.nchunks(), {.items = items, .compressed = true}),
                       writer_->AppendCompressed(chunk));
      }
    }
  }

  void EditLayers(int operation) {
    const std::string name = AnyName();
    const Buffer content = Items(input_.Below(100));
    if (operation == 8) {
      return Compare(model_.SetMetalayer(name, content), writer_->SetMetalayer(name, content));
    }
    if (operation == 9)
      return Compare(model_.DeleteVlmetalayer(name), writer_->DeleteVlmetalayer(name));
    if (operation == 10 && model_.nchunks() == 0) {
      const auto items = static_cast<int32_t>(input_.Below(100));
      const ChunkSize size = items == 99 ? ChunkSize::Variable() : ChunkSize(items);
      return Compare(model_.SetChunksize(size), writer_->SetChunksize(size));
    }
    Compare(model_.SetVlmetalayer(name, content), writer_->SetVlmetalayer(name, content));
  }

  void Commit(int operation) {
    switch (operation) {
      case 12:
        writer_->Rollback();
        model_ = committed_;
        return;
      case 13:
        CheckOk(writer_->Checkpoint(), "a checkpoint is made");
        break;
      case 14:
      case 15:
        Reopen(operation == 14);
        return OpenWriter();
      case 16: {
        CheckOk(writer_->Close(), "a writer closes");
        writer_.reset();
        CheckOk(frame_->Compact().status(), "a frame is compacted");
        OpenWriter();
        break;
      }
      case 17: {
        const absl::Status status = writer_->Reclaim().status();
        if (status.ok()) break;
        Check(absl::IsFailedPrecondition(status) || absl::IsUnimplemented(status),
              "space is given back or not", status.ToString());
        return;
      }
      default: {
        const Durability durability = operation == 18 ? Durability::kMachine : Durability::kProcess;
        const absl::StatusOr<Snapshot> snapshot = writer_->Commit(durability);
        CheckOk(snapshot.status(), "edits are committed");
        CheckHolds(*snapshot, model_);
        if (!old_.has_value()) old_.emplace(*snapshot, model_);
      }
    }
    committed_ = model_;
    const absl::StatusOr<Snapshot> seen = frame_->Refresh();
    CheckOk(seen.status(), "a reader sees the commit");
    CheckHolds(*seen, committed_);
  }

  Input input_;
  test::SimulatedDisk disk_;
  CreateOptions options_;
  FrameModel model_;
  FrameModel committed_;
  std::optional<Frame> frame_;
  std::optional<Writer> writer_;
  std::optional<std::pair<Snapshot, FrameModel>> old_;
};

}  // namespace
}  // namespace cairn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cairn::fuzz::Session(cairn::fuzz::Input(data, size)).Run();
  return 0;
}
