// Tests that frames, snapshots and writers keep alive what their options share, and no longer.
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "cairn/forwarding_file.h"
#include "cairn/frame.h"
#include "tests/support/bytes.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

constexpr size_t kSize = 1 << 20;

// A plug-in that stores each byte inverted.
class Invert final : public FilterPlugin {
 public:
  absl::Status Forward(Bytes src, MutableBytes dst, const PluginCall& /*call*/) const override {
    for (size_t i = 0; i < src.size(); ++i) dst[i] = ~src[i];
    return absl::OkStatus();
  }
  absl::Status Backward(Bytes src, MutableBytes dst, const PluginCall& call) const override {
    return Forward(src, dst, call);
  }
};

class SharedOptionsTest : public testing::TestWithParam<Layout> {
 protected:
  SharedOptionsTest() {
    const auto registry = std::make_shared<Registry>();
    EXPECT_TRUE(IsOk(registry->AddFilter(200, std::make_unique<Invert>())));
    const auto files = std::make_shared<ForwardingFileSystem>(PosixFileSystem());
    const std::shared_ptr<Executor> executor = MakeThreadExecutor(2);
    files_ = files;
    registry_ = registry;
    executor_ = executor;
    CreateOptions options = PlainCopies(1 << 18);
    options.layout = GetParam();
    options.compression.filters = {{static_cast<Filter>(200)}};
    options.compression.registry = registry;
    options.compression.executor = executor;
    options.file_system = files;
    created_ = *Frame::Create(path_, options);
    opened_ =
        *Frame::Open(path_, {.registry = registry, .file_system = files, .executor = executor});
  }

  bool all_live() const {
    return !files_.expired() && !registry_.expired() && !executor_.expired();
  }
  bool any_lives() const {
    return !(files_.expired() && registry_.expired() && executor_.expired());
  }

  const TempDir dir_;
  const std::string path_ = dir_.Path("f");
  std::weak_ptr<FileSystem> files_;
  std::weak_ptr<Registry> registry_;
  std::weak_ptr<Executor> executor_;
  std::optional<Frame> created_;
  std::optional<Frame> opened_;
};

TEST_P(SharedOptionsTest, LiveAsLongAsAFrameASnapshotOrAWriter) {
  std::optional<Writer> writer = *created_->OpenWriter();
  created_.reset();
  ASSERT_TRUE(IsOk(writer->Append(MakeNoise(kSize, 1))));
  ASSERT_TRUE(IsOk(writer->Close()));
  writer.reset();
  ASSERT_TRUE(all_live());

  std::optional<Snapshot> snapshot = *opened_->Refresh();
  opened_.reset();
  EXPECT_TRUE(all_live());
  EXPECT_EQ(ContentOf(*snapshot), MakeNoise(kSize, 1));

  snapshot.reset();
  EXPECT_FALSE(any_lives());
}

TEST_P(SharedOptionsTest, LiveAsLongAsAWriterThatReplacesThem) {
  auto registry = std::make_shared<Registry>();
  const std::weak_ptr<Registry> lives = registry;
  ASSERT_TRUE(IsOk(registry->AddFilter(200, std::make_unique<Invert>())));
  std::optional<Writer> writer = *opened_->OpenWriter({.registry = std::move(registry)});
  EXPECT_FALSE(lives.expired());
  writer.reset();
  EXPECT_TRUE(lives.expired());
}

INSTANTIATE_TEST_SUITE_P(Layouts, SharedOptionsTest,
                         testing::Values(Layout::kContiguous, Layout::kSparse),
                         [](const auto& info) {
                           return info.param == Layout::kSparse ? "Sparse" : "Contiguous";
                         });

}  // namespace
}  // namespace cairn::test
