// LogWriter: the only object that changes a log.
#ifndef CAIRN_LOG_WRITER_H_
#define CAIRN_LOG_WRITER_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/items.h"
#include "cairn/log.h"
#include "cairn/options.h"
#include "cairn/types.h"

namespace cairn {

namespace log {
class TimerThread;
class WriterCore;
}  // namespace log

// Makes the commits of many writers when they are due. One thread serves all of them, so that not
// every writer needs its own; see LogWriterOptions::timer. A CommitTimer is thread-safe.
class CAIRN_EXPORT CommitTimer {
 public:
  CommitTimer();
  ~CommitTimer();
  CommitTimer(const CommitTimer&) = delete;
  CommitTimer& operator=(const CommitTimer&) = delete;

 private:
  friend class log::WriterCore;
  std::shared_ptr<log::TimerThread> thread_;
};

// Says when a LogWriter commits, and how.
struct LogWriterOptions {
  // Number of records that are committed together: the Append that reaches it commits. 0 means no
  // such number. With 0 here and in `commit_interval`, only Commit and a full buffer commit.
  // A process that is killed loses only records that are not committed yet.
  int64_t commit_records = 0;
  // Time after which records are committed, counted from the first of them. 0 means no such time. A
  // writer with such a time also carries out within a second what other processes ask; any other
  // one does so when it commits.
  std::chrono::milliseconds commit_interval{0};
  // By default, commits survive the death of the process. They survive a power cut once Checkpoint
  // or Close has returned. With kMachine, each commit survives a power cut.
  Durability durability = Durability::kProcess;
  // Holds back records that are less than this much older than the newest one, in units of the time
  // field, and commits them in the order of time. Records that are held back are lost if the
  // process is killed.
  int64_t reorder_window = 0;
  // Maximum bytes of records in memory. An Append that exceeds it commits all records, so a program
  // that is faster than its disk waits.
  int64_t max_buffered_bytes = 16 << 20;
  // How long Log::OpenWriter waits for another writer before it returns kUnavailable.
  std::chrono::milliseconds wait{0};
  // Makes the commits of `commit_interval`, and must outlive the writer. Null means a thread of the
  // writer's own.
  CommitTimer* timer = nullptr;
  // How new chunks are compressed. By default as the log says.
  std::optional<CompressionOptions> compression = {};
};

// Says which records LogWriter::Upsert replaces.
struct UpsertOptions {
  // Names of fields: of integers, booleans, timestamps, bytes or texts. Two records are of the same
  // key if their times and their values of these fields are equal. Empty means all fields of the
  // type kText.
  std::vector<std::string> key = {};
  // Times alone tell records apart if `key` is empty.
  bool time_only = false;
};

// Says what LogWriter::Upsert did with each record that it was given. Records that a later one of
// the same call replaces are in none of these numbers.
struct UpsertReport {
  int64_t inserted = 0;   // records whose key the log did not hold
  int64_t replaced = 0;   // records that replaced one or more of their key
  int64_t unchanged = 0;  // records that the log held already, with the same bytes
  int64_t removed = 0;    // records of the log that were deleted, which may be more than `replaced`
  bool operator==(const UpsertReport&) const = default;
};

// Takes records and commits them as its options say. The records of one commit are sorted by time;
// records of the same time stay in the order in which they arrived. A commit also drops old records
// and begins new files as the log says, which takes some milliseconds each time.
//
// A LogWriter is movable and thread-safe. The destructor drops records that are not committed.
//
// Errors: every call that commits may return the errors of a commit; see Writer.
//   kFailedPrecondition if the log's file was moved, removed or replaced. The writer looks every
//     10 ms or more, and what it has committed since is in the file that was there.
//   kResourceExhausted if the disk is full. The records stay in memory, and the next commit takes
//     them. A commit that the timer makes is tried again after `commit_interval`. If the log drops
//     old records, it takes the new ones in several commits, and some of these may be made.
//   After any other failure of a commit, even of one that the timer made, every call returns its
//     error: open the log again. Records that were not committed are lost.
//   After Close, and in a forked child, every call returns kFailedPrecondition.
class CAIRN_EXPORT LogWriter {
 public:
  LogWriter(LogWriter&&) noexcept;
  LogWriter& operator=(LogWriter&&) noexcept;
  ~LogWriter();

