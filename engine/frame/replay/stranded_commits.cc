#include "engine/frame/replay/stranded_commits.h"

#include "absl/status/statusor.h"

#include "engine/format/seal.h"

namespace cairn::frame {

void StrandedCommits::Note(const FoundRecord& record, JournalTrust& trust) {
  uint64_t generation = 0;
  if (format::IsCommit(record.kind)) {
    const absl::StatusOr<format::CommitRecord> commit =
        format::ParseCommit(record.bytes, record.begin);
    if (!commit.ok()) return;
    const format::CommitLinks& links = commit->links;
    if (links.previous == links.base) NoteFirst(links);
    // A writer that has not yet synced the header records that nothing is durable.
    if (links.durable_end > 0) NoteProof(links.base, links.generation);
    if (!IsLater(links.base, links.generation)) return;
    // The receipt that ends the durable bytes is renewed after the sync, so a power cut may have
    // taken a part of it. No commit is that small.
    was_durable_ |= links.durable_end > stop_ + format::kMaxReceiptSize;
    generation = links.generation;
  } else {
    const auto receipt = format::FindReceipt(record.bytes, record.begin);
    if (!receipt.has_value()) return;
    NoteProof(receipt->base, trust.CoveredBy(*receipt));
    if (!IsLater(receipt->base, receipt->generation)) return;
    has_receipts_ = true;
    trust.Learn(*receipt);
    generation = receipt->generation;
  }
  if (begin_ == 0) begin_ = record.begin;
  generation_ = std::max(generation_, generation);
}

void StrandedCommits::NoteFirst(const format::CommitLinks& links) {
  if (links.base == end_.base || links.generation <= end_.generation) return;
  others_.try_emplace(links.base, OtherJournal{.first = links.generation});
}

void StrandedCommits::NoteProof(uint64_t base, uint64_t generation) {
  const auto other = others_.find(base);
  if (other == others_.end()) return;
  other->second.is_proven |= generation >= other->second.first;
}

std::vector<uint64_t> StrandedCommits::other_bases() const {
  std::vector<uint64_t> bases;
  for (const auto& [base, journal] : others_) {
    if (journal.is_proven) bases.push_back(base);
  }
  return bases;
}

bool StrandedCommits::IsLater(uint64_t base, uint64_t generation) const {
  return base == end_.base && generation > end_.generation && generation <= format::kMaxGeneration;
}

std::optional<JournalDamage> StrandedCommits::Judge(const JournalTrust& trust) const {
  const bool was_written =
      has_receipts_ ? trust.Covers(end_.generation + 1) : begin_ != 0 && was_durable_;
  if (!was_written) return std::nullopt;
  return JournalDamage{.bytes = {end_.end, std::max(begin_, end_.end)},
                       .stranded = static_cast<int64_t>(std::max(generation_, end_.generation + 1) -
                                                        end_.generation)};
}

}  // namespace cairn::frame
