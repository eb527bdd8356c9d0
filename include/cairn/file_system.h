// Access to files. Programs need it only to run Cairn on a storage of their own, or to inject
// faults in a test: OpenOptions and CreateOptions use the operating system's files by default.
#ifndef CAIRN_FILE_SYSTEM_H_
#define CAIRN_FILE_SYSTEM_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/types.h"

namespace cairn {

class ObjectStore;

// A range of a file's bytes, in place; valid while this object lives.
class CAIRN_EXPORT Mapping {
 public:
  virtual ~Mapping() = default;
  [[nodiscard]] virtual Bytes bytes() const ABSL_ATTRIBUTE_LIFETIME_BOUND = 0;
  // Returns true if the bytes show what is written to the file later, and may be read while it is
  // written. By default true.
  virtual bool follows_file() const { return true; }
};

// Which file a descriptor or a path leads to.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;
  bool operator==(const FileIdentity&) const = default;
};

// Bytes [offset, offset + size) of a file.
struct FileRange {
  int64_t offset = 0;
  int64_t size = 0;
};

// A file of a directory, and how many of its first bytes will be read.
struct FileHint {
  std::string name;
  int64_t size = 0;
};

// Says what a Sync makes durable.
enum class SyncMode {
  kData,  // the data, and of the metadata what reading them back needs (fdatasync)
  kAll,   // everything, a shrunken size included (fsync)
};

enum class LockMode {
  kShared,     // compatible with other shared locks
  kExclusive,  // compatible with no other lock
};

// A lock of File::LockByte, and a process that has the open file which it belongs to.
struct LockHolder {
  int64_t offset = 0;  // of the byte
  int64_t pid = 0;     // 0: not known
  // Since the process began. Empty: not known.
  std::optional<std::chrono::seconds> running = {};
};

// A change of a file that is watched.
enum class FileEvent {
  kNone,
  kWritten,
  kRenamed,  // or its name is gone, or its attributes changed
};

// Tells when a file changes, whichever process does that. For one thread at a time.
class CAIRN_EXPORT FileWatch {
 public:
  virtual ~FileWatch() = default;
  // Waits at most `timeout` for what happens to the file after the watch was made, and has not been
  // told yet; kNone when that is nothing.
  virtual absl::StatusOr<FileEvent> Wait(std::chrono::milliseconds timeout) = 0;
};

// An open file. Reads and writes are positional, all or error, and may run at the same time in
// several threads. Errors name the path.
class CAIRN_EXPORT File {
 public:
  virtual ~File() = default;

