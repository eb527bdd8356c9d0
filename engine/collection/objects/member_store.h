// The objects of a member, as the ledger of its collection lists them.
#ifndef CAIRN_ENGINE_COLLECTION_OBJECTS_MEMBER_STORE_H_
#define CAIRN_ENGINE_COLLECTION_OBJECTS_MEMBER_STORE_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/object_store.h"
#include "engine/base/mutex.h"
#include "engine/collection/ledger/file_patch.h"
#include "engine/collection/members/known_objects.h"

namespace cairn::collection {

// Returns the name of a member's index, within its prefix. Nothing ever replaces it.
std::string IndexObjectName(uint64_t id, uint64_t generation);
struct IndexObject {
  uint64_t id = 0;
  uint64_t generation = 0;
};
// Returns nothing for any other name.
std::optional<IndexObject> ParseIndexObjectName(std::string_view name);

// Shows a member to the readers and writers of frames in object stores. The records of its journal
// are in memory, because they are parts of the ledger's. Its index is an object of its own name.
// Everything else, which is chunks, is in the store below. Thread-safe.
class MemberStore final : public ObjectStore {
 public:
  // Says what becomes of records and indexes that a writer puts.
  enum class Puts {
    kAsked,      // a record is kept for the ledger, and the writer is told that nothing was done
    kTaken,      // they are shown from now on; the caller puts them where they belong
    kAbandoned,  // as for kAsked, and chunks stay: nobody knows whether a commit names them
  };

  // Shows the index in that object, or none yet if the name is empty. In `store`, names begin after
  // the member's prefix, and in `known` with it. `known` may be null.
  MemberStore(std::shared_ptr<ObjectStore> store, std::string index_name,
              std::shared_ptr<KnownObjects> known = nullptr, std::string prefix = {})
      : store_(std::move(store)),
        index_name_(std::move(index_name)),
        known_(std::move(known)),
        prefix_(std::move(prefix)) {}

  const std::shared_ptr<KnownObjects>& known() const { return known_; }
  const std::string& prefix() const { return prefix_; }

  // Shows these records, too: the ledger has them.
  void AddRecords(std::span<const FilePatch> records);
  // Decides about what is put from now on.
  void Set(Puts puts);
  // Returns the records that were put since Set.
  std::vector<FilePatch> records_put() const;
  // Returns the index that was put last.
  std::vector<std::byte> index() const;

  void StartGet(std::string name, ObjectRange range, std::optional<std::string> if_match,
                GetDone done) override;
  void StartPutIfAbsent(std::string name, Bytes bytes, PutDone done) override;
  void StartPutIfMatch(std::string name, std::string etag, Bytes bytes, PutDone done) override;
  absl::StatusOr<ObjectInfo> Head(const std::string& name) override;
  // Returns kUnimplemented: nobody needs to look for records, and the collection collects garbage.
  absl::StatusOr<ObjectListing> List(const std::string& prefix, const std::string& after,
                                     int64_t most) override;
  absl::Status Delete(std::span<const std::string> names) override;
  // The ledger's writer has asked the store.
  absl::Status CheckConditions(const std::string& /*scratch_name*/) override {
    return absl::OkStatus();
  }
  std::chrono::milliseconds call_timeout() const override { return store_->call_timeout(); }
  void Cancel() override { store_->Cancel(); }
  ObjectStoreStats stats() const override { return store_->stats(); }
  std::string Describe() const override { return store_->Describe(); }

 private:
  // An object in memory.
  struct Held {
    std::string etag;
    std::vector<std::byte> bytes;
  };

  absl::StatusOr<ObjectPart> ReadHeld(const std::string& name, ObjectRange range,
                                      const std::optional<std::string>& if_match) const;
  KnownObjects::BytesPtr FindKnown(const std::string& name) const;
  void KeepIndex(std::string etag, std::vector<std::byte> bytes);
  absl::StatusOr<ObjectInfo> PutIndex(const std::optional<std::string>& etag, Bytes bytes);
  absl::StatusOr<ObjectInfo> PutRecord(int64_t position, Bytes bytes);

  const std::shared_ptr<ObjectStore> store_;
  const std::string index_name_;
  const std::shared_ptr<KnownObjects> known_;
  const std::string prefix_;

  mutable Mutex mutex_;
  Puts puts_ ABSL_GUARDED_BY(mutex_) = Puts::kAsked;
  std::shared_ptr<const Held> index_ ABSL_GUARDED_BY(mutex_);  // null until it is got or put
  std::map<int64_t, std::shared_ptr<const Held>> records_ ABSL_GUARDED_BY(mutex_);  // by position
  std::vector<FilePatch> records_put_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_OBJECTS_MEMBER_STORE_H_
