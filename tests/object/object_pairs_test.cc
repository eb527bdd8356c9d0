// Edits of two writers at the same time, in frames and in members of collections: what is there
// then is as if one had come after the other, or the second one was aborted.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/collection.h"
#include "cairn/frame.h"
#include "engine/object/memory_object_store.h"
#include "tests/object/array_model.h"
#include "tests/support/search.h"
#include "tests/support/status.h"

namespace cairn::test {
namespace {

// The edits of one commit.
using Edits = std::vector<ModelEdit>;

std::string NameOf(const std::vector<Edits>& commits) {
  std::string names;
  for (const Edits& edits : commits) {
    names += "commit:";
    for (const ModelEdit& edit : edits) names += " " + NameOf(edit) + ";";
    names += '\n';
  }
  return names;
}

// A frame in a store.
class FrameStore {
 public:
  using AnyWriter = Writer;

  explicit FrameStore(ModelKind kind) {
    CreateOptions options = OptionsOf(kind);
    options.file_system = files_;
    auto writer = Frame::BeginCreate("f", options);
    EXPECT_TRUE(IsOk(writer));
    EXPECT_TRUE(IsOk(writer->Commit()));
  }
  std::optional<Writer> OpenWriter() const {
    auto frame = Frame::Open("f", {.file_system = files_});
    auto writer = frame->OpenWriter();
    EXPECT_TRUE(IsOk(writer));
    return std::optional<Writer>(*std::move(writer));
  }
  static absl::Status StageIn(Writer& writer, const ModelEdit& edit, const Model& view) {
    return Stage(edit, view, writer);
  }
  Snapshot Read() const { return Frame::Open("f", {.file_system = files_})->snapshot(); }

 private:
  std::shared_ptr<object::MemoryObjectStore> store_ = std::make_shared<object::MemoryObjectStore>();
  std::shared_ptr<FileSystem> files_ = MakeObjectFileSystem(store_, {});
};

// A member of a collection in a store.
class MemberStore {
 public:
  using AnyWriter = CollectionWriter;

  explicit MemberStore(ModelKind kind) {
    EXPECT_TRUE(IsOk(Collection::Create("c", In())));
    auto writer = OpenWriter();
    EXPECT_TRUE(IsOk(writer->Add("/m", OptionsOf(kind))));
    EXPECT_TRUE(IsOk(writer->Commit()));
  }
  std::optional<CollectionWriter> OpenWriter() const {
    auto collection = Collection::Open("c", In());
    auto writer = collection->OpenWriter();
    EXPECT_TRUE(IsOk(writer));
    return std::optional<CollectionWriter>(*std::move(writer));
  }
  static absl::Status StageIn(CollectionWriter& writer, const ModelEdit& edit, const Model& view) {
    auto member = writer.Edit("/m");
    return member.ok() ? Stage(edit, view, *member) : member.status();
  }
  Snapshot Read() const { return *Collection::Open("c", In())->snapshot().OpenMember("/m"); }

 private:
  CollectionOptions In() const {
    CollectionOptions options;
    options.members.file_system = MakeObjectFileSystem(store_, {});
    return options;
  }
  std::shared_ptr<object::MemoryObjectStore> store_ = std::make_shared<object::MemoryObjectStore>();
};

// Puts the other's commits between those of this writer in each way, and returns true if that gives
// `found`. `base` is what the first edit of each writer was chosen for.
bool IsSerial(const Model& base, const std::vector<Edits>& first, const Edits& second,
              const Model& found) {
  for (size_t before = 0; before <= first.size(); ++before) {
    Model model = base;
    bool fits = true;
    const auto apply = [&](const Edits& edits, int64_t begin, int64_t by) {
      for (const ModelEdit& edit : edits) fits = fits && Apply(edit, begin, by, model);
    };
    for (size_t i = 0; i < before; ++i) apply(first[i], INT64_MAX, 0);
    const int64_t length = model.length();
    apply(second, base.length(), length - base.length());
    // Commits after it have not seen it.
    if (before < first.size()) {
      Model alone = base;
      for (size_t i = 0; i < before; ++i) {
        for (const ModelEdit& edit : first[i]) Apply(edit, INT64_MAX, 0, alone);
      }
      for (size_t i = before; i < first.size(); ++i) {
        const int64_t begin = alone.length();
        apply(first[i], begin, model.length() - begin);
        for (const ModelEdit& edit : first[i]) Apply(edit, INT64_MAX, 0, alone);
      }
    }
    if (fits && model == found) return true;
  }
  return false;
}

template <class Store>
class Pair {
 public:
  Pair(ModelKind kind, uint64_t seed) : kind_(kind), dice_(seed), store_(kind) {}

  // Returns true if both stand.
  bool Run();

 private:
  using AnyWriter = typename Store::AnyWriter;

