// Zip files as they are written and read. tests/python/stores_test.py has other programs' files.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/file_system.h"
#include "engine/base/endian.h"
#include "engine/codec/crc32.h"
#include "engine/collection/store/zip_directory.h"
#include "engine/collection/store/zip_writer.h"
#include "tests/support/dice.h"
#include "tests/support/status.h"

namespace cairn::collection {
namespace {

class ZipTest : public testing::Test {
 protected:
  // Makes a zip file with a file of each of these texts, named "0", "1" and so on.
  void Make(const std::vector<std::string>& texts) {
    file_ = std::shared_ptr<File>(files_->Open("zip", FileMode::kCreateNew).value());
    ZipWriter zip(file_);
    for (size_t i = 0; i < texts.size(); ++i) {
      ASSERT_TRUE(IsOk(zip.Add(std::to_string(i), [&](std::shared_ptr<FileSystem> files) {
        // Frames are written like this: under another name, and not from begin to end.
        const auto file = files->Open("tmp", FileMode::kCreateNew).value();
        const Bytes bytes = std::as_bytes(std::span(texts[i]));
        const size_t half = bytes.size() / 2;
        EXPECT_TRUE(IsOk(file->Truncate(static_cast<int64_t>(bytes.size()) + 5)));
        EXPECT_TRUE(IsOk(file->WriteAt(static_cast<int64_t>(half), bytes.subspan(half))));
        EXPECT_TRUE(IsOk(file->WriteAt(0, bytes.first(half))));
        EXPECT_TRUE(IsOk(file->Truncate(static_cast<int64_t>(bytes.size()))));
        EXPECT_TRUE(absl::IsNotFound(files->Identity("name").status()));
        EXPECT_TRUE(IsOk(files->Rename("tmp", "name", false)));
        EXPECT_TRUE(IsOk(files->Identity("name").status()));
        return absl::OkStatus();
      })));
    }
    ASSERT_TRUE(IsOk(zip.Finish()));
  }
  std::string TextOf(const ZipEntry& entry) const {
    std::string text(static_cast<size_t>(entry.size), '\0');
    const absl::StatusOr<int64_t> begin = FindZipData(*file_, entry);
    EXPECT_TRUE(IsOk(begin));
    if (!begin.ok()) return text;
    EXPECT_TRUE(IsOk(file_->ReadAt(*begin, std::as_writable_bytes(std::span(text)))));
    EXPECT_EQ(ZipChecksum(*file_, *begin, entry.size).value(), entry.crc);
    return text;
  }
  std::vector<std::byte> All() const {
    std::vector<std::byte> bytes(static_cast<size_t>(file_->Size().value()));
    EXPECT_TRUE(IsOk(file_->ReadAt(0, bytes)));
    return bytes;
  }
  // Replaces the file by these bytes.
  void Replace(Bytes bytes) const {
    ASSERT_TRUE(IsOk(file_->Truncate(0)));
    ASSERT_TRUE(IsOk(file_->WriteAt(0, bytes)));
  }

  const std::shared_ptr<FileSystem> files_ = MakeMemoryFileSystem();
  std::shared_ptr<File> file_;
};

TEST_F(ZipTest, FilesAreReadWhereTheyWereWritten) {
  const std::vector<std::string> texts = {"some text", "", std::string(3 << 20, 'x'), "\n"};
  Make(texts);
  EXPECT_TRUE(IsZip(*file_));
  const auto entries = ReadZipDirectory(*file_);
  ASSERT_TRUE(IsOk(entries));
  ASSERT_EQ(entries->size(), texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ((*entries)[i].name, std::to_string(i));
    EXPECT_EQ(TextOf((*entries)[i]), texts[i]);
  }
}

TEST_F(ZipTest, AsManyFilesAsNeedWideCountsAreRead) {
  constexpr size_t kMany = 66'000;
  Make(std::vector<std::string>(kMany, "a"));
  const auto entries = ReadZipDirectory(*file_);
  ASSERT_TRUE(IsOk(entries));
  ASSERT_EQ(entries->size(), kMany);
  EXPECT_EQ(TextOf(entries->back()), "a");
}

TEST_F(ZipTest, EmptyZipFileHasNoEntries) {
  Make({});
  EXPECT_TRUE(IsZip(*file_));
  EXPECT_TRUE(ReadZipDirectory(*file_)->empty());
}

TEST_F(ZipTest, CommentAtTheEndMayLookLikeADirectory) {
  Make({"text"});
  std::vector<std::byte> bytes = All();
  const size_t end = bytes.size() - 22;
  StoreLe<uint16_t>(bytes.data() + end + 20, 44);
  const std::vector<std::byte> record(bytes.begin() + static_cast<ptrdiff_t>(end), bytes.end());
  bytes.insert(bytes.end(), record.begin(), record.end());
  bytes.insert(bytes.end(), record.begin(), record.end());
  Replace(bytes);
  ASSERT_TRUE(IsOk(ReadZipDirectory(*file_)));
  EXPECT_EQ(TextOf(ReadZipDirectory(*file_)->front()), "text");
}

TEST_F(ZipTest, CutFileIsDamaged) {
  Make({"text", "more"});
  const std::vector<std::byte> bytes = All();
  for (size_t size = 0; size < bytes.size(); ++size) {
    Replace(Bytes(bytes).first(size));
    EXPECT_TRUE(IsDamage(ReadZipDirectory(*file_), "zip")) << size;
  }
}

TEST_F(ZipTest, HeaderThatContradictsTheDirectoryIsDamage) {
  Make({"text"});
  const ZipEntry entry = ReadZipDirectory(*file_)->front();
  std::vector<std::byte> bytes = All();
  bytes[30] = std::byte{'1'};
  Replace(bytes);
  EXPECT_TRUE(IsDamage(FindZipData(*file_, entry), "not that of the directory"));
  ZipEntry packed = entry;
  packed.plain = false;
  bytes[30] = std::byte{'0'};
  Replace(bytes);
  EXPECT_TRUE(Fails(FindZipData(*file_, packed), absl::StatusCode::kUnimplemented, "compressed"));
}

// Whatever the directory says, no entry reaches out of the file or into another one.
TEST_F(ZipTest, ChangedBytesGiveAnErrorOrEntriesWithinTheFile) {
  Make({"some text", "other text"});
  const std::vector<std::byte> whole = All();
  test::Dice dice(1);
  int64_t refused = 0;
  for (int run = 0; run < 20'000; ++run) {
    std::vector<std::byte> bytes = whole;
    for (size_t i = 0; i <= dice.Below(3); ++i) {
      bytes[dice.Below(bytes.size())] = static_cast<std::byte>(dice.Below(256));
    }
    Replace(bytes);
    const auto entries = ReadZipDirectory(*file_);
    if (!entries.ok()) {
      ++refused;
      continue;
    }
    int64_t end = 0;
    for (const ZipEntry& entry : *entries) {
      ASSERT_GE(entry.header, end);
      ASSERT_LE(entry.end, std::ssize(bytes));
      end = entry.header + entry.size;
      const absl::StatusOr<int64_t> begin = FindZipData(*file_, entry);
      if (begin.ok()) {
        ASSERT_LE(*begin + entry.size, entry.end);
      }
    }
  }
  EXPECT_GT(refused, 1000);
}

TEST(Crc32Test, IsThatOfZipFiles) {
  const std::string text = "123456789";
  EXPECT_EQ(codec::Crc32(std::as_bytes(std::span(text))), 0xCBF43926);
}

}  // namespace
}  // namespace cairn::collection
