#include "engine/frame/checkpoint/checkpoint_steps.h"

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

#include "engine/base/checked.h"
#include "engine/base/endian.h"
#include "engine/base/status.h"
#include "engine/format/journal_summary.h"
#include "engine/format/trailer.h"
#include "engine/frame/checkpoint/checkpoint_trailer.h"
#include "engine/frame/index/chunk_table.h"

namespace cairn::frame {

namespace {

// The work of one step: entries of a column, or bytes of the index that are hashed. The step that
// compresses a page of the index takes about 50 µs.
constexpr int64_t kColumnPiece = 2 * format::kPageEntries;
constexpr int64_t kHashPiece = int64_t{128} << 10;

// Bytes of one write. The kernel runs the writes to a file one after the other, so a commit waits
// for a write that has begun.
constexpr size_t kWritePiece = size_t{128} << 10;
// Bytes that the disk is asked to write at a time. A sync of all of them would delay commits.
constexpr int64_t kAnnounced = int64_t{1} << 20;

int64_t PagesOf(int64_t entries) { return CeilDiv(entries, format::kPageEntries); }

absl::Status Write(File& file, int64_t position, Bytes bytes) {
  while (!bytes.empty()) {
    const Bytes piece = bytes.first(std::min(bytes.size(), kWritePiece));
    const int64_t end = position + std::ssize(piece);
    CAIRN_RETURN_IF_ERROR(file.WriteAt(position, piece));
    const int64_t complete = end - end % kAnnounced;
    if (complete > position) file.SyncSoon(complete - kAnnounced, kAnnounced);
    position = end;
    bytes = bytes.subspan(piece.size());
  }
  return absl::OkStatus();
}

template <typename T>
void Append(T number, std::vector<std::byte>& out) {
  out.resize(out.size() + sizeof(T));
  StoreLe(out.data() + out.size() - sizeof(T), static_cast<std::make_unsigned_t<T>>(number));
}

}  // namespace

CheckpointSteps::CheckpointSteps(std::shared_ptr<File> file, const State& state,
                                 CheckpointPlan plan)
    : file_(std::move(file)),
      staged_(state),
      plan_(std::move(plan)),
      fields_(staged_.header),
      joined_(PagesOf(staged_.chunks.size())) {
  plan_.seal.pages.clear();
}

int64_t CheckpointSteps::MostBytes(const State& state, int64_t space) {
  constexpr int64_t kFraming = 4096;
  constexpr int64_t kOfPage = 32;  // a start and a hash, and what a block has of its own
  const int64_t entries = state.chunks.size();
  int64_t size = format::kGoesOnSize + format::kAnchorSize +
                 entries * (format::kIndexTypesize + format::kTableEntry) +
                 PagesOf(entries) * kOfPage + space + state.header().header_len + kFraming;
  for (const VlMetalayer& layer : state.metadata->vlmetalayers) {
    size += std::ssize(layer.chunk.bytes()) + std::ssize(layer.name) + kOfPage;
  }
  return size;
}

void CheckpointSteps::Enter(Phase phase) {
  phase_ = phase;
  at_ = 0;
}

absl::Status CheckpointSteps::Step() {
  switch (phase_) {
    case Phase::kIndex:
      return WriteIndexPage();
    case Phase::kIndexHash:
      return HashIndex();
    case Phase::kFingerprints:
      return WriteColumn(fingerprints_begin_, &format::IndexEntry::fingerprint, Phase::kSizes);
    case Phase::kSizes:
      return WriteColumn(fingerprints_begin_ + size() * int64_t{sizeof(uint64_t)},
                         &format::IndexEntry::cbytes, Phase::kDone);
    case Phase::kDone:
      return absl::OkStatus();
  }
  return absl::OkStatus();
}

absl::Status CheckpointSteps::WriteIndexPage() {
  std::vector<int64_t> entries;
  std::vector<std::byte> raw;
  std::vector<std::byte> fingerprints;
  std::vector<std::byte> sizes;
  CAIRN_RETURN_IF_ERROR(staged_.chunks.ForEach(
      [&](const IndexEntry& entry) {
        entries.push_back(entry.value);
        Append(entry.value, raw);
        Append(entry.fingerprint, fingerprints);
        Append(entry.cbytes, sizes);
        if (IsUncovered(entry)) ++plan_.seal.uncovered;
        return absl::OkStatus();
      },
      at_, format::kPageEntries));
  plan_.seal.pages.push_back(format::HashPage(raw, fingerprints, sizes));
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> page,
                         format::EncodeIndexBlocks(entries, plan_.pool));
  const int64_t position = index_end();
  const std::optional<Bytes> block = joined_.Add(page, 1);
  if (!block.has_value()) return Unimplemented("index: a page that is not coded as a block");
  CAIRN_RETURN_IF_ERROR(Write(*file_, position, *block));
  at_ += format::kPageEntries;
  return at_ < size() ? absl::OkStatus() : FinishIndex();
}

