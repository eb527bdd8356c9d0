#include "engine/frame/index/committed_index.h"

#include <algorithm>
#include <span>
#include <utility>

#include "engine/base/checked.h"
#include "engine/base/endian.h"
#include "engine/base/status.h"

namespace cairn::frame {

namespace {

using format::kPageEntries;
constexpr int64_t kEntrySize = sizeof(int64_t);
// The longest period worth detecting: a kRepeat chunk of 8-byte entries repeats a value of at most
// 255 bytes, hence within 255 entries.
constexpr size_t kLongestPeriod = 255;

// Returns how many of the first entries are repeated in all that follow.
size_t PeriodOf(std::span<const int64_t> entries) {
  for (size_t period = 1; period <= std::min(kLongestPeriod, entries.size() / 2);) {
    const auto rest = entries.subspan(period);
    const auto alike = static_cast<size_t>(std::ranges::mismatch(rest, entries).in1 - rest.begin());
    if (alike == rest.size()) return period;
    // No period up to that length fits, because the entries would differ at the same place.
    period = std::max(period, alike) + 1;
  }
  return entries.size();
}

absl::Status OpenDecoder(Bytes chunk, int64_t nchunks, chunk::WorkspacePool* pool,
                         chunk::Decoder& decoder) {
  chunk::DecodeContext context;
  context.pool = pool;
  // Every Blosc2 cuts the index into blocks of 16 KiB. Decoding a page should not cost much more
  // memory.
  context.max_memory = 4 << 20;
  CAIRN_RETURN_IF_ERROR(Annotate(decoder.Open(chunk, context), "index"));
  if (decoder.nbytes() == nchunks * kEntrySize) return absl::OkStatus();
  return DataLoss("index: expected %d entries, got %d bytes", nchunks, decoder.nbytes());
}

}  // namespace

CommittedIndex::CommittedIndex(Chunk chunk, chunk::Decoder decoder, absl::Status damage,
                               int64_t nchunks, std::optional<IndexSeal> seal)
    : chunk_(std::move(chunk)),
      decoder_(std::move(decoder)),
      damage_(std::move(damage)),
      nchunks_(nchunks),
      seal_(std::move(seal)),
      pages_(static_cast<size_t>(CeilDiv(nchunks, kPageEntries))) {}

CommittedIndex::~CommittedIndex() {
  for (const std::atomic<Page*>& page : pages_) delete page.load();
}

absl::StatusOr<std::unique_ptr<CommittedIndex>> CommittedIndex::Open(Chunk chunk, int64_t nchunks,
                                                                     std::optional<IndexSeal> seal,
                                                                     chunk::WorkspacePool* pool) {
  chunk::Decoder decoder;
  absl::Status damage = OpenDecoder(chunk.bytes(), nchunks, pool, decoder);
  // A seal still tells which chunks there are.
  const bool is_damage = absl::IsDataLoss(damage) || absl::IsUnimplemented(damage);
  if (!damage.ok() && !(is_damage && seal.has_value())) return damage;
  const int64_t npages = CeilDiv(nchunks, kPageEntries);
  if (seal.has_value() && std::ssize(seal->pages) != npages) {
    return DataLoss("seal: expected hashes of %d index pages, got %d", npages, seal->pages.size());
  }
  return std::unique_ptr<CommittedIndex>(new CommittedIndex(
      std::move(chunk), std::move(decoder), std::move(damage), nchunks, std::move(seal)));
}

absl::Status CommittedIndex::CheckPage(int64_t page, Bytes raw) const {
  if (!seal_.has_value()) return absl::OkStatus();
  const int64_t first = page * kPageEntries;
  const int64_t count = static_cast<int64_t>(raw.size()) / kEntrySize;
  std::vector<std::byte> zeros;
  const ChunkTable::Columns table = seal_->table.Part(first, count, zeros);
  const uint64_t expected = seal_->pages[static_cast<size_t>(page)];
  const uint64_t got = format::HashPage(raw, table.fingerprints, table.sizes);
  if (got == expected) return absl::OkStatus();
  return DataLoss("index: entries [%d, %d): fingerprint: expected %016x, got %016x", first,
                  first + count, expected, got);
}

absl::StatusOr<std::unique_ptr<CommittedIndex::Page>> CommittedIndex::DecodePage(
    int64_t page) const {
  CAIRN_RETURN_IF_ERROR(damage_);
  const int64_t first = page * kPageEntries;
  const auto count = static_cast<size_t>(std::min(kPageEntries, nchunks_ - first));
  auto entries = std::make_unique_for_overwrite<int64_t[]>(count);
  const std::span<int64_t> span(entries.get(), count);
  const MutableBytes raw = std::as_writable_bytes(span);
  if (absl::Status status = decoder_.DecodeRange(first * kEntrySize, raw); !status.ok()) {
    return Annotate(status, "index: entries from %d on", first);
  }
  CAIRN_RETURN_IF_ERROR(CheckPage(page, raw));
  for (int64_t& entry : span) {
    entry = static_cast<int64_t>(ToOrder<std::endian::little>(static_cast<uint64_t>(entry)));
  }
  auto decoded = std::make_unique<Page>();
  decoded->count = PeriodOf(span);
  if (decoded->count < count) {
    decoded->entries = std::make_unique_for_overwrite<int64_t[]>(decoded->count);
    std::ranges::copy(span.first(decoded->count), decoded->entries.get());
  } else {
    decoded->entries = std::move(entries);
  }
  return decoded;
}

absl::StatusOr<const CommittedIndex::Page*> CommittedIndex::GetPage(int64_t page) const {
  std::atomic<Page*>& slot = pages_[static_cast<size_t>(page)];
  if (const Page* known = slot.load(std::memory_order_acquire); known != nullptr) return known;
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<Page> decoded, DecodePage(page));
  Page* expected = nullptr;
  if (slot.compare_exchange_strong(expected, decoded.get(), std::memory_order_acq_rel)) {
    return decoded.release();
  }
  return expected;  // another thread was faster
}