  virtual absl::StatusOr<int64_t> Size() const = 0;
  // Bytes of disk space that the file takes; with holes fewer than its size.
  virtual absl::StatusOr<int64_t> AllocatedSize() const = 0;
  // Fills dst from byte `offset` on; kOutOfRange when the file ends before.
  virtual absl::Status ReadAt(int64_t offset, MutableBytes dst) const = 0;
  // Reads up to the size of dst, less at the end of the file. Returns the number of bytes read.
  virtual absl::StatusOr<size_t> ReadSome(int64_t offset, MutableBytes dst) const = 0;
  // How many bytes it is worth to announce before they are read, by WillRead or, where each chunk
  // has a file, by FileSystem::WillOpen. By default 0: reading is quick without.
  virtual int64_t read_ahead() const { return 0; }
  // A hint that these bytes will be read soon: a file that is far away begins to fetch them, beside
  // each other, and does not wait. By default nothing.
  virtual void WillRead(std::span<const FileRange> /*ranges*/) const {}
  // Returns true if no byte of the file ever changes and it never grows: new content at its path is
  // another file. Such a file is read without locks. By default false.
  virtual bool is_immutable() const { return false; }
  virtual absl::Status WriteAt(int64_t offset, Bytes src) = 0;
  virtual absl::Status Truncate(int64_t size) = 0;
  // Reserves disk space for the bytes from the present end up to `size`; the file may become that
  // long, the new bytes being zero. Holes before the end stay holes. kResourceExhausted when the
  // disk is full; kUnimplemented where the file system cannot.
  virtual absl::Status Reserve(int64_t size) = 0;
  // Reserves as Reserve does, but keeps the size of the file. Truncate gives that space back.
  virtual absl::Status ReservePastEnd(int64_t size);
  // Frees the disk space of bytes that will not be read again; they become zero. The size of
  // the file stays. kUnimplemented where there are no holes.
  virtual absl::Status PunchHole(int64_t offset, int64_t size) = 0;
  virtual absl::Status Sync(SyncMode mode) = 0;
  // A hint that bytes [offset, offset + size) will be synced soon: the file system may begin to
  // write them to the disk.
  virtual void SyncSoon(int64_t /*offset*/, int64_t /*size*/) {}
  // Maps [offset, offset + size) for reading; the offset need not be aligned. kOutOfRange past the
  // end. The mapping may include up to `room` bytes more: touch them only when the file has grown
  // to hold them, or another byte of the same 4 KiB. kUnimplemented where no file can be mapped:
  // then what uses the file reads copies.
  virtual absl::StatusOr<std::shared_ptr<const Mapping>> Map(int64_t offset, int64_t size,
                                                             int64_t room) const = 0;
  virtual absl::StatusOr<FileIdentity> Identity() const = 0;
  // Takes a lock on one byte, which may lie past the end of the file. It belongs to this File and
  // ends with it. kUnavailable when another File, of this or another process, holds an incompatible
  // lock. An exclusive lock needs a file that is open for writing.
  virtual absl::Status LockByte(int64_t offset, LockMode mode) = 0;
  // Takes the exclusive lock of a byte and waits for it at most `timeout`: then kUnavailable.
  // Waiters are served in order if 2^40 bytes or more lie before it. By default polls LockByte.
  virtual absl::Status WaitForByte(int64_t offset, std::chrono::milliseconds timeout);
  // Returns true if another File, of any process, waits for the byte. By default false.
  virtual absl::StatusOr<bool> HasWaiters(int64_t /*offset*/) const { return false; }
  // Ends this File's lock on the byte. Children that were forked meanwhile keep a shared one. In a
  // forked child it ends the child's part alone: exclusive locks are those of who took them.
  virtual absl::Status UnlockByte(int64_t offset) = 0;
  // Returns true if another File, of this or another process, holds a lock of any mode on one of
  // the bytes [offset, offset + count).
  virtual absl::StatusOr<bool> IsLocked(int64_t offset, int64_t count) const = 0;
  // Who holds these locks, of this process too: a holder for each byte and process, in no order.
  // Meant for people: it looks at all processes of the machine. By default none is known.
  virtual absl::StatusOr<std::vector<LockHolder>> LockHolders(int64_t /*offset*/,
                                                              int64_t /*count*/) const {
    return std::vector<LockHolder>();
  }
  // Takes an exclusive lock on the whole file by flock, which is independent of LockByte. It ends
  // with this File. kUnavailable.
  virtual absl::Status LockWhole() = 0;
  // By default kUnimplemented: who waits for the file looks at it again and again.
  virtual absl::StatusOr<std::unique_ptr<FileWatch>> Watch() const;
};

class FileSystem;

// A directory of a file system that shows an object store: see object_store.h.
struct ObjectDirectoryInfo {
  std::shared_ptr<ObjectStore> store;  // with the names in the directory; null: it is no such one
  std::chrono::seconds grace{0};       // see ObjectFileOptions
  int64_t read_ahead = 0;              // see File::read_ahead
  // The directory, opened. Null in the answer of an opened directory.
  std::shared_ptr<FileSystem> files = nullptr;
};

enum class FileMode {
  kRead,
  kReadWrite,
  kCreateNew,  // read-write; kAlreadyExists when something is there
};

// Paths. Thread-safe. One in a std::shared_ptr lives as long as the frames that are opened in it.
class CAIRN_EXPORT FileSystem : public std::enable_shared_from_this<FileSystem> {
 public:
  virtual ~FileSystem() = default;

