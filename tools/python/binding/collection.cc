#include "cairn/collection.h"

#include <chrono>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "engine/base/mutex.h"
#include "tools/python/binding/calls.h"
#include "tools/python/binding/edits.h"
#include "tools/python/binding/handles.h"
#include "tools/python/binding/recipe.h"
#include "tools/python/binding/text.h"
#include "tools/python/binding/verification.h"

namespace cairn::python {

namespace {

using namespace nb::literals;

struct CollectionHandle {
  Context context;
  Collection collection;
};

struct CollectionSnapshotHandle {
  Context context;
  CollectionSnapshot snapshot;
};

// A writer that Python's threads use in turn, until it is released.
class CollectionWriterHandle {
 public:
  CollectionWriterHandle(Context context, CollectionWriter writer)
      : context_(std::move(context)), writer_(std::move(writer)) {}

  const Context& context() const { return context_; }

  // Runs call(writer) without the GIL.
  template <typename Call>
  auto With(Call&& call) {
    using Result = std::invoke_result_t<Call, CollectionWriter&>;
    return WithoutGil([&]() -> Result {
      const MutexLock lock(mutex_);
      if (!writer_.has_value()) return absl::FailedPreconditionError("the writer is closed");
      return writer_->Use(call);
    });
  }
  // Drops what is staged, and lets others write the collection.
  void Release() {
    WithoutGil([&] {
      const MutexLock lock(mutex_);
      writer_.reset();
    });
  }

 private:
  Context context_;
  Mutex mutex_;
  std::optional<Fragile<CollectionWriter>> writer_ ABSL_GUARDED_BY(mutex_);
};

// Stages edits of the member that has the name at the time of each call, so a commit does not end
// it. Python keeps the writer of the collection while this lives.
class MemberHandle {
 public:
  MemberHandle(CollectionWriterHandle& writer, std::string name)
      : writer_(writer), name_(std::move(name)) {}

  const Context& context() const { return writer_.context(); }

  template <typename Call>
  auto With(Call&& call) {
    using Result = std::invoke_result_t<Call, MemberWriter&>;
    return writer_.With([&](CollectionWriter& writer) -> Result {
      absl::StatusOr<MemberWriter> member = writer.Edit(name_);
      if (!member.ok()) return member.status();
      return call(*member);
    });
  }

