#include "tests/crash/model/sparse_writer.h"

#include <algorithm>

namespace cairn::model {
namespace {

bool IsChunk(const std::string& name) { return name.starts_with("chunk"); }

// Records follow each other, each with its receipt; a receipt may come again.
struct Journal {
  std::vector<FoundRecord> records;
  std::vector<uint64_t> ends;  // with the receipts
  std::optional<Receipt> last;
  uint64_t trusted = 0;  // generation up to which receipts vouch
  uint64_t durable_end = 0;
  bool damaged = false;
};

Journal ReadJournal(const Bytes& file, const Checkpoint& checkpoint, uint64_t boot) {
  Journal journal;
  journal.trusted = checkpoint.generation;
  journal.durable_end = checkpoint.base.end;
  uint64_t generation = checkpoint.generation;
  uint64_t previous = checkpoint.base.id;
  uint64_t position = checkpoint.base.end;
  const auto learn = [&](const Receipt& receipt) {
    const uint64_t known = receipt.boot == boot ? receipt.generation : receipt.durable_generation;
    journal.trusted = std::max(journal.trusted, known);
  };
  for (;;) {
    if (const auto found = FindRecord(file, position, true)) {
      const BatchRecord& record = found->record;
      if (record.base != checkpoint.base || record.generation != generation + 1 ||
          record.previous != previous) {
        break;
      }
      journal.records.push_back(*found);
      journal.ends.push_back(position = found->end);
      journal.durable_end = std::max(journal.durable_end, record.durable_end);
      journal.last.reset();
      ++generation;
      previous = found->hash;
    } else if (const auto receipt = FindReceipt(file, position, true)) {
      if (receipt->base != checkpoint.base || receipt->generation != generation) break;
      position += kReceiptSize;
      learn(*receipt);
      if (journal.ends.empty()) break;
      journal.ends.back() = position;
      journal.last = receipt;
    } else {
      break;
    }
  }
  for (uint64_t at = position; at + kReceiptSize <= file.size(); ++at) {
    const auto receipt = FindReceipt(file, at, true);
    if (receipt.has_value() && receipt->base == checkpoint.base) learn(*receipt);
  }
  journal.damaged = journal.trusted > generation;
  return journal;
}

}  // namespace

bool SparseChunkIsIntact(const Directory::Image& files, const ChunkRef& chunk) {
  const auto file = files.find(ChunkName(chunk.offset));
  return file != files.end() && file->second.size() == chunk.size &&
         Hash(file->second, 0, chunk.size) == chunk.hash;
}

SparseView ReplaySparse(const Directory::Image& files, uint64_t boot, size_t header_size,
                        const SparseRules& rules, const std::string& name) {
  SparseView view;
  const auto index = files.find(name);
  if (index == files.end()) return view;
  std::string why;
  const auto checkpoint = ReadCheckpoint(index->second, header_size, why);
  if (!checkpoint.has_value() || checkpoint->trailer_damaged) return view;
  view.opens = true;
  view.checkpoint = *checkpoint;
  view.state = checkpoint->state;
  view.generation = checkpoint->generation;
  view.previous = checkpoint->base.id;
  view.end = view.durable_end = checkpoint->base.end;
  const Journal journal = ReadJournal(index->second, *checkpoint, boot);
  view.damaged = journal.damaged;
  for (size_t i = 0; i < journal.records.size(); ++i) {
    const FoundRecord& found = journal.records[i];
    const BatchRecord& record = found.record;
    const bool trusted = found.end <= journal.durable_end || record.generation <= journal.trusted;
    const bool intact = std::ranges::all_of(
        record.chunks, [&](const ChunkRef& chunk) { return SparseChunkIsIntact(files, chunk); });
    if (rules.checks_chunks && !trusted && !intact) break;
    Apply(record, view.state);
    for (const ChunkRef& chunk : record.chunks) {
      view.files.push_back({chunk.offset, journal.ends[i]});
    }
    view.generation = record.generation;
    view.previous = found.hash;
    view.end = journal.ends[i];
    view.receipt = i + 1 == journal.records.size() ? journal.last : std::nullopt;
  }
  view.durable_end = std::min(journal.durable_end, view.end);
  return view;
}

std::set<uint64_t> FilesOf(const SparseView& view) {
  std::set<uint64_t> numbers;
  for (const ChunkRef& chunk : view.checkpoint.state.chunks) numbers.insert(chunk.offset);
  for (const SparseView::File& file : view.files) numbers.insert(file.number);
  return numbers;
}

void SparseWriter::CreateFrame(Directory& directory, size_t header_size) {
  Checkpoint empty;
  empty.index_begin = header_size;
  const CheckpointBytes bytes = EncodeCheckpoint(empty, {header_size}, 1);
  directory.StartProcess(std::nullopt);
  directory.Create(kIndexName);
  directory.Write(kIndexName, 0, bytes.header);
  directory.Write(kIndexName, header_size, bytes.after_chunks);
  directory.Sync(kIndexName);
  directory.SyncNames();
}

bool SparseWriter::Open() {
  view_ = ReplaySparse(directory_.Cached(), directory_.boot(), header_size_, rules_);
  if (!view_.opens || view_.damaged) return false;
  Confirm();
  RemoveOrphans();
  return true;
}

// The cache may show what the disk lacks: what the writer builds upon is written again.
void SparseWriter::Confirm() {
  const Directory::Image files = directory_.Cached();
  const Bytes& index = files.at(kIndexName);
  for (const SparseView::File& file : view_.files) {
    if (file.commit_end <= view_.durable_end || !rules_.confirms_chunks) continue;
    const std::string name = ChunkName(file.number);
    if (!files.contains(name)) continue;
    directory_.Write(name, 0, files.at(name));
    directory_.Sync(name);
  }
  if (index.size() > view_.end) directory_.Resize(kIndexName, view_.end);
  directory_.Write(kIndexName, view_.durable_end, Slice(index, view_.durable_end, view_.end));
  directory_.Write(kIndexName, 0, Slice(index, 0, header_size_));
  directory_.Sync(kIndexName);
  directory_.SyncNames();
  synced_end_ = view_.end;
  synced_generation_ = view_.generation;
  if (view_.end > view_.checkpoint.base.end) {
    WriteReceipt(view_.end);
    view_.end += kReceiptSize;
  }
}

void SparseWriter::WriteReceipt(uint64_t position) {
  view_.receipt = {view_.checkpoint.base, view_.generation, directory_.boot(), synced_generation_};
  directory_.Write(kIndexName, position, Encode(*view_.receipt, position));
}

std::set<uint64_t> SparseWriter::Named() const {
  if (rules_.minds_journal) return FilesOf(view_);
  std::set<uint64_t> named;
  for (const ChunkRef& chunk : view_.state.chunks) named.insert(chunk.offset);
  return named;
}

// A power cut can only bring back the present index, which is durable. So whatever else there is,
// it stays for readers alone, and these need no file that their own index does not name.
void SparseWriter::RemoveOrphans() {
  bool old_read = false;
  std::set<uint64_t> named = Named();
  for (const std::string& name : directory_.List()) {
    if (IsChunk(name) || name == kIndexName) continue;
    if (!rules_.asks_readers || !is_read_(name)) {
      directory_.Remove(name);
      continue;
    }
    old_read = true;
    SparseView old =
        ReplaySparse(directory_.Cached(), directory_.boot(), header_size_, rules_, name);
    if (!rules_.minds_old_journals) old.files.clear();
    named.merge(FilesOf(old));
    if (!rules_.keeps_old_name) directory_.Remove(name);
  }
  if (old_read && !rules_.drops_between) return;
  for (const std::string& name : directory_.List()) {
    if (!IsChunk(name)) continue;
    if (!named.contains(NumberOf(name))) directory_.Remove(name);
  }
}

BatchRecord SparseWriter::Stage(const SparseEdit& edit) {
  BatchRecord record;
  uint64_t number = 0;
  for (const Bytes& chunk : edit.chunks) {
    while (directory_.Find(ChunkName(number)) != nullptr) ++number;
    directory_.Create(ChunkName(number));
    if (!directory_.running()) break;
    directory_.Write(ChunkName(number), 0, chunk);
    unsynced_.push_back(number);
    record.chunks.push_back({number, chunk.size(), Hash(chunk, 0, chunk.size())});
  }
  record.metadata = edit.metadata;
  record.removed = edit.removed;
  return record;
}

void SparseWriter::SyncFiles() {
  if (unsynced_.empty()) return;
  for (const uint64_t number : unsynced_) {
    if (rules_.syncs_chunks && directory_.running()) directory_.Sync(ChunkName(number));
  }
  if (rules_.syncs_names) directory_.SyncNames();
  unsynced_.clear();
}

void SparseWriter::Commit(BatchRecord record, bool machine) {
  if (machine) SyncFiles();
  record.base = view_.checkpoint.base;
  record.generation = view_.generation + 1;
  record.previous = view_.previous;
  record.durable_end = synced_end_;
  const uint64_t begin = view_.end;
  Bytes bytes = Encode(record, begin);
  const uint64_t receipt_at = begin + bytes.size();
  view_.previous = FindRecord(bytes, 0, false)->hash;
  const Receipt receipt = {record.base, record.generation, directory_.boot(), synced_generation_};
  const Bytes encoded = Encode(receipt, receipt_at);
  bytes.insert(bytes.end(), encoded.begin(), encoded.end());
  directory_.Write(kIndexName, begin, bytes);
  Apply(record, view_.state);
  view_.generation = record.generation;
  view_.end = receipt_at + kReceiptSize;
  for (const ChunkRef& chunk : record.chunks) view_.files.push_back({chunk.offset, view_.end});
  if (!machine) return;
  directory_.Sync(kIndexName);
  synced_end_ = view_.end;
  synced_generation_ = view_.generation;
  WriteReceipt(receipt_at);
}

void SparseWriter::SyncCommitted() {
  if (synced_generation_ == view_.generation) return;
  SyncFiles();
  directory_.Sync(kIndexName);
  synced_end_ = view_.end;
  synced_generation_ = view_.generation;
  WriteReceipt(view_.end);
  view_.end += kReceiptSize;
}

void SparseWriter::MakeCheckpoint() {
  if (view_.generation == view_.checkpoint.generation) return;
  Checkpoint plan;
  plan.generation = view_.generation;
  plan.index_begin = header_size_;
  plan.state = view_.state;
  const CheckpointBytes bytes = EncodeCheckpoint(plan, {header_size_}, random_.Next());
  const std::string name = "old index " + std::to_string(plan.generation);
  const std::string& target = rules_.writes_index_aside ? name : kIndexName;
  if (rules_.syncs_index_before_swap) SyncFiles();
  if (rules_.writes_index_aside) directory_.Create(name);
  if (!directory_.running()) return;
  directory_.Write(target, 0, bytes.header);
  directory_.Write(target, header_size_, bytes.after_chunks);
  if (!rules_.writes_index_aside) directory_.Resize(target, bytes.base.end);
  if (rules_.syncs_index_before_swap) directory_.Sync(target);
  if (rules_.writes_index_aside) directory_.Exchange(name, kIndexName);
  if (rules_.syncs_names_after_swap) directory_.SyncNames();
  if (!directory_.running()) return;
  plan.base = bytes.base;
  view_ = {.opens = true,
           .damaged = false,
           .checkpoint = plan,
           .state = plan.state,
           .generation = plan.generation,
           .previous = bytes.base.id,
           .end = bytes.base.end,
           .durable_end = bytes.base.end,
           .receipt = {},
           .files = {}};
  unsynced_.clear();
  synced_end_ = view_.end;
  synced_generation_ = view_.generation;
  RemoveOrphans();
}

}  // namespace cairn::model