  virtual absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, FileMode mode) = 0;
  // Opens with kCreateNew a file that will replace `old`. If `old` exists, the file gets its
  // attributes: owner, group, permissions to read, write and execute, access control list and
  // extended attributes. Before it has them it is open to its owner alone. If `old` lies in a
  // directory next to `path`, the file is open only to those who may enter that. Errors:
  // kFailedPrecondition, and no file is left, if the process may not give an attribute.
  virtual absl::StatusOr<std::unique_ptr<File>> CreateFor(const std::string& path,
                                                          const std::string& old);
  // Gives `from` the name `to`; with `replace` false fails with kAlreadyExists when `to` exists.
  // What takes the place of another of its kind gets its attributes as they are now, or
  // kFailedPrecondition.
  virtual absl::Status Rename(const std::string& from, const std::string& to, bool replace) = 0;
  virtual absl::Status Remove(const std::string& path) = 0;
  // Makes the names in the directory of `path` durable.
  virtual absl::Status SyncDirectoryOf(const std::string& path) = 0;

  // Directories, for sparse frames. A file system that has none keeps these definitions.
  //
  // Opens a directory as a file system of its own: its paths are the plain names in there, a name
  // with a slash gives kInvalidArgument, and a symbolic link gives kDataLoss instead of being
  // followed. A new file in there has no more permissions than the directory. kNotFound;
  // kFailedPrecondition when there is a file.
  virtual absl::StatusOr<std::shared_ptr<FileSystem>> OpenDirectory(const std::string& path);
  // kAlreadyExists.
  virtual absl::Status MakeDirectory(const std::string& path);
  // Makes a directory that will replace `old`, as CreateFor does for files. A file's permission to
  // read becomes that to read and search; kFailedPrecondition if it has an access control list.
  virtual absl::Status MakeDirectoryFor(const std::string& path, const std::string& old);
  // Removes an empty directory.
  virtual absl::Status RemoveDirectory(const std::string& path);
  // The names in a directory, in no order, without "." and "..". An opened directory lists itself
  // as ".".
  virtual absl::StatusOr<std::vector<std::string>> List(const std::string& path);
  // Returns the names that begin with `prefix`. If the file system can stop there, looks at the
  // first `most` names only, whichever they are. By default at all of List.
  virtual absl::StatusOr<std::vector<std::string>> ListSome(const std::string& path,
                                                            std::string_view prefix, int64_t most);
  // A hint that these files of an opened directory will be opened and read soon; see
  // File::WillRead.
  virtual void WillOpen(std::span<const FileHint> /*files*/) {}
  // Swaps what two names lead to, files or directories, in one step. What gets the name `b` gets
  // the attributes too, if both are of one kind.
  virtual absl::Status Exchange(const std::string& a, const std::string& b);

  // Returns a path that leads there also after the process has changed its working directory.
  // Symbolic links stay in it. A frame asks once, when it is opened, and uses the answer from then
  // on. By default `path` itself.
  virtual absl::StatusOr<std::string> Absolute(const std::string& path) { return path; }
  // The path with symbolic links resolved; unchanged when nothing is there yet.
  virtual std::string Resolve(const std::string& path) { return path; }
  // kNotFound when nothing is there.
  virtual absl::StatusOr<FileIdentity> Identity(const std::string& path) = 0;
  // Identity of a file left at `path` for the writer of `other`, if its owner may surely write that
  // too: the owner of `other`, root, or anybody if everybody may. Who can put a file into a folder
  // may not change the others in it. Otherwise kPermissionDenied, with what it is and whose, also
  // for a link and for a file with two names. By default files have no owners.
  virtual absl::StatusOr<FileIdentity> IdentityOfLeft(const std::string& path,
                                                      const std::string& /*other*/) {
    return Identity(path);
  }
  // The objects in a directory, whether there are any or not; an opened directory calls itself ".".
  // Frames in object stores are written in another way than files: by any number of writers.
  virtual ObjectDirectoryInfo ObjectsIn(const std::string& /*path*/) { return {}; }
  // A number of this run of the machine. While it is the same, whatever was written reads back,
  // also what was not synced and what another process wrote; after a restart or a power cut it is
  // another. 0 when that is not known.
  virtual uint64_t BootId() const { return 0; }
};

// The operating system's files.
CAIRN_EXPORT FileSystem* PosixFileSystem();

// Files in memory, for one process, that go with this object and what has them open. They have
// plain names, and nothing survives the process.
CAIRN_EXPORT std::unique_ptr<FileSystem> MakeMemoryFileSystem();

}  // namespace cairn

#endif  // CAIRN_FILE_SYSTEM_H_
