// The input is a byte of choices and what lies behind the trailer of a frame of Cairn's, contiguous
// or sparse: chunks and records. So that not all of them end at the first hash, what ties the
// records to the frame and to each other is mostly filled in.
//
// Readers and writers must see the same; a writer continues from there.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/base/hash.h"
#include "engine/format/journal.h"
#include "engine/format/sparse_names.h"
#include "fuzz/check.h"
#include "fuzz/disk_files.h"
#include "fuzz/input.h"
#include "fuzz/mutator.h"
#include "fuzz/read_all.h"
#include "tests/support/simulated_disk.h"

namespace cairn::fuzz {
namespace {

using Buffer = std::vector<std::byte>;

constexpr int32_t kTypesize = 4;
constexpr int32_t kChunksize = 64;
constexpr char kPath[] = "f";
constexpr char kIndexPath[] = "f/chunks.b2frame";

// The frame that all journals follow: three chunks, a metalayer, a vlmetalayer.
struct Base {
  explicit Base(Layout layout) {
    CreateOptions options;
    options.layout = layout;
    options.compression.typesize = kTypesize;
    options.chunksize = kChunksize;
    options.metalayers = {{"meta", Buffer(8, std::byte{1})}};
    options.file_system = disk.root();
    absl::StatusOr<Frame> frame = Frame::Create(kPath, options);
    CheckOk(frame.status(), "a frame is made");
    absl::StatusOr<Writer> writer = frame->OpenWriter();
    CheckOk(writer.status(), "a writer opens");
    Buffer items(3 * kChunksize);
    for (size_t i = 0; i < items.size(); ++i) items[i] = static_cast<std::byte>(i * i);
    CheckOk(writer->Append(items), "items are appended");
    CheckOk(writer->SetVlmetalayer("vl", items), "a vlmetalayer is set");
    CheckOk(writer->Checkpoint(), "a checkpoint is made");
    header_len = writer->StagedSnapshot()->info().header_len;
    const int64_t end = writer->StagedSnapshot()->info().frame_size;
    // A commit shows what records of this frame are tied to.
    CheckOk(writer->Append(Bytes(items).first(kTypesize)), "an item is appended");
    CheckOk(writer->Commit(Durability::kProcess).status(), "a commit is made");
    const Buffer file = ReadFile(disk, layout == Layout::kSparse ? kIndexPath : kPath);
    frame_bytes.assign(file.begin(), file.begin() + end);
    record.assign(file.begin() + end, file.end());
  }

  test::SimulatedDisk disk;
  Buffer frame_bytes;  // of a sparse frame: its index
  Buffer record;       // of the first commit
  int64_t header_len = 0;
};

Base& BaseOf(Layout layout) {
  static Base contiguous(Layout::kContiguous);
  static Base sparse(Layout::kSparse);
  return layout == Layout::kSparse ? sparse : contiguous;
}

// The places of a record's fields. From its base on, a receipt has the same fields.
constexpr size_t kBaseAt = 24;
constexpr size_t kReceiptBaseAt = 8;
constexpr size_t kGenerationAt = 32;
constexpr size_t kPreviousAt = 40;
constexpr size_t kDurableAt = 48;
constexpr size_t kEditsAt = 88;
constexpr size_t kPlacedSize = 24;
// Before it are the chunk files of the base, and of its commit.
constexpr int64_t kFirstFile = 16;

// Fills in what a writer would have.
class Repair {
 public:
  Repair(uint8_t choices, MutableBytes journal)
      : choices_(choices), journal_(journal), base_(BaseOf(layout())), links_(base_.record) {
    previous_ = LoadLe<uint64_t>(links_.data() + kBaseAt);
    generation_ = LoadLe<uint64_t>(links_.data() + kGenerationAt);
  }

  Layout layout() const { return Chosen(6) ? Layout::kContiguous : Layout::kSparse; }
  // The chunks that edits bring, each a file of a sparse frame.
  const std::vector<Bytes>& chunks() const { return chunks_; }

  void Run() {
    while (at_ < journal_.size()) {
      const MutableBytes rest = journal_.subspan(at_);
      if (const auto head = format::FindRecordHead(rest); head.has_value()) {
        if (head->size > std::ssize(rest)) return;
        const MutableBytes record = rest.first(static_cast<size_t>(head->size));
        if (head->kind == format::RecordKind::kReceipt) {
          RepairReceipt(record);
        } else {
          RepairRecord(record, head->kind);
        }
        at_ += static_cast<size_t>(head->size);
      } else {
        if (rest.size() < 16) return;
        const size_t cbytes = LoadLe<uint32_t>(rest.data() + 12);
        if (cbytes < 16 || cbytes > rest.size()) return;
        at_ += cbytes;
      }
    }
  }

 private:
  bool Chosen(int bit) const { return (choices_ >> bit & 1) == 0; }

  // Repairs the receipt of the last batch.
  void RepairReceipt(MutableBytes receipt) {
    const bool is_record = receipt.size() > static_cast<size_t>(format::kReceiptSize);
    if (receipt.size() < static_cast<size_t>(format::kReceiptSize)) return;
    std::byte* const base = receipt.data() + (is_record ? kBaseAt : kReceiptBaseAt);
    if (Chosen(0)) StoreLe(base, LoadLe<uint64_t>(links_.data() + kBaseAt));
    if (Chosen(1)) StoreLe(base + kGenerationAt - kBaseAt, generation_ - 1);
    if (Chosen(5)) StoreHash(receipt);
  }

  static void StoreHash(MutableBytes record) {
    const size_t hashed = record.size() - format::kRecordHashSize;
    StoreLe(record.data() + hashed, Xxh3(record.first(hashed)));
  }

