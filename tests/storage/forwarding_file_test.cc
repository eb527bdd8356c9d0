// Compares what the wrappers forward with what file_system.h declares, as text.
#include "cairn/forwarding_file.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <regex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "cairn/file_system.h"

namespace cairn {
namespace {

using Names = std::set<std::string>;

// The names of the virtual functions that file_system.h declares in the class.
Names VirtualFunctionsOf(const std::string& name) {
  std::ifstream file(CAIRN_HEADER_FOLDER "/file_system.h");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  const size_t begin = text.find("class CAIRN_EXPORT " + name + " ");
  EXPECT_NE(begin, std::string::npos);
  text = text.substr(begin, text.find("\n};", begin) - begin);
  const std::regex declaration(R"(\n  virtual [^(~]*?(\w+)\()");
  return {std::sregex_token_iterator(text.begin(), text.end(), declaration, 1), {}};
}

// Notes each call as a text of its name and arguments. Functions that can fail return the text.
class Calls {
 public:
  template <typename... Args>
  absl::Status Note(const std::string& name, const Args&... args) {
    names_.insert(name);
    last_ = name;
    (absl::StrAppend(&last_, " ", args), ...);
    return absl::CancelledError(last_);
  }
  const Names& names() const { return names_; }
  const std::string& last() const { return last_; }

 private:
  Names names_;
  std::string last_;
};

class NotingFile final : public File {
 public:
  explicit NotingFile(Calls* calls) : calls_(*calls) {}

  absl::StatusOr<int64_t> Size() const override { return calls_.Note("Size"); }
  absl::StatusOr<int64_t> AllocatedSize() const override { return calls_.Note("AllocatedSize"); }
  absl::Status ReadAt(int64_t offset, MutableBytes dst) const override {
    return calls_.Note("ReadAt", offset, dst.size());
  }
  absl::StatusOr<size_t> ReadSome(int64_t offset, MutableBytes dst) const override {
    return calls_.Note("ReadSome", offset, dst.size());
  }
  int64_t read_ahead() const override { return calls_.Note("read_ahead").ok() ? 0 : 77; }
  void WillRead(std::span<const FileRange> ranges) const override {
    calls_.Note("WillRead", ranges.front().offset, ranges.front().size).IgnoreError();
  }
  bool is_immutable() const override { return !calls_.Note("is_immutable").ok(); }
  absl::Status WriteAt(int64_t offset, Bytes src) override {
    return calls_.Note("WriteAt", offset, src.size());
  }
  absl::Status Truncate(int64_t size) override { return calls_.Note("Truncate", size); }
  absl::Status Reserve(int64_t size) override { return calls_.Note("Reserve", size); }
  absl::Status Allocate(int64_t offset, int64_t size) override {
    return calls_.Note("Allocate", offset, size);
  }
  absl::Status PunchHole(int64_t offset, int64_t size) override {
    return calls_.Note("PunchHole", offset, size);
  }
  absl::Status Sync(SyncMode mode) override { return calls_.Note("Sync", static_cast<int>(mode)); }
  void SyncSoon(int64_t offset, int64_t size) override {
    calls_.Note("SyncSoon", offset, size).IgnoreError();
  }
  absl::StatusOr<std::shared_ptr<const Mapping>> Map(int64_t offset, int64_t size,
                                                     int64_t room) const override {
    return calls_.Note("Map", offset, size, room);
  }
  absl::StatusOr<FileIdentity> Identity() const override { return calls_.Note("Identity"); }
  absl::StatusOr<int64_t> ModifiedAt() const override { return calls_.Note("ModifiedAt"); }
  absl::Status LockByte(int64_t offset, LockMode mode) override {
    return calls_.Note("LockByte", offset, static_cast<int>(mode));
  }
  absl::Status WaitForByte(int64_t offset, std::chrono::milliseconds timeout) override {
    return calls_.Note("WaitForByte", offset, timeout.count());
  }
  absl::StatusOr<bool> HasWaiters(int64_t offset) const override {
    return calls_.Note("HasWaiters", offset);
  }
  absl::Status UnlockByte(int64_t offset) override { return calls_.Note("UnlockByte", offset); }
  absl::StatusOr<bool> IsLocked(int64_t offset, int64_t count) const override {
    return calls_.Note("IsLocked", offset, count);
  }
  absl::StatusOr<std::vector<LockHolder>> LockHolders(int64_t offset,
                                                      int64_t count) const override {
    return calls_.Note("LockHolders", offset, count);
  }
  absl::Status LockWhole() override { return calls_.Note("LockWhole"); }
  absl::StatusOr<std::unique_ptr<FileWatch>> Watch() const override { return calls_.Note("Watch"); }

