#include "engine/frame/offsets_index.h"

#include <algorithm>
#include <utility>

#include "engine/base/checked.h"
#include "engine/base/endian.h"
#include "engine/base/status.h"

namespace cairn::frame {

namespace {

using format::kPageEntries;
constexpr int64_t kEntrySize = sizeof(int64_t);

}  // namespace

OffsetsIndex::OffsetsIndex(Chunk chunk, chunk::Decoder decoder, int64_t nchunks,
                           std::optional<IndexSeal> seal)
    : chunk_(std::move(chunk)),
      decoder_(std::move(decoder)),
      nchunks_(nchunks),
      seal_(std::move(seal)),
      pages_(static_cast<size_t>(CeilDiv(nchunks, kPageEntries))) {}

OffsetsIndex::~OffsetsIndex() {
  for (const std::atomic<Page*>& page : pages_) delete page.load();
}

absl::StatusOr<std::unique_ptr<OffsetsIndex>> OffsetsIndex::Open(Chunk chunk, int64_t nchunks,
                                                                 std::optional<IndexSeal> seal,
                                                                 chunk::WorkspacePool* pool) {
  chunk::DecodeContext context;
  context.pool = pool;
  absl::StatusOr<chunk::Decoder> decoder = chunk::Decoder::Make(chunk.bytes(), context);
  if (!decoder.ok()) return At("index", decoder.status());
  if (decoder->nbytes() != nchunks * kEntrySize) {
    return DataLoss("index: expected %d entries, got %d bytes", nchunks, decoder->nbytes());
  }
  if (seal.has_value() &&
      static_cast<int64_t>(seal->pages.size()) != CeilDiv(nchunks, kPageEntries)) {
    return DataLoss("seal: expected hashes of %d index pages, got %d",
                    CeilDiv(nchunks, kPageEntries), seal->pages.size());
  }
  return std::unique_ptr<OffsetsIndex>(
      new OffsetsIndex(std::move(chunk), *std::move(decoder), nchunks, std::move(seal)));
}

absl::StatusOr<std::unique_ptr<OffsetsIndex::Page>> OffsetsIndex::DecodePage(int64_t page) const {
  auto decoded = std::make_unique<Page>();
  const int64_t first = page * kPageEntries;
  const int64_t count = std::min(kPageEntries, nchunks_ - first);
  const MutableBytes raw = std::as_writable_bytes(std::span(decoded->entries))
                               .first(static_cast<size_t>(count * kEntrySize));
  if (absl::Status status = decoder_.DecodeRange(first * kEntrySize, raw); !status.ok()) {
    return At(absl::StrFormat("index entries from %d on", first), status);
  }
  if (seal_.has_value()) {
    std::vector<std::byte> table;
    seal_->table.AppendTo(first, count, table);
    const uint64_t expected = seal_->pages[static_cast<size_t>(page)];
    if (const uint64_t got = format::HashPage(raw, table); got != expected) {
      return DataLoss("index entries [%d, %d): fingerprint: expected %016x, got %016x", first,
                      first + count, expected, got);
    }
  }
  for (int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(i);
    decoded->entries[at] = static_cast<int64_t>(LoadLe<uint64_t>(raw.data() + at * kEntrySize));
  }
  return decoded;
}

absl::StatusOr<const OffsetsIndex::Page*> OffsetsIndex::GetPage(int64_t page) const {
  std::atomic<Page*>& slot = pages_[static_cast<size_t>(page)];
  if (const Page* known = slot.load(std::memory_order_acquire); known != nullptr) return known;
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<Page> decoded, DecodePage(page));
  Page* expected = nullptr;
  if (slot.compare_exchange_strong(expected, decoded.get(), std::memory_order_acq_rel)) {
    return decoded.release();
  }
  return expected;  // another thread was faster
}

absl::StatusOr<IndexEntry> OffsetsIndex::Get(int64_t nchunk) const {
  CAIRN_ASSIGN_OR_RETURN(const Page* page, GetPage(nchunk / kPageEntries));
  return IndexEntry{.value = page->entries[static_cast<size_t>(nchunk % kPageEntries)],
                    .fingerprint = seal_.has_value() ? seal_->table.At(nchunk) : 0};
}

bool OffsetsIndex::IsVerified(int64_t nchunk) const {
  const Page* page = pages_[static_cast<size_t>(nchunk / kPageEntries)].load();
  const auto bit = static_cast<size_t>(nchunk % kPageEntries);
  return page != nullptr &&
         (page->verified[bit / 64].load(std::memory_order_relaxed) >> (bit % 64) & 1) != 0;
}

void OffsetsIndex::MarkVerified(int64_t nchunk) const {
  Page* page = pages_[static_cast<size_t>(nchunk / kPageEntries)].load();
  const auto bit = static_cast<size_t>(nchunk % kPageEntries);
  if (page != nullptr) {
    page->verified[bit / 64].fetch_or(uint64_t{1} << (bit % 64), std::memory_order_relaxed);
  }
}

}  // namespace cairn::frame