  void RepairRecord(MutableBytes record, format::RecordKind kind) {
    std::byte* const at = record.data();
    if (record.size() > kDurableAt + format::kRecordHashSize) {
      if (Chosen(0)) StoreLe(at + kBaseAt, LoadLe<uint64_t>(links_.data() + kBaseAt));
      if (Chosen(1)) StoreLe(at + kGenerationAt, generation_++);
      if (Chosen(2)) StoreLe(at + kPreviousAt, previous_);
      if (Chosen(3) && kind == format::RecordKind::kAppend) at[kDurableAt] = std::byte{1};
    }
    const size_t least = kEditsAt + 4 + format::kRecordHashSize;
    if (kind != format::RecordKind::kAppend && record.size() >= least) {
      // Counts from the end of the frame.
      if (Chosen(3)) {
        const uint64_t durable = LoadLe<uint64_t>(at + kDurableAt) % (at_ + 1);
        StoreLe(at + kDurableAt, base_.frame_bytes.size() + durable);
      }
      if (Chosen(4)) RepairEdits(record.subspan(kEditsAt));
    }
    if (Chosen(5)) StoreHash(record);
    previous_ = format::StoredChecksum(record);
  }

  void RepairEdits(MutableBytes edits) {
    uint32_t count = LoadLe<uint32_t>(edits.data());
    edits = edits.subspan(4);
    for (; count > 0 && edits.size() >= 12 + kPlacedSize; --count) {
      const uint32_t code = LoadLe<uint32_t>(edits.data());
      size_t size = 12;
      if (code == 1 || code == 2) {
        RepairPlaced(edits.data() + size);
        size += kPlacedSize;
      } else if (code == 3) {
        size += 8;
      } else {
        return;
      }
      edits = edits.subspan(size);
    }
  }

  // Entries of stored chunks count from the start of the journal, where their bytes lie.
  void RepairPlaced(std::byte* placed) {
    const auto entry = LoadLe<uint64_t>(placed);
    const auto cbytes = LoadLe<uint32_t>(placed + 20);
    if (entry > at_ || cbytes > at_ - entry) return;
    const MutableBytes chunk = journal_.subspan(entry, cbytes);
    StoreLe(placed + 8, Xxh3(chunk));
    if (layout() == Layout::kSparse) {
      StoreLe(placed, static_cast<uint64_t>(kFirstFile) + chunks_.size());
      chunks_.push_back(chunk);
    } else {
      StoreLe(placed, entry + base_.frame_bytes.size() - static_cast<uint64_t>(base_.header_len));
    }
  }

  const uint8_t choices_;
  const MutableBytes journal_;
  const Base& base_;
  const Bytes links_;
  std::vector<Bytes> chunks_;
  size_t at_ = 0;
  uint64_t previous_ = 0;
  uint64_t generation_ = 0;
};

void GoOn(test::SimulatedDisk& disk) {
  OpenOptions options = SmallLimits();
  options.file_system = disk.root();
  absl::StatusOr<Frame> frame = Frame::Open(kPath, options);
  if (!IsAnswer(frame.status())) return;
  const FrameInfo before = frame->snapshot().info();
  absl::StatusOr<Writer> writer = frame->OpenWriter();
  if (!writer.ok()) {
    // Damage of what was committed, or another file is said to have the name.
    Check(absl::IsDataLoss(writer.status()) || absl::IsFailedPrecondition(writer.status()) ||
              absl::IsUnavailable(writer.status()) || absl::IsResourceExhausted(writer.status()),
          "a writer is refused for a reason", writer.status().ToString());
    return;
  }
  Check(writer->StagedSnapshot()->info().nbytes == before.nbytes,
        "readers and writers see the same");
  const Buffer item(kTypesize, std::byte{42});
  if (!writer->Append(item).ok()) return;
  const absl::StatusOr<Snapshot> committed = writer->Commit(Durability::kProcess);
  if (!committed.ok()) return;
  Check(committed->info().nbytes == before.nbytes + kTypesize, "a writer goes on");
  if (!writer->Checkpoint().ok()) return;
  const absl::StatusOr<Snapshot> refreshed = frame->Refresh();
  CheckOk(refreshed.status(), "readers see the checkpoint");
  Buffer last(kTypesize);
  if (IsAnswer(refreshed->ReadBytes(before.nbytes, last))) {
    Check(last == item, "what was appended is there");
  }
}

void Replay(Input input) {
  const auto choices = input.Number<uint8_t>();
  Buffer journal = ToVector(input.rest());
  Repair repair(choices, journal);
  repair.Run();
  Base& base = BaseOf(repair.layout());
  Buffer file = base.frame_bytes;
  file.insert(file.end(), journal.begin(), journal.end());
  if (repair.layout() == Layout::kContiguous) {
    ReadFrame(file);
    test::SimulatedDisk disk;
    WriteFile(disk, kPath, file);
    return GoOn(disk);
  }
  const std::unique_ptr<test::SimulatedDisk> disk = base.disk.Clone();
  CheckOk(disk->root()->Remove(kIndexPath), "the index of the base goes");
  WriteFile(*disk, kIndexPath, file);
  for (size_t i = 0; i < repair.chunks().size(); ++i) {
    const int64_t number = kFirstFile + static_cast<int64_t>(i);
    WriteFile(*disk, std::string(kPath) + "/" + format::ChunkFileName(number), repair.chunks()[i]);
  }
  GoOn(*disk);
}

}  // namespace
}  // namespace cairn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cairn::fuzz::Replay(cairn::fuzz::Input(data, size));
  return 0;
}