 private:
  Calls& calls_;
};

class NotingFileSystem final : public FileSystem {
 public:
  explicit NotingFileSystem(Calls* calls) : calls_(*calls) {}

  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, FileMode mode) override {
    return calls_.Note("Open", path, static_cast<int>(mode));
  }
  absl::StatusOr<std::unique_ptr<File>> CreateFor(const std::string& path,
                                                  const std::string& old) override {
    return calls_.Note("CreateFor", path, old);
  }
  absl::Status Rename(const std::string& from, const std::string& to, bool replace) override {
    return calls_.Note("Rename", from, to, int{replace});
  }
  absl::Status Remove(const std::string& path) override { return calls_.Note("Remove", path); }
  absl::Status SyncDirectoryOf(const std::string& path) override {
    return calls_.Note("SyncDirectoryOf", path);
  }
  absl::StatusOr<std::shared_ptr<FileSystem>> OpenDirectory(const std::string& path) override {
    return calls_.Note("OpenDirectory", path);
  }
  absl::Status MakeDirectory(const std::string& path) override {
    return calls_.Note("MakeDirectory", path);
  }
  absl::Status MakeDirectoryFor(const std::string& path, const std::string& old) override {
    return calls_.Note("MakeDirectoryFor", path, old);
  }
  absl::Status RemoveDirectory(const std::string& path) override {
    return calls_.Note("RemoveDirectory", path);
  }
  absl::StatusOr<std::vector<std::string>> List(const std::string& path) override {
    return calls_.Note("List", path);
  }
  absl::StatusOr<std::vector<std::string>> ListSome(const std::string& path,
                                                    std::string_view prefix,
                                                    int64_t most) override {
    return calls_.Note("ListSome", path, std::string(prefix), most);
  }
  void WillOpen(std::span<const FileHint> files) override {
    calls_.Note("WillOpen", files.front().name, files.front().size).IgnoreError();
  }
  absl::Status Exchange(const std::string& a, const std::string& b) override {
    return calls_.Note("Exchange", a, b);
  }
  absl::StatusOr<std::string> Absolute(const std::string& path) override {
    return calls_.Note("Absolute", path);
  }
  std::string Resolve(const std::string& path) override {
    return std::string(calls_.Note("Resolve", path).message());
  }
  absl::StatusOr<FileIdentity> Identity(const std::string& path) override {
    return calls_.Note("Identity", path);
  }
  absl::StatusOr<FileIdentity> IdentityOfLeft(const std::string& path,
                                              const std::string& other) override {
    return calls_.Note("IdentityOfLeft", path, other);
  }
  ObjectDirectoryInfo ObjectsIn(const std::string& path) override {
    return {.store = nullptr, .read_ahead = calls_.Note("ObjectsIn", path).ok() ? 0 : 99};
  }
  uint64_t BootId() const override { return calls_.Note("BootId").ok() ? 0 : 88; }

