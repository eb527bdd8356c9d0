// A packed store while it is written: a zip file with the frames of members, and a ledger.
#ifndef CAIRN_ENGINE_COLLECTION_PACKED_STORE_H_
#define CAIRN_ENGINE_COLLECTION_PACKED_STORE_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/snapshot.h"
#include "cairn/types.h"
#include "engine/collection/ledger/ledger_codec.h"
#include "engine/collection/members/site.h"
#include "engine/collection/store/zip_writer.h"
#include "engine/frame/files/atomic_file.h"

namespace cairn::collection {

// Not thread-safe.
class PackedStore {
 public:
  // Begins a file at the root of the site. Errors: kAlreadyExists if something is there.
  static absl::StatusOr<PackedStore> Create(const Site& site);

  // Adds the frame of a member. With `since`, it is the increment from there, and the errors are
  // those of Snapshot::CopyTo. Returns the frame's position.
  absl::StatusOr<Position> Add(std::string_view name, MemberKind kind, const Snapshot& frame,
                               const std::optional<Snapshot>& since = {});
  // Adds a ledger with this layer, after all members.
  absl::Status AddLedger(std::string_view layer, Bytes content);
  // Makes the file appear, complete and durable.
  absl::Status Publish();

 private:
  PackedStore(const Site& site, frame::AtomicFile file)
      : site_(site), file_(std::move(file)), zip_(file_.file()) {}

  Site site_;
  frame::AtomicFile file_;
  ZipWriter zip_;
};

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_PACKED_STORE_H_
