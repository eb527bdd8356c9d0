// A frame in an object store, for tests of what writers do to the store.
#ifndef CAIRN_TESTS_SUPPORT_OBJECT_FRAME_H_
#define CAIRN_TESTS_SUPPORT_OBJECT_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "cairn/object_store.h"
#include "engine/object/memory_object_store.h"
#include "tests/support/bytes.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"

namespace cairn::test {

// The frame is "f" in a store in memory.
class ObjectFrameTest : public testing::Test {
 protected:
  static constexpr int32_t kChunk = 64;

  ObjectFrameTest() { Reopen({}); }

  void Reopen(ObjectFileOptions options) { files_ = MakeObjectFileSystem(reached_, options); }
  // Reaches the frame through this store from now on. The store leads to store_.
  void ReachThrough(std::shared_ptr<ObjectStore> store) {
    reached_ = std::move(store);
    Reopen({});
  }
  OpenOptions In() const { return {.file_system = files_}; }
  CreateOptions Sparse(int32_t typesize = 1) const {
    CreateOptions options = Cut(typesize, kChunk);
    options.layout = Layout::kSparse;
    options.file_system = files_;
    return options;
  }
  // Makes the frame with this many chunks.
  void Make(int nchunks, bool overwrite = false) {
    CreateOptions options = Sparse();
    options.overwrite = overwrite;
    auto writer = Frame::BeginCreate("f", options);
    ASSERT_TRUE(IsOk(writer));
    if (nchunks > 0) {
      ASSERT_TRUE(IsOk(writer->Append(MakeItems(static_cast<size_t>(nchunks * kChunk)))));
    }
    ASSERT_TRUE(IsOk(writer->Commit()));
    ASSERT_TRUE(IsOk(writer->Close()));
  }
  Frame Open() const {
    auto frame = Frame::Open("f", In());
    EXPECT_TRUE(IsOk(frame));
    return *std::move(frame);
  }
  Writer OpenWriter() const {
    auto writer = Open().OpenWriter();
    EXPECT_TRUE(IsOk(writer));
    return *std::move(writer);
  }
  Buffer Content() const { return ContentOf(Open().snapshot()); }

  std::shared_ptr<object::MemoryObjectStore> store_ = std::make_shared<object::MemoryObjectStore>();
  std::shared_ptr<FileSystem> files_;

 private:
  std::shared_ptr<ObjectStore> reached_ = store_;
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SUPPORT_OBJECT_FRAME_H_
