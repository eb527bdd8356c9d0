#include "engine/frame/stage/pending_items.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/base/status.h"
#include "engine/format/b2nd.h"

namespace cairn::frame {

absl::Status PendingItems::Reopen(int64_t used) {
  if (!staged_.partial.empty()) return LoadHead();
  if (used == 0) return absl::OkStatus();
  const int64_t last = staged_.chunks.size() - 1;
  if (dirty_.Has(last)) CAIRN_RETURN_IF_ERROR(dirty_.Encode());
  CAIRN_ASSIGN_OR_RETURN(head_items_, dirty_.Read(last));
  head_items_.resize(static_cast<size_t>(used));
  CAIRN_ASSIGN_OR_RETURN(const ChunkCost cost, edits_.CostOf(last));
  return staged_.ReopenLast(cost, used);
}

// Nothing is built upon a head that cannot be read.
absl::Status PendingItems::LoadHead() {
  const std::optional<format::IndexedChunk>& head = staged_.partial.head;
  if (!head.has_value() || std::ssize(head_items_) == head->nbytes) return absl::OkStatus();
  CAIRN_ASSIGN_OR_RETURN(head_items_, dirty_.Read(staged_.chunks.size()));
  head_items_.resize(static_cast<size_t>(head->nbytes));
  return absl::OkStatus();
}

// The length of an array of one dimension follows from its padded partial chunk; without one, only
// the metalayer says it.
void PendingItems::RecordLength() {
  const Metalayer* const layer = format::FindB2ndLayer(staged_.metadata->metalayers);
  if (layer == nullptr) return;
  staged_.Record({.kind = format::LayerEdit::Kind::kSetMetalayer,
                  .name = layer->name,
                  .content = layer->content});
}

absl::Status PendingItems::Close() {
  if (staged_.partial.empty()) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(LoadHead());
  if (staged_.partial.is_padded()) RecordLength();
  const PartialChunk partial = staged_.partial;
  staged_.DropPartialChunk();
  if (!partial.head.has_value())
    return edits_.Append(edits_.chunk_writer().FromPadded(partial.items.span(), partial.padded_to));
  std::vector<std::byte> items = std::exchange(head_items_, {});
  const Bytes added = partial.items.span();
  items.insert(items.end(), added.begin(), added.end());
  return edits_.Append(edits_.chunk_writer().FromPadded(items, partial.padded_to));
}

absl::Status PendingItems::Append(Bytes items, int64_t capacity, int32_t padded_to) {
  const auto most = static_cast<size_t>(capacity);
  staged_.edited = true;
  while (!items.empty()) {
    if (staged_.partial.empty() && items.size() >= most) {
      CAIRN_RETURN_IF_ERROR(
          edits_.Append(edits_.chunk_writer().FromPadded(items.first(most), padded_to)));
      items = items.subspan(most);
      continue;
    }
    const auto filled = static_cast<size_t>(staged_.partial.filled());
    const size_t n = std::min(items.size(), most - filled);
    staged_.AppendPending(items.first(n), padded_to);
    items = items.subspan(n);
    if (filled + n == most) CAIRN_RETURN_IF_ERROR(Close());
  }
  return absl::OkStatus();
}

}  // namespace cairn::frame
