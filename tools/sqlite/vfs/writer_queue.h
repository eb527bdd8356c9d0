// Waits for the writer when SQLite would sleep and ask again.
#ifndef CAIRN_TOOLS_SQLITE_VFS_WRITER_QUEUE_H_
#define CAIRN_TOOLS_SQLITE_VFS_WRITER_QUEUE_H_

#include <chrono>
#include <map>
#include <memory>
#include <thread>

#include "engine/base/mutex.h"
#include "tools/sqlite/vfs/database.h"

namespace cairn::sqlite {

// After SQLITE_BUSY the busy handler of a connection calls xSleep of its VFS, in the same thread,
// and then tries the transaction again. So that sleep waits for the writer, and ends as soon as the
// connection may have it. Trying again takes it. A connection that does not try again, because the
// thread slept for something else, never has it. Thread-safe.
class WriterQueue {
 public:
  // Notes that `owner`, a connection, was refused the writer in this thread.
  void NoteRefused(const std::shared_ptr<Database>& database, const void* owner);
  // Makes sure that nothing that this thread does later concerns `owner`.
  void Forget(const void* owner);
  // Waits at most that long for the writer that this thread was refused just now. Returns false, at
  // once, if it was not.
  bool Wait(std::chrono::microseconds most);

 private:
  struct Refusal {
    std::weak_ptr<Database> database;
    const void* owner = nullptr;
    std::chrono::steady_clock::time_point at;
  };

  Mutex mutex_;
  std::map<std::thread::id, Refusal> refusals_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_VFS_WRITER_QUEUE_H_
