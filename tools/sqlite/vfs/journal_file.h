// A rollback journal in memory, which lives as long as one connection has it open.
#ifndef CAIRN_TOOLS_SQLITE_VFS_JOURNAL_FILE_H_
#define CAIRN_TOOLS_SQLITE_VFS_JOURNAL_FILE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"

#include "cairn/snapshot.h"
#include "tools/sqlite/vfs/database.h"
#include "tools/sqlite/vfs/vfs_file.h"

namespace cairn::sqlite {

// SQLite needs it for ROLLBACK and savepoints, but never after a crash, because the frame has
// nothing uncommitted. A record is the number of a page, the page as it was before the transaction,
// and a checksum. The first kMostMemory bytes are kept. After these a page that equals the
// committed one takes 8 bytes, and is read from the frame when it is needed.
class JournalFile final : public VfsFile {
 public:
  static constexpr int64_t kMostMemory = int64_t{8} << 20;

  explicit JournalFile(std::shared_ptr<Database> database) : database_(std::move(database)) {}

  int Read(int64_t offset, MutableBytes dst) override;
  int Write(int64_t offset, Bytes src) override;
  int Truncate(int64_t size) override;
  int Size(int64_t& size) override;

 private:
  using Number = std::array<std::byte, 4>;
  // Records one after the other, whose pages are committed ones.
  struct Record {
    Number page;
    Number checksum;
  };
  using Run = std::vector<Record>;

  int64_t RecordSize() const { return page_size_ + 2 * std::ssize(Number()); }
  int64_t EndOfRuns() const;
  void Forget(int64_t from);
  bool IsCommittedPage(int64_t offset, Bytes src);
  void AddRecord(int64_t offset);
  bool TakeChecksum(int64_t offset, Bytes src);
  void Store(int64_t offset, Bytes src);
  absl::Status ReadPage(const Record& record, MutableBytes page) const;
  absl::Status ReadRun(int64_t begin, const Run& run, int64_t offset, MutableBytes dst) const;

  const std::shared_ptr<Database> database_;
  std::vector<std::byte> bytes_;  // the first ones
  int64_t size_ = 0;
  std::optional<Snapshot> committed_;  // the state that records refer to
  int64_t page_size_ = 0;              // page size of the records
  std::map<int64_t, Run> runs_;        // by their begin
  // Other bytes after the first ones, by their begin.
  std::map<int64_t, std::vector<std::byte>> pieces_;
};

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_VFS_JOURNAL_FILE_H_