 private:
  CollectionWriterHandle& writer_;
  const std::string name_;
};

CollectionOptions MakeCollectionOptions(const Context& context, bool mmap, int verify,
                                        int64_t cache_memory, const LimitValues& limits) {
  CollectionOptions options{.members = MakeOpenOptions(context, false, mmap, verify, limits)};
  options.members.cache_memory = cache_memory;
  return options;
}

CollectionHandle OpenCollection(const std::string& path, bool create, bool mmap, int verify,
                                int64_t cache_memory, const LimitValues& limits, int threads,
                                nb::handle files) {
  Context context = MakeContext(threads, files);
  const CollectionOptions options =
      MakeCollectionOptions(context, mmap, verify, cache_memory, limits);
  Collection collection = Check(WithoutGil([&] {
    return create ? Collection::Create(path, options) : Collection::Open(path, options);
  }));
  return {std::move(context), std::move(collection)};
}

CollectionWriterHandle* OpenCollectionWriter(CollectionHandle& self, int64_t wait,
                                             std::optional<uint64_t> keep_commits, bool shared) {
  CollectionWriterOptions options{
      .wait = std::chrono::milliseconds(wait), .shared = shared, .keep_commits = keep_commits};
  options.members.executor = self.context.executor;
  if (shared) {  // its calls wait as well
    CollectionWriter writer =
        Check(WithoutGil([&] { return self.collection.OpenWriter(options); }));
    return new CollectionWriterHandle(self.context, std::move(writer));
  }
  CollectionWriter writer = Check(WaitWithoutGil(
      nullptr, wait,
      [&](std::chrono::milliseconds part) {
        options.wait = part;
        return self.collection.OpenWriter(options);
      },
      [](const auto& opened) { return !absl::IsUnavailable(opened.status()); }));
  return new CollectionWriterHandle(self.context, std::move(writer));
}

bool ApplyIncrement(CollectionHandle& self, const CollectionSnapshotHandle& increment,
                    int64_t wait) {
  CollectionWriterOptions options;
  options.members.executor = self.context.executor;
  return Check(WaitWithoutGil(
      nullptr, wait,
      [&](std::chrono::milliseconds part) {
        options.wait = part;
        return self.collection.ApplyIncrement(increment.snapshot, options);
      },
      [](const auto& applied) { return !absl::IsUnavailable(applied.status()); }));
}

// Returns the number of each commit, and the names of what it changed.
auto CollectionHistory(CollectionHandle& self) {
  using Names = std::vector<std::string>;
  const std::vector<CommitInfo> history =
      Check(WithoutGil([&] { return self.collection.History(); }));
  std::vector<std::tuple<uint64_t, Names, Names, Names, Names>> commits;
  for (const CommitInfo& commit : history) {
    commits.emplace_back(commit.number, commit.added, commit.removed, commit.changed,
                         commit.attributes);
  }
  return commits;
}

MemberHandle* AddMember(CollectionWriterHandle& self, const std::string& name,
                        const Recipe& recipe) {
  CreateOptions options = recipe.options;
  options.compression.executor = self.context().executor;
  Check(self.With([&](CollectionWriter& writer) { return writer.Add(name, options).status(); }));
  return new MemberHandle(self, name);
}

MemberHandle* Edit(CollectionWriterHandle& self, const std::string& name) {
  Check(self.With([&](CollectionWriter& writer) { return writer.Edit(name).status(); }));
  return new MemberHandle(self, name);
}

MemberHandle* EditAttributes(CollectionWriterHandle& self, const std::string& group) {
  Check(self.With([&](CollectionWriter& writer) { return writer.EditAttributes(group).status(); }));
  return new MemberHandle(self, (group == "/" ? "" : group) + "/__vlmeta__");
}

}  // namespace

void BindCollection(nb::module_& module) {
  using SnapshotOf = CollectionSnapshotHandle;
  nb::class_<SnapshotOf>(module, "CollectionSnapshot", "One state of all members.")
      .def("number", [](const SnapshotOf& self) { return self.snapshot.number(); })
      .def(
          "members",
          [](const SnapshotOf& self, const std::string& prefix) {
            return self.snapshot.Members(prefix);
          },
          "prefix"_a)
      .def(
          "has_member",
          [](const SnapshotOf& self, const std::string& name) {
            return self.snapshot.HasMember(name);
          },
          "name"_a)
      .def(
          "open_member",
          [](const SnapshotOf& self, const std::string& name) {
            return SnapshotHandle{
                self.context, Check(WithoutGil([&] { return self.snapshot.OpenMember(name); }))};
          },
          "name"_a)
      .def("groups", [](const SnapshotOf& self) { return self.snapshot.Groups(); })
      .def(
          "open_attributes",
          [](const SnapshotOf& self, const std::string& group) {
            return SnapshotHandle{
                self.context,
                Check(WithoutGil([&] { return self.snapshot.OpenAttributes(group); }))};
          },
          "group"_a)
      .def(
          "copy_to",
          [](const SnapshotOf& self, const std::string& path) {
            Check(WithoutGil([&] { return self.snapshot.CopyTo(path); }));
          },
          "path"_a)
      .def(
          "write_increment",
          [](const SnapshotOf& self, const std::string& path, const SnapshotOf& since) {
            Check(WithoutGil([&] { return self.snapshot.WriteIncrement(path, since.snapshot); }));
          },
          "path"_a, "since"_a)
      .def(
          "verify",
          [](const SnapshotOf& self, int depth, nb::object progress) {
            return VerifyWith(self.context, self.snapshot, depth, std::move(progress));
          },
          "depth"_a, "progress"_a.none(), nb::sig(CAIRN_VERIFY_SIGNATURE))
      .def("is_same", [](const SnapshotOf& self, const SnapshotOf& other) {
        return self.snapshot == other.snapshot;
      });

  nb::class_<MemberHandle> member(module, "MemberWriter", "Stages edits of one member.");
  BindEdits(member);

  nb::class_<CollectionWriterHandle>(module, "CollectionWriter",
                                     "Stages edits of members and commits them all at once.")
      .def("edit", &Edit, "name"_a, nb::keep_alive<0, 1>())
      .def("add", &AddMember, "name"_a, "recipe"_a, nb::keep_alive<0, 1>())
      .def("remove",
           Simple<CollectionWriterHandle, const std::string&>(
               [](CollectionWriter& w, const std::string& name) { return w.Remove(name); }),
           "name"_a)
      .def("edit_attributes", &EditAttributes, "group"_a, nb::keep_alive<0, 1>())
      .def("copy",
           Simple<CollectionWriterHandle, const std::string&, const std::string&>(
               [](CollectionWriter& w, const std::string& name, const std::string& to) {
                 return w.Copy(name, to);
               }),
           "name"_a, "to"_a)
      .def("move",
           Simple<CollectionWriterHandle, const std::string&, const std::string&>(
               [](CollectionWriter& w, const std::string& name, const std::string& to) {
                 return w.Move(name, to);
               }),
           "name"_a, "to"_a)
      .def("compact",
           Simple<CollectionWriterHandle, const std::string&>(
               [](CollectionWriter& w, const std::string& name) { return w.Compact(name); }),
           "name"_a)
      .def("commit",
           [](CollectionWriterHandle& self) {
             return Check(self.With([](CollectionWriter& writer) { return writer.Commit(); }));
           })
      .def("rollback", Simple<CollectionWriterHandle>([](CollectionWriter& writer) {
             writer.Rollback();
             return absl::OkStatus();
           }))
      .def("has_waiters",
           [](CollectionWriterHandle& self) {
             return Check(self.With([](const CollectionWriter& w) { return w.HasWaiters(); }));
           })
      .def("close",
           Simple<CollectionWriterHandle>([](CollectionWriter& writer) { return writer.Close(); }))
      .def("release", &CollectionWriterHandle::Release);

  nb::class_<CollectionHandle>(module, "Collection", "A directory of frames that change together.")
      .def("snapshot",
           [](const CollectionHandle& self) {
             return SnapshotOf{self.context, self.collection.snapshot()};
           })
      .def("refresh",
           [](CollectionHandle& self) {
             return SnapshotOf{self.context,
                               Check(WithoutGil([&] { return self.collection.Refresh(); }))};
           })
      .def("has_ledger", [](const CollectionHandle& self) { return self.collection.has_ledger(); })
      .def("history", &CollectionHistory)
      .def(
          "open_commit",
          [](CollectionHandle& self, uint64_t number) {
            return SnapshotOf{
                self.context,
                Check(WithoutGil([&] { return self.collection.OpenCommit(number); }))};
          },
          "number"_a)
      .def("apply_increment", &ApplyIncrement, "increment"_a, "wait"_a)
      .def("open_writer", &OpenCollectionWriter, "wait"_a, "keep_commits"_a.none(), "shared"_a);

  module.def(
      "recover_collection",
      [](const std::string& path) {
        const CollectionRecovery done =
            Check(WithoutGil([&] { return Collection::Recover(path); }));
        return std::make_tuple(done.ledger_lost, done.adopted, done.missing, done.unreadable);
      },
      "path"_a);
  module.def("open_collection", &OpenCollection, "path"_a, "create"_a, "mmap"_a, "verify"_a,
             "cache_memory"_a, "limits"_a, "threads"_a, "files"_a.none());
}

}  // namespace cairn::python
