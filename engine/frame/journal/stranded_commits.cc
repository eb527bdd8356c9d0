#include "engine/frame/journal/stranded_commits.h"

#include "absl/status/statusor.h"

#include "engine/format/seal.h"

namespace cairn::frame {

void StrandedCommits::Note(const FoundRecord& record, JournalTrust& trust) {
  uint64_t generation = 0;
  if (format::IsCommit(record.kind)) {
    const absl::StatusOr<format::CommitRecord> commit =
        format::ParseCommit(record.bytes, record.begin);
    if (!commit.ok() || !IsLater(commit->links.base, commit->links.generation)) return;
    // The receipt that ends what is durable is renewed after the sync: a power cut may have taken a
    // part of it. No commit is so small.
    was_durable_ |= commit->links.durable_end > stop_ + format::kMaxReceiptSize;
    generation = commit->links.generation;
  } else {
    const auto receipt = format::FindReceipt(record.bytes, record.begin);
    if (!receipt.has_value() || !IsLater(receipt->base, receipt->generation)) return;
    has_receipts_ = true;
    trust.Learn(*receipt);
    generation = receipt->generation;
  }
  if (begin_ == 0) begin_ = record.begin;
  generation_ = std::max(generation_, generation);
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