absl::StatusOr<int64_t> CommittedIndex::ValueOf(int64_t nchunk) const {
  CAIRN_ASSIGN_OR_RETURN(const Page* page, GetPage(nchunk / kPageEntries));
  return page->At(static_cast<size_t>(nchunk % kPageEntries));
}

absl::Status CommittedIndex::ForEach(
    int64_t first, int64_t count, absl::FunctionRef<absl::Status(const IndexEntry&)> visit) const {
  const int64_t end = first + count;
  while (first < end) {
    const int64_t number = first / kPageEntries;
    CAIRN_ASSIGN_OR_RETURN(const Page* page, GetPage(number));
    const int64_t page_end = std::min(end, (number + 1) * kPageEntries);
    for (; first < page_end; ++first) {
      CAIRN_RETURN_IF_ERROR(
          visit({.value = page->At(static_cast<size_t>(first - number * kPageEntries)),
                 .fingerprint = FingerprintOf(first),
                 .cbytes = SizeOf(first)}));
    }
  }
  return absl::OkStatus();
}

bool CommittedIndex::IsVerified(int64_t nchunk) const {
  const Page* page = pages_[static_cast<size_t>(nchunk / kPageEntries)].load();
  const auto bit = static_cast<size_t>(nchunk % kPageEntries);
  return page != nullptr &&
         (page->verified[bit / 64].load(std::memory_order_relaxed) >> (bit % 64) & 1) != 0;
}

void CommittedIndex::MarkVerified(int64_t nchunk) const {
  Page* page = pages_[static_cast<size_t>(nchunk / kPageEntries)].load();
  const auto bit = static_cast<size_t>(nchunk % kPageEntries);
  if (page != nullptr) {
    page->verified[bit / 64].fetch_or(uint64_t{1} << (bit % 64), std::memory_order_relaxed);
  }
}

}  // namespace cairn::frame
