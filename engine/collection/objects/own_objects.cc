#include "engine/collection/objects/own_objects.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "cairn/forwarding_file.h"
#include "cairn/object_store.h"
#include "engine/base/mutex.h"
#include "engine/base/status.h"
#include "engine/collection/ledger/ledger_codec.h"
#include "engine/collection/objects/member_store.h"
#include "engine/format/sparse_names.h"

namespace cairn::collection {

// Thread-safe.
class OwnObjects::Names {
 public:
  void Add(std::string name) {
    const MutexLock lock(mutex_);
    names_.push_back(std::move(name));
  }
  std::vector<std::string> Take() {
    const MutexLock lock(mutex_);
    return std::exchange(names_, {});
  }

 private:
  Mutex mutex_;
  std::vector<std::string> names_ ABSL_GUARDED_BY(mutex_);  // with the prefixes of their stores
};

namespace {

using NamesPtr = std::shared_ptr<OwnObjects::Names>;

// Notes the objects that were certainly made here: one whose put has no known outcome may be
// another copy's.
class NotingStore final : public ObjectStore {
 public:
  NotingStore(std::shared_ptr<ObjectStore> store, std::string prefix, NamesPtr names)
      : store_(std::move(store)), prefix_(std::move(prefix)), names_(std::move(names)) {}

  void StartGet(std::string name, ObjectRange range, std::optional<std::string> if_match,
                GetDone done) override {
    store_->StartGet(std::move(name), range, std::move(if_match), std::move(done));
  }
  void StartPutIfAbsent(std::string name, Bytes bytes, PutDone done) override {
    auto note = [names = names_, made = prefix_ + name,
                 done = std::move(done)](absl::StatusOr<ObjectInfo> put) {
      if (put.ok()) names->Add(made);
      done(std::move(put));
    };
    store_->StartPutIfAbsent(std::move(name), bytes, std::move(note));
  }
  void StartPutIfMatch(std::string name, std::string etag, Bytes bytes, PutDone done) override {
    store_->StartPutIfMatch(std::move(name), std::move(etag), bytes, std::move(done));
  }
  absl::StatusOr<ObjectInfo> Head(const std::string& name) override { return store_->Head(name); }
  absl::StatusOr<ObjectListing> List(const std::string& prefix, const std::string& after,
                                     int64_t most) override {
    return store_->List(prefix, after, most);
  }
  absl::Status Delete(std::span<const std::string> names) override { return store_->Delete(names); }
  absl::Status CheckConditions(const std::string& scratch_name) override {
    return store_->CheckConditions(scratch_name);
  }
  std::chrono::milliseconds call_timeout() const override { return store_->call_timeout(); }
  void Cancel() override { store_->Cancel(); }
  ObjectStoreStats stats() const override { return store_->stats(); }
  std::string Describe() const override { return store_->Describe(); }

 private:
  const std::shared_ptr<ObjectStore> store_;
  const std::string prefix_;
  const NamesPtr names_;
};

// Returns true if nothing leads to an object of this name without another one: it is a chunk, or
// the index of a member.
bool IsUnlisted(std::string_view name) {
  const size_t slash = name.rfind('/');
  if (slash == name.npos) return false;
  std::string_view directory = name.substr(0, slash);
  constexpr std::string_view kIndexes = "/index";
  if (directory.ends_with(kIndexes)) {
    directory.remove_suffix(kIndexes.size());
    return KindOfFile(directory).has_value() &&
           ParseIndexObjectName(name.substr(directory.size() + 1)).has_value();
  }
  return (KindOfFile(directory).has_value() || directory == kLedgerName) &&
         format::ParseChunkFileName(name.substr(slash + 1)).has_value();
}

// Shows the stores of directories so. `prefix` is the path of an opened directory, with a slash.
class NotingFiles final : public ForwardingFileSystem {
 public:
  NotingFiles(std::shared_ptr<FileSystem> files, std::string prefix, NamesPtr names)
      : ForwardingFileSystem(std::move(files)),
        prefix_(std::move(prefix)),
        names_(std::move(names)) {}

  ObjectDirectoryInfo ObjectsIn(const std::string& path) override {
    ObjectDirectoryInfo info = ForwardingFileSystem::ObjectsIn(path);
    if (info.store == nullptr) return info;
    info.store = std::make_shared<NotingStore>(std::move(info.store), PrefixOf(path), names_);
    return info;
  }

 protected:
  std::shared_ptr<FileSystem> WrapDirectory(std::shared_ptr<FileSystem> directory,
                                            const std::string& path) override {
    return std::make_shared<NotingFiles>(std::move(directory), PrefixOf(path), names_);
  }

 private:
  std::string PrefixOf(const std::string& path) const {
    if (!prefix_.empty()) return prefix_;
    return absl::StrCat(path, path.ends_with('/') ? "" : "/");
  }

  const std::string prefix_;  // empty for the whole file system
  const NamesPtr names_;
};

}  // namespace

absl::Status CheckIsFree(const Site& site) {
  const std::shared_ptr<ObjectStore> store = site.files->ObjectsIn(site.root).store;
  std::string last;
  for (bool more = true; more;) {
    CAIRN_ASSIGN_OR_RETURN(const ObjectListing there, store->List("", last, 1000));
    for (const ObjectInfo& object : there.objects) {
      if (IsUnlisted(object.name)) continue;
      return AtPath(site.root, absl::AlreadyExistsError(object.name + " is there"));
    }
    more = there.more && !there.objects.empty();
    if (more) last = there.objects.back().name;
  }
  return absl::OkStatus();
}

OwnObjects::OwnObjects(const Site& site) : site_(site), names_(std::make_shared<Names>()) {
  site_.files = std::make_shared<NotingFiles>(site.files, "", names_);
}

absl::Status OwnObjects::Remove() {
  constexpr size_t kAtOnce = 1000;
  std::vector<std::string> names = names_->Take();
  const std::string root = site_.root + "/";
  std::erase_if(names, [&root](const std::string& name) { return !name.starts_with(root); });
  for (std::string& name : names) name.erase(0, root.size());
  const std::shared_ptr<ObjectStore> store = site_.files->ObjectsIn(site_.root).store;
  for (std::span<const std::string> left = names; !left.empty();) {
    const auto some = left.first(std::min(kAtOnce, left.size()));
    CAIRN_RETURN_IF_ERROR(store->Delete(some));
    left = left.subspan(some.size());
  }
  return absl::OkStatus();
}

}  // namespace cairn::collection