  Edits StageSome(AnyWriter& writer, const Model& base);
  Model Read() {
    auto model = ReadModel(kind_, store_.Read());
    EXPECT_TRUE(IsOk(model));
    return model.ok() ? *std::move(model) : Model();
  }
  void CheckWhole(Model content);

  const ModelKind kind_;
  Dice dice_;
  const Store store_;
};

template <class Store>
Edits Pair<Store>::StageSome(AnyWriter& writer, const Model& base) {
  Edits edits;
  Model view = base;
  for (size_t count = 1 + dice_.Below(2); count > 0; --count) {
    ModelEdit edit = ChooseEdit(base, view, dice_);
    if (!Store::StageIn(writer, edit, view).ok()) continue;
    EXPECT_TRUE(Apply(edit, INT64_MAX, 0, view)) << NameOf(edit) << testing::PrintToString(view);
    edits.push_back(std::move(edit));
  }
  return edits;
}

// An array that grows shows zeros, and nothing that was cut off before.
template <class Store>
void Pair<Store>::CheckWhole(Model content) {
  const auto report = store_.Read().Verify();
  ASSERT_TRUE(IsOk(report));
  EXPECT_TRUE(report->findings.empty());
  if (!content.is_array()) return;
  ModelEdit grow = {.kind = ModelEdit::Kind::kResize, .shape = content.shape};
  for (int64_t& extent : grow.shape) extent += 11;
  auto writer = store_.OpenWriter();
  ASSERT_TRUE(IsOk(Store::StageIn(*writer, grow, content)));
  ASSERT_TRUE(IsOk(writer->Commit()));
  Apply(grow, INT64_MAX, 0, content);
  EXPECT_EQ(Read(), content);
}

template <class Store>
bool Pair<Store>::Run() {
  Model base = EmptyModel(kind_);
  auto first = store_.OpenWriter();
  const auto begin = [&] {
    for (size_t commits = dice_.Below(4); commits > 0; --commits) {
      for (const ModelEdit& edit : StageSome(*first, base)) Apply(edit, INT64_MAX, 0, base);
      EXPECT_TRUE(IsOk(first->Commit()));
    }
    if constexpr (requires { first->Checkpoint(); }) {
      if (dice_.Percent(50)) {
        EXPECT_TRUE(IsOk(first->Checkpoint()));
      }
    }
  };
  begin();
  EXPECT_EQ(Read(), base);
  auto second = store_.OpenWriter();
  const Edits late = StageSome(*second, base);
  std::vector<Edits> commits;
  Model now = base;
  for (size_t count = 1 + dice_.Below(2); count > 0; --count) {
    commits.push_back(StageSome(*first, now));
    EXPECT_TRUE(IsOk(first->Commit()));
    for (const ModelEdit& edit : commits.back()) Apply(edit, INT64_MAX, 0, now);
  }
  const Model alone = Read();
  EXPECT_EQ(alone, now);
  const absl::Status committed = second->Commit().status();
  SCOPED_TRACE("base: " + testing::PrintToString(base) + "\nfirst: " + NameOf(commits) +
               "second: " + NameOf(std::vector<Edits>{late}) + committed.ToString());
  const Model found = Read();
  if (committed.ok()) {
    EXPECT_TRUE(IsSerial(base, commits, late, found)) << testing::PrintToString(found);
  } else {
    EXPECT_TRUE(absl::IsAborted(committed)) << committed;
    EXPECT_EQ(found, alone);
  }
  CheckWhole(found);
  return committed.ok();
}

class ObjectPairsTest : public testing::TestWithParam<ModelKind> {};

template <class Store>
void RunPairs(ModelKind kind, int64_t count) {
  const int64_t runs = SearchRuns(count);
  int standing = 0;
  for (int64_t i = 0; i < runs && !testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE(testing::Message() << "seed " << i);
    standing += Pair<Store>(kind, static_cast<uint64_t>(i)).Run() ? 1 : 0;
  }
  // Few runs tell nothing about how many commits stand beside another one.
  constexpr int64_t kEnough = 200;
  if (runs >= kEnough) {
    EXPECT_GT(standing, runs / 20);
  }
  testing::Test::RecordProperty("standing", standing);
}

TEST_P(ObjectPairsTest, EditsOfAFrameAreAsIfOneWriterCameAfterTheOther) {
  RunPairs<FrameStore>(GetParam(), 1500);
}

TEST_P(ObjectPairsTest, EditsOfAMemberAreAsIfOneWriterCameAfterTheOther) {
  RunPairs<MemberStore>(GetParam(), 500);
}

INSTANTIATE_TEST_SUITE_P(Kinds, ObjectPairsTest, testing::ValuesIn(kModelKinds),
                         [](const auto& kind) { return NameOf(kind.param); });

}  // namespace
}  // namespace cairn::test
