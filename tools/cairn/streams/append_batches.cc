#include "tools/cairn/streams/append_batches.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>

#include "absl/strings/str_format.h"

#include "tools/cairn/text/units.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

constexpr std::chrono::hours kWait{24 * 365};  // for writers that were let in

// Returns the bytes of an item that is not complete. If chunks differ in size, nothing completes
// it.
int64_t BytesOfLastItem(const FrameInfo& info) {
  return info.variable_chunks ? 0 : info.nbytes % info.typesize;
}

}  // namespace

BatchAppender::BatchAppender(Writer& writer, const FrameInfo& info, const BatchOptions& options)
    : writer_(writer),
      options_(options),
      typesize_(info.typesize),
      variable_(info.variable_chunks),
      left_(options.items * typesize_ - BytesOfLastItem(info)) {}

absl::StatusOr<int64_t> BatchAppender::Run(Input& input) {
  RETURN_IF_ERROR(CheckSize());
  const absl::StatusOr<size_t> taken = TakeAll(input);
  if (!taken.ok()) {
    return absl::Status(
        taken.status().code(),
        absl::StrFormat("%s; committed before that: %s of this input", taken.status().message(),
                        FormatCount(committed_ / typesize_, "item")));
  }
  const size_t rest = *taken;
  RETURN_IF_ERROR(writer_.Close());
  if (rest == 0) return taken_;
  return absl::DataLossError(
      absl::StrFormat("%s ends with %s of an incomplete item; all items before it are committed",
                      input.name(), FormatCount(static_cast<int64_t>(rest), "byte")));
}

absl::Status BatchAppender::CheckSize() const {
  if (!variable_ || options_.items <= kMaxChunkBytes / typesize_) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "--commit-every: each commit makes one chunk of this frame, which holds at most %d items",
      kMaxChunkBytes / typesize_));
}

// Returns how many bytes at the end were not a complete item.
absl::StatusOr<size_t> BatchAppender::TakeAll(Input& input) {
  constexpr int64_t kPiece = 1 << 20;
  const Buffer buffer(static_cast<size_t>(std::max(kPiece, typesize_)));
  size_t held = 0;
  for (;;) {
    ASSIGN_OR_RETURN(const size_t got, input.ReadSome(buffer.bytes().subspan(held)));
    if (got == 0) break;
    const size_t filled = held + got;
    const size_t whole = WholeItems(filled);
    RETURN_IF_ERROR(Take(buffer.first(whole)));
    held = filled - whole;
    std::memmove(buffer.bytes().data(), buffer.bytes().data() + whole, held);
  }
  if (taken_ > committed_) {
    RETURN_IF_ERROR(Commit());
  }
  return held;
}

// Returns how many of the next `nbytes` bytes end with an item, or 0 if none of them does.
size_t BatchAppender::WholeItems(size_t nbytes) const {
  const auto typesize = static_cast<size_t>(typesize_);
  const size_t first = static_cast<size_t>(left_) % typesize;
  return nbytes < first ? 0 : nbytes - (nbytes - first) % typesize;
}

absl::Status BatchAppender::Take(Bytes items) {
  while (!items.empty()) {
    const Bytes piece = items.first(std::min(static_cast<size_t>(left_), items.size()));
    RETURN_IF_ERROR(Stage(piece));
    taken_ += static_cast<int64_t>(piece.size());
    left_ -= static_cast<int64_t>(piece.size());
    if (left_ == 0) {
      RETURN_IF_ERROR(Commit());
    }
    items = items.subspan(piece.size());
  }
  return absl::OkStatus();
}

absl::Status BatchAppender::Stage(Bytes items) {
  if (!variable_) return writer_.Append(items);
  chunk_.insert(chunk_.end(), items.begin(), items.end());
  return absl::OkStatus();
}

absl::Status BatchAppender::Commit() {
  if (variable_) {
    RETURN_IF_ERROR(writer_.Append(chunk_));
    chunk_.clear();
  }
  ASSIGN_OR_RETURN(const Snapshot snapshot, writer_.Commit(options_.durability));
  committed_ = taken_;
  left_ = options_.items * typesize_;
  if (options_.ack) RETURN_IF_ERROR(Acknowledge(snapshot.info().nitems));
  return LetOthersWrite();
}

absl::Status BatchAppender::LetOthersWrite() {
  ASSIGN_OR_RETURN(const bool wanted, writer_.HasWaiters());
  if (!wanted) return absl::OkStatus();
  RETURN_IF_ERROR(writer_.Suspend());
  RETURN_IF_ERROR(writer_.Resume(kWait));
  ASSIGN_OR_RETURN(const Snapshot resumed, writer_.StagedSnapshot());
  left_ -= BytesOfLastItem(resumed.info());
  return absl::OkStatus();
}

// A reader of acknowledgements that closes the pipe did not get everything that it asked for.
absl::Status BatchAppender::Acknowledge(int64_t items) const {
  const absl::Status status = WriteStdout(absl::StrFormat("committed %d\n", items));
  if (!absl::IsCancelled(status)) return status;
  return absl::UnavailableError(status.message());
}

}  // namespace cairn::tool
