#include "tests/concurrency/author.h"

#include <algorithm>
#include <utility>

#include "engine/base/status.h"

namespace cairn::test {

absl::Status Author::Open() {
  CAIRN_ASSIGN_OR_RETURN(Writer writer, frame_->OpenWriter());
  writer_ = std::move(writer);
  return absl::OkStatus();
}

absl::Status Author::Begin() {
  CAIRN_RETURN_IF_ERROR(Open());
  return keeper_.Begin(*writer_);
}

absl::Status Author::Resume() {
  CAIRN_RETURN_IF_ERROR(Open());
  CAIRN_ASSIGN_OR_RETURN(const Snapshot snapshot, frame_->Refresh());
  CAIRN_ASSIGN_OR_RETURN(const Ledger ledger, CheckLedger(snapshot, random_));
  keeper_ = LedgerKeeper(ledger);
  return absl::OkStatus();
}

absl::Status Author::Append(int64_t most) {
  const int64_t left = options_.most_items - keeper_.committed().nitems;
  if (left <= 0) return Edit();
  return keeper_.Append(*writer_, 1 + Below(std::min(most, left)));
}

absl::Status Author::Edit() {
  const int64_t nchunks = std::min(keeper_.CountChunks() - 1, kVersions);
  for (int64_t i = Below(3); i >= 0; --i) {
    CAIRN_RETURN_IF_ERROR(keeper_.Rewrite(*writer_, 1 + Below(nchunks)));
  }
  return absl::OkStatus();
}

absl::Status Author::Commit() {
  const Durability durability = Below(4) == 0 ? Durability::kMachine : Durability::kProcess;
  return keeper_.Commit(*writer_, durability);
}

// Makes a commit of anything from a single item to hundreds of chunks.
absl::Status Author::Change() {
  const int64_t kind = Below(16);
  if (kind < 8) {
    CAIRN_RETURN_IF_ERROR(Append(100));
  } else if (kind < 10) {
    CAIRN_RETURN_IF_ERROR(Append(3 * kChunkItems));
  } else if (kind < 11) {
    CAIRN_RETURN_IF_ERROR(Append(200 * kChunkItems));
  } else {
    CAIRN_RETURN_IF_ERROR(Edit());
    if (kind < 13) CAIRN_RETURN_IF_ERROR(Append(100));
  }
  return Commit();
}

// Stages what no reader shall ever see, and drops it, with or without the writer.
absl::Status Author::Abandon() {
  CAIRN_RETURN_IF_ERROR(Append(20 * kChunkItems));
  CAIRN_RETURN_IF_ERROR(Edit());
  keeper_.Forget();
  if (Below(2) == 0) {
    writer_->Rollback();
    return absl::OkStatus();
  }
  writer_.reset();
  return Open();
}

absl::Status Author::CloseAndCompact() {
  CAIRN_RETURN_IF_ERROR(writer_->Close());
  writer_.reset();
  if (options_.path.empty()) {
    CAIRN_RETURN_IF_ERROR(Annotate(frame_->Compact().status(), "compact"));
    return Open();
  }
  CAIRN_ASSIGN_OR_RETURN(Frame other,
                         Frame::Open(options_.path, {.file_system = options_.file_system}));
  CAIRN_RETURN_IF_ERROR(Annotate(other.Compact().status(), "compact"));
  return Open();
}

absl::Status Author::Reclaim() {
  const uint64_t keep = static_cast<uint64_t>(Below(2) * Below(20));
  const auto report = writer_->Reclaim({.keep_generations = keep});
  if (absl::IsUnimplemented(report.status())) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(report.status());
  freed_ += report->freed;
  blocked_ += report->blocked ? 1 : 0;
  return absl::OkStatus();
}

absl::Status Author::Step() {
  const int64_t kind = Below(100);
  if (kind < 84) return Annotate(Change(), "commit");
  if (kind < 90) return Annotate(writer_->Checkpoint(), "checkpoint");
  if (kind < 94) return Annotate(Abandon(), "abandon");
  if (kind < 98) return Annotate(Reclaim(), "reclaim");
  return Annotate(CloseAndCompact(), "close");
}

absl::Status Author::End() {
  CAIRN_RETURN_IF_ERROR(writer_->Close());
  writer_.reset();
  CAIRN_ASSIGN_OR_RETURN(const Snapshot snapshot, frame_->Refresh());
  CAIRN_ASSIGN_OR_RETURN(const Ledger ledger, CheckWholeLedger(snapshot));
  if (ledger != keeper_.committed()) return absl::InternalError("another ledger at the end");
  CAIRN_ASSIGN_OR_RETURN(const VerifyReport report, snapshot.Verify());
  if (!report.ok()) return absl::DataLossError(report.findings.front().reason);
  return absl::OkStatus();
}

}  // namespace cairn::test
