// Does again what a writer of a collection that died may have left undone.
#ifndef CAIRN_ENGINE_COLLECTION_WRITE_REDO_H_
#define CAIRN_ENGINE_COLLECTION_WRITE_REDO_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

#include "engine/collection/held/member.h"
#include "engine/collection/ledger/ledger.h"
#include "engine/collection/members/site.h"
#include "engine/collection/write/changed_names.h"

namespace cairn::collection {

// Gives files the names that commits after number `since` gave their members.
absl::Status RedoNames(const Site& site, const Ledger& ledger, uint64_t since, ChangedNames& names);

struct Redoing {
  bool takes_damage = false;   // leaves a damaged member as it is
  bool beside_others = false;  // a member that another writer holds has been completed by it
};
// Makes the members durable that commits since the ledger's checkpoint have changed. `own` returns
// those that the caller has open, or null. Errors: the damage of a member.
absl::Status RedoMembers(const Site& site, const Ledger& ledger, Redoing how,
                         absl::FunctionRef<const Member*(std::string_view name)> own);

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_WRITE_REDO_H_