  // Takes any number of records. Commits if the options say so.
  // Errors, after which no record is taken:
  //   kInvalidArgument if the size is not a multiple of the record size, if the values have another
  //     size than a record, if a record has no time (NumPy's NaT), or if a code has no text.
  //   kUnavailable if the disk is full, and more records wait for it than `max_buffered_bytes`.
  // After kResourceExhausted the records are taken, and wait.
  absl::Status Append(Items records);
  // Returns the code that a text has in the records of a field of type kText. A text that has none
  // gets the next one, which the next commit stores together with its records. The log keeps every
  // text for ever. A code that no commit of this writer stored gets another text from the next
  // writer. An empty text has code 0.
  // Errors:
  //   kNotFound if there is no such field.
  //   kInvalidArgument if the field has another type, or the text is longer than 65,535 bytes,
  //     contains a zero or is not UTF-8.
  //   kResourceExhausted if the texts of all key fields would take more than 16 MiB.
  absl::StatusOr<uint32_t> CodeOf(std::string_view field, std::string_view text);
  // Commits all records, including those that the window holds back, with the durability of the
  // options.
  absl::Status Commit();
  // Commits all records durably, and leaves frames in which any Blosc2 library sees everything. If
  // only the checkpoint is refused, the records are committed and the writer can still be used.
  absl::Status Checkpoint();

  // Changes what the log keeps. The new retention becomes part of the log with the next commit.
  // Errors: kInvalidArgument if a limit is less than 0.
  absl::Status SetRetention(const Retention& retention);
  // Changes when the log begins a new file. The new rotation becomes part of the log with the next
  // commit.
  // Errors: kInvalidArgument if a limit is less than 0; kFailedPrecondition if the log is one file.
  absl::Status SetRotation(const Rotation& rotation);
  // Commits all records and drops everything that the retention allows to drop. A commit by itself
  // drops only a bounded part of it.
  absl::Status ApplyRetention();

  // Commits all records, deletes those that are chosen, durably, and returns how many there were.
  // Records keep their numbers. The times of deleted records stay stored. Their other values are
  // overwritten in this and all later states; see docs/log.md for where old bytes remain.
  //
  // Costs a rewrite of each chunk that holds such a record. In a log of many files each file has a
  // commit of its own. After an error, some of the records may be deleted; repeat the call.
  //
  // Errors:
  //   kNotFound, kInvalidArgument, kFailedPrecondition as for LogSnapshot::Query.
  //   kDataLoss if a chunk to change is damaged.
  //   kResourceExhausted also if one file would have more than 1,000,000 ranges of deleted records.
  //   kUnavailable if another writer holds an older file of the log for a second.
  absl::StatusOr<int64_t> Delete(const LogSelection& which);

  // Commits all records, and then these: each replaces the records of its key that the log holds.
  // If these records have the same key as each other, the last of them stays. A record that the log
  // holds already with the same bytes stays as it is. Others get a new number, and what they
  // replace is deleted as by Delete. A key that the log held several times is there once then.
  //
  // Readers see the old records or the new ones: it is one commit, with the durability of the
  // options. In a log of many files, records that belong into different files need a commit for
  // each file. Old records that are in older files are overwritten there after the commit; if that
  // fails or this process dies, another call or the next writer does it.
  //
  // Costs a rewrite of each chunk that holds a record that is replaced. Reads chunks whose times
  // may be among those of these records. The records need a multiple of their bytes in memory.
  //
  // Errors, after which the call can be repeated:
  //   kInvalidArgument as for Append, and if a field of the key has floats.
  //   kNotFound if no field has a name that the key contains.
  //   kFailedPrecondition also if the records have no time.
  //   kDataLoss if a chunk to read is damaged.
  //   kResourceExhausted also if one file would have more than 1,000,000 ranges of deleted records.
  // After kResourceExhausted none of the records wait in memory.
  absl::StatusOr<UpsertReport> Upsert(Items records, const UpsertOptions& options = {});

  // Commits all records and adds a field after the others, durably. Records that are taken from now
  // on have it, and are as much longer. Older records have no value: queries, statistics and
  // aggregations leave it out, and a comparison with it is false, except kNotEqual. Readers see the
  // field with the next state.
  //
  // A log of many files begins a new file. A log of one file is written again, under the name
  // NAME.fields at first: that costs as much time and space as a copy of it, and its older
  // generations are dropped. A crash leaves the log as it was before, or with the field.
  //
  // Errors, after which nothing has changed, unless stated otherwise:
  //   kAlreadyExists if the log has a field of this name.
  //   kInvalidArgument as for Schema::Make, and if the name is not UTF-8.
  //   kFailedPrecondition if the field is a timestamp and the records have no time: it would be
  //     the time.
  //   kUnimplemented if the log is one file and its frame is sparse or in an object store.
  //   kResourceExhausted if the disk is full.
  //   kUnavailable if another writer took the log at the end. The field is added, and this writer
  //     is of no further use.
  absl::Status AddField(const Field& field);

  // Returns the number after those of all records taken, committed or not.
  [[nodiscard]] int64_t end_record() const;
  // Returns the newest commit.
  [[nodiscard]] LogSnapshot snapshot() const;
  // Commits all records durably and releases the log, so that another writer may write it. Every
  // later call fails.
  absl::Status Close();

 private:
  friend class Log;
  explicit LogWriter(std::shared_ptr<log::WriterCore> core);
  std::shared_ptr<log::WriterCore> core_;
};

}  // namespace cairn

#endif  // CAIRN_LOG_WRITER_H_
