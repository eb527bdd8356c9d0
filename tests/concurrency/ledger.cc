#include "tests/concurrency/ledger.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "engine/base/status.h"

namespace cairn::test {

namespace {

constexpr std::string_view kLayer = "commit";

absl::Status Wrong(std::string_view what, int64_t expected, int64_t got) {
  return absl::InternalError(absl::StrFormat("%s: expected %d, got %d", what, expected, got));
}

Bytes BytesOf(const Ledger& ledger) { return std::as_bytes(std::span(&ledger, 1)); }

absl::StatusOr<Ledger> ReadLedger(const Snapshot& snapshot) {
  Ledger ledger;
  CAIRN_RETURN_IF_ERROR(snapshot.ReadItems(0, std::as_writable_bytes(std::span(&ledger, 1))));
  const FrameInfo& info = snapshot.info();
  if (info.nitems != ledger.nitems) return Wrong("items", ledger.nitems, info.nitems);
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> layer, snapshot.GetVlmetalayer(kLayer));
  int64_t commit = -1;
  if (layer.size() == sizeof(commit)) std::memcpy(&commit, layer.data(), sizeof(commit));
  if (commit != ledger.commit) return Wrong("commit in the vlmetalayer", ledger.commit, commit);
  return ledger;
}

absl::Status CheckItems(const Snapshot& snapshot, const Ledger& ledger, int64_t begin,
                        int64_t end) {
  std::vector<int64_t> items(static_cast<size_t>(end - begin));
  CAIRN_RETURN_IF_ERROR(snapshot.ReadItems(begin, std::span(items)));
  const std::vector<int64_t> expected = ledger.Items(begin, end);
  const auto differs = std::ranges::mismatch(items, expected);
  if (differs.in1 == items.end()) return absl::OkStatus();
  const int64_t item = begin + (differs.in1 - items.begin());
  return Wrong(absl::StrFormat("commit %d, generation %d, item %d", ledger.commit,
                               snapshot.info().generation, item),
               *differs.in2, *differs.in1);
}

absl::Status CheckGathered(const Snapshot& snapshot, const Ledger& ledger,
                           std::mt19937_64& random) {
  std::vector<int64_t> numbers(16);
  for (int64_t& number : numbers) {
    number = kChunkItems + static_cast<int64_t>(random() % (ledger.nitems - kChunkItems));
  }
  std::vector<int64_t> items(numbers.size());
  CAIRN_RETURN_IF_ERROR(snapshot.ReadItemsAt(numbers, std::as_writable_bytes(std::span(items))));
  for (size_t i = 0; i < items.size(); ++i) {
    const int64_t expected = ledger.ItemAt(numbers[i]);
    if (items[i] != expected) return Wrong("gathered item", expected, items[i]);
  }
  return absl::OkStatus();
}

}  // namespace

int64_t Ledger::VersionOf(int64_t nchunk) const {
  return nchunk <= kVersions ? versions[static_cast<size_t>(nchunk - 1)] : 0;
}

int64_t Ledger::ItemAt(int64_t item) const {
  return item * 1000003 + VersionOf(item / kChunkItems) * (int64_t{1} << 40);
}

std::vector<int64_t> Ledger::Items(int64_t begin, int64_t end) const {
  std::vector<int64_t> items;
  items.reserve(static_cast<size_t>(end - begin));
  for (int64_t item = begin; item < end; ++item) items.push_back(ItemAt(item));
  return items;
}

CreateOptions LedgerOptions(Layout layout) {
  CreateOptions options;
  options.compression.typesize = sizeof(int64_t);
  options.chunksize = kChunkItems * int32_t{sizeof(int64_t)};
  options.layout = layout;
  return options;
}

absl::Status LedgerKeeper::Begin(Writer& writer) {
  CAIRN_RETURN_IF_ERROR(writer.Append(BytesOf(staged_)));
  CAIRN_RETURN_IF_ERROR(Append(writer, 1));
  return Commit(writer, Durability::kProcess);
}

absl::Status LedgerKeeper::Append(Writer& writer, int64_t nitems) {
  const int64_t end = staged_.nitems + nitems;
  const std::vector<int64_t> items = staged_.Items(staged_.nitems, end);
  CAIRN_RETURN_IF_ERROR(writer.Append(std::as_bytes(std::span(items))));
  staged_.nitems = end;
  return absl::OkStatus();
}

absl::Status LedgerKeeper::Rewrite(Writer& writer, int64_t nchunk) {
  ++staged_.versions[static_cast<size_t>(nchunk - 1)];
  const int64_t begin = nchunk * kChunkItems;
  const int64_t end = std::min(begin + kChunkItems, staged_.nitems);
  const std::vector<int64_t> items = staged_.Items(begin, end);
  return writer.WriteItems(begin, std::as_bytes(std::span(items)));
}

absl::Status LedgerKeeper::Commit(Writer& writer, Durability durability) {
  ++staged_.commit;
  CAIRN_RETURN_IF_ERROR(writer.WriteItems(0, BytesOf(staged_)));
  CAIRN_RETURN_IF_ERROR(
      writer.SetVlmetalayer(kLayer, std::as_bytes(std::span(&staged_.commit, 1))));
  CAIRN_RETURN_IF_ERROR(writer.Commit(durability).status());
  committed_ = staged_;
  return absl::OkStatus();
}

absl::StatusOr<Ledger> CheckLedger(const Snapshot& snapshot, std::mt19937_64& random) {
  CAIRN_ASSIGN_OR_RETURN(const Ledger ledger, ReadLedger(snapshot));
  const int64_t nchunks = (ledger.nitems + kChunkItems - 1) / kChunkItems;
  for (int i = 0; i < 3; ++i) {
    // The last chunk is where most happens.
    const int64_t nchunk =
        i == 0 ? nchunks - 1 : 1 + static_cast<int64_t>(random() % (nchunks - 1));
    const int64_t begin = nchunk * kChunkItems;
    const int64_t end = std::min(begin + kChunkItems, ledger.nitems);
    CAIRN_RETURN_IF_ERROR(CheckItems(snapshot, ledger, begin, end));
  }
  CAIRN_RETURN_IF_ERROR(CheckGathered(snapshot, ledger, random));
  return ledger;
}

absl::StatusOr<Ledger> CheckWholeLedger(const Snapshot& snapshot) {
  CAIRN_ASSIGN_OR_RETURN(const Ledger ledger, ReadLedger(snapshot));
  CAIRN_RETURN_IF_ERROR(CheckItems(snapshot, ledger, kChunkItems, ledger.nitems));
  return ledger;
}

}  // namespace cairn::test
