// Waits for a lock in a queue, without polling.
//
// A waiter holds a ticket: a lock on one of the bytes before the byte that it waits for, further
// away than all tickets that are held. It blocks on the range from its ticket to the byte. The
// kernel grants that when all earlier tickets and the byte are free. The locks of a process end
// with it, so a waiter that dies leaves the queue.
#ifndef CAIRN_ENGINE_STORAGE_POSIX_LOCK_QUEUE_H_
#define CAIRN_ENGINE_STORAGE_POSIX_LOCK_QUEUE_H_

#include <chrono>
#include <cstdint>

namespace cairn::storage {

// The number of bytes before a byte that are its queue. One of them is locked while somebody waits.
// A byte with fewer bytes before it has no queue.
inline constexpr int64_t kQueueSize = int64_t{1} << 40;

// Takes the exclusive open-file-description lock of `byte`, which is at least kQueueSize, after all
// earlier waiters. Returns 0 or an errno: EAGAIN if `timeout` elapses first.
int LockInQueue(int fd, int64_t byte, std::chrono::milliseconds timeout);

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_POSIX_LOCK_QUEUE_H_