absl::Status CheckpointSteps::FinishIndex() {
  CAIRN_RETURN_IF_ERROR(file_->WriteAt(plan_.index_begin, joined_.Head()));
  Enter(Phase::kIndexHash);
  return absl::OkStatus();
}

absl::Status CheckpointSteps::HashIndex() {
  std::vector<std::byte> piece(static_cast<size_t>(std::min(kHashPiece, joined_.cbytes() - at_)));
  CAIRN_RETURN_IF_ERROR(file_->ReadAt(plan_.index_begin + at_, piece));
  index_hash_.Update(piece);
  at_ += std::ssize(piece);
  return at_ < joined_.cbytes() ? absl::OkStatus() : WriteTrailer();
}

// Writes all of the trailer except the two columns, which lie where `table` omits them.
absl::Status CheckpointSteps::WriteTrailer() {
  CAIRN_RETURN_IF_ERROR(SetIndexBegin(plan_.index_begin, size(), fields_));
  plan_.seal.index_hash = index_hash_.Digest();
  const std::vector<std::byte> head = ChunkTable::Head(size() * format::kTableEntry);
  const format::NamedBytes table = {
      .name = format::kTableLayer, .content = head, .omitted = size() * format::kTableEntry};
  CAIRN_ASSIGN_OR_RETURN(
      CheckpointTrailer trailer,
      EncodeCheckpointTrailer(staged_, fields_, index_end(), &plan_.seal, &table));
  header_ = std::move(trailer.header);
  const Bytes bytes(trailer.bytes);
  const auto before = static_cast<size_t>(trailer.table_end);
  fingerprints_begin_ = index_end() + trailer.table_end;
  CAIRN_RETURN_IF_ERROR(Write(*file_, index_end(), bytes.first(before)));
  CAIRN_RETURN_IF_ERROR(Write(*file_, fingerprints_begin_ + table.omitted, bytes.subspan(before)));
  const int64_t end = fingerprints_begin_ + table.omitted + std::ssize(bytes) - trailer.table_end;
  std::vector<std::byte> after = format::EncodeGoesOn(*plan_.seal.journal, end);
  const uint64_t identity = format::SummaryIdentity(plan_.seal.journal->base, end);
  std::ranges::copy(format::EncodeAnchor(identity), std::back_inserter(after));
  CAIRN_RETURN_IF_ERROR(file_->WriteAt(end, after));
  Enter(Phase::kFingerprints);
  return absl::OkStatus();
}

template <typename T>
absl::Status CheckpointSteps::WriteColumn(int64_t begin, T format::IndexEntry::*field, Phase next) {
  std::vector<std::byte> piece;
  const int64_t position = begin + at_ * static_cast<int64_t>(sizeof(T));
  const int64_t count = std::min(kColumnPiece, size() - at_);
  piece.reserve(static_cast<size_t>(count) * sizeof(T));
  CAIRN_RETURN_IF_ERROR(staged_.chunks.ForEach(
      [&](const IndexEntry& entry) {
        Append(entry.*field, piece);
        return absl::OkStatus();
      },
      at_, count));
  CAIRN_RETURN_IF_ERROR(Write(*file_, position, piece));
  at_ += count;
  if (at_ == size()) Enter(next);
  return absl::OkStatus();
}

}  // namespace cairn::frame