 private:
  Calls& calls_;
};

std::string TextOf(const absl::Status& status) { return std::string(status.message()); }
template <typename T>
std::string TextOf(const absl::StatusOr<T>& result) {
  return TextOf(result.status());
}

TEST(ForwardingFileTest, ForwardsEachFunction) {
  Calls calls;
  ForwardingFile file(std::make_unique<NotingFile>(&calls));
  std::byte bytes[3];
  const FileRange ranges[] = {{1, 2}};
  EXPECT_EQ(TextOf(file.Size()), "Size");
  EXPECT_EQ(TextOf(file.AllocatedSize()), "AllocatedSize");
  EXPECT_EQ(TextOf(file.ReadAt(1, bytes)), "ReadAt 1 3");
  EXPECT_EQ(TextOf(file.ReadSome(1, bytes)), "ReadSome 1 3");
  EXPECT_EQ(file.read_ahead(), 77);
  file.WillRead(ranges);
  EXPECT_EQ(calls.last(), "WillRead 1 2");
  EXPECT_TRUE(file.is_immutable());
  EXPECT_EQ(TextOf(file.WriteAt(1, bytes)), "WriteAt 1 3");
  EXPECT_EQ(TextOf(file.Truncate(1)), "Truncate 1");
  EXPECT_EQ(TextOf(file.Reserve(1)), "Reserve 1");
  EXPECT_EQ(TextOf(file.Allocate(1, 2)), "Allocate 1 2");
  EXPECT_EQ(TextOf(file.PunchHole(1, 2)), "PunchHole 1 2");
  EXPECT_EQ(TextOf(file.Sync(SyncMode::kAll)), "Sync 1");
  file.SyncSoon(1, 2);
  EXPECT_EQ(calls.last(), "SyncSoon 1 2");
  EXPECT_EQ(TextOf(file.Map(1, 2, 3)), "Map 1 2 3");
  EXPECT_EQ(TextOf(file.Identity()), "Identity");
  EXPECT_EQ(TextOf(file.ModifiedAt()), "ModifiedAt");
  EXPECT_EQ(TextOf(file.LockByte(1, LockMode::kExclusive)), "LockByte 1 1");
  EXPECT_EQ(TextOf(file.WaitForByte(1, std::chrono::milliseconds(2))), "WaitForByte 1 2");
  EXPECT_EQ(TextOf(file.HasWaiters(1)), "HasWaiters 1");
  EXPECT_EQ(TextOf(file.UnlockByte(1)), "UnlockByte 1");
  EXPECT_EQ(TextOf(file.IsLocked(1, 2)), "IsLocked 1 2");
  EXPECT_EQ(TextOf(file.LockHolders(1, 2)), "LockHolders 1 2");
  EXPECT_EQ(TextOf(file.LockWhole()), "LockWhole");
  EXPECT_EQ(TextOf(file.Watch()), "Watch");
  EXPECT_EQ(calls.names(), VirtualFunctionsOf("File"));
}

TEST(ForwardingFileSystemTest, ForwardsEachFunction) {
  Calls calls;
  ForwardingFileSystem files(std::make_shared<NotingFileSystem>(&calls));
  const FileHint hints[] = {{.name = "a", .size = 1}};
  EXPECT_EQ(TextOf(files.Open("a", FileMode::kReadWrite)), "Open a 1");
  EXPECT_EQ(TextOf(files.CreateFor("a", "b")), "CreateFor a b");
  EXPECT_EQ(TextOf(files.Rename("a", "b", true)), "Rename a b 1");
  EXPECT_EQ(TextOf(files.Remove("a")), "Remove a");
  EXPECT_EQ(TextOf(files.SyncDirectoryOf("a")), "SyncDirectoryOf a");
  EXPECT_EQ(TextOf(files.OpenDirectory("a")), "OpenDirectory a");
  EXPECT_EQ(TextOf(files.MakeDirectory("a")), "MakeDirectory a");
  EXPECT_EQ(TextOf(files.MakeDirectoryFor("a", "b")), "MakeDirectoryFor a b");
  EXPECT_EQ(TextOf(files.RemoveDirectory("a")), "RemoveDirectory a");
  EXPECT_EQ(TextOf(files.List("a")), "List a");
  EXPECT_EQ(TextOf(files.ListSome("a", "b", 1)), "ListSome a b 1");
  files.WillOpen(hints);
  EXPECT_EQ(calls.last(), "WillOpen a 1");
  EXPECT_EQ(TextOf(files.Exchange("a", "b")), "Exchange a b");
  EXPECT_EQ(TextOf(files.Absolute("a")), "Absolute a");
  EXPECT_EQ(files.Resolve("a"), "Resolve a");
  EXPECT_EQ(TextOf(files.Identity("a")), "Identity a");
  EXPECT_EQ(TextOf(files.IdentityOfLeft("a", "b")), "IdentityOfLeft a b");
  EXPECT_EQ(files.ObjectsIn("a").read_ahead, 99);
  EXPECT_EQ(files.BootId(), 88);
  EXPECT_EQ(calls.names(), VirtualFunctionsOf("FileSystem"));
}

// Opens whatever it is asked for.
class OpeningFileSystem final : public FileSystem {
 public:
  explicit OpeningFileSystem(Calls* calls) : calls_(*calls) {}
  absl::StatusOr<std::unique_ptr<File>> Open(const std::string&, FileMode) override {
    return std::make_unique<NotingFile>(&calls_);
  }
  absl::StatusOr<std::shared_ptr<FileSystem>> OpenDirectory(const std::string&) override {
    return std::make_shared<OpeningFileSystem>(&calls_);
  }
  absl::Status Rename(const std::string&, const std::string&, bool) override { return {}; }
  absl::Status Remove(const std::string&) override { return {}; }
  absl::Status SyncDirectoryOf(const std::string&) override { return {}; }
  absl::StatusOr<FileIdentity> Identity(const std::string&) override { return FileIdentity(); }
  ObjectDirectoryInfo ObjectsIn(const std::string& path) override {
    return {.store = nullptr, .files = *OpenDirectory(path)};
  }

 private:
  Calls& calls_;
};

class WrappingFileSystem final : public ForwardingFileSystem {
 public:
  WrappingFileSystem(std::shared_ptr<FileSystem> base, Calls* wrapped)
      : ForwardingFileSystem(std::move(base)), wrapped_(*wrapped) {}

 private:
  absl::StatusOr<std::unique_ptr<File>> WrapFile(std::unique_ptr<File> file,
                                                 const std::string& path, FileMode mode) override {
    wrapped_.Note("file", path, static_cast<int>(mode)).IgnoreError();
    return file;
  }
  std::shared_ptr<FileSystem> WrapDirectory(std::shared_ptr<FileSystem> directory,
                                            const std::string& path) override {
    wrapped_.Note("directory", path).IgnoreError();
    return directory;
  }

  Calls& wrapped_;
};

TEST(ForwardingFileSystemTest, WrapsWhateverIsOpened) {
  Calls calls;
  Calls wrapped;
  WrappingFileSystem files(std::make_shared<OpeningFileSystem>(&calls), &wrapped);
  EXPECT_TRUE(files.Open("a", FileMode::kReadWrite).ok());
  EXPECT_EQ(wrapped.last(), "file a 1");
  EXPECT_TRUE(files.CreateFor("b", "old").ok());
  EXPECT_EQ(wrapped.last(), "file b 2");
  EXPECT_TRUE(files.OpenDirectory("c").ok());
  EXPECT_EQ(wrapped.last(), "directory c");
  EXPECT_NE(files.ObjectsIn("d").files, nullptr);
  EXPECT_EQ(wrapped.last(), "directory d");
}

}  // namespace
}  // namespace cairn
