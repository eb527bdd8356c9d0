// FileSystem and File: how Cairn reaches files. Programs need this header only to run Cairn on a
// storage of their own, or to inject faults in a test. By default OpenOptions and CreateOptions use
// the files of the operating system.
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

// Maps a range of a file's bytes. The bytes are valid while this object lives.
class CAIRN_EXPORT Mapping {
 public:
  virtual ~Mapping() = default;
  [[nodiscard]] virtual Bytes bytes() const ABSL_ATTRIBUTE_LIFETIME_BOUND = 0;
  // Returns true if the bytes show later writes to the file, and may be read during them. By
  // default true.
  virtual bool follows_file() const { return true; }
};

// Identifies the file that a descriptor or a path leads to.
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

// A file of a directory whose first bytes will be read.
struct FileHint {
  std::string name;
  int64_t size = 0;  // bytes that will be read
};

// Says what a Sync makes durable.
enum class SyncMode {
  kData,  // the data, and the metadata that reading them back needs (fdatasync)
  kAll,   // everything, including a smaller size (fsync)
};

// Says which other locks a lock allows.
enum class LockMode {
  kShared,     // compatible with other shared locks
  kExclusive,  // compatible with no other lock
};

// A lock that File::LockByte took, and a process that has the open file to which it belongs.
struct LockHolder {
  int64_t offset = 0;  // offset of the byte
  int64_t pid = 0;     // 0 means unknown
  // Time since the process began. Empty means unknown.
  std::optional<std::chrono::seconds> running = {};
};

// Says what happened to a file that is watched.
enum class FileEvent {
  kNone,
  kWritten,
  kRenamed,  // it has another name or none, or its attributes changed
};

// Tells when a file changes, whichever process changes it. One thread at a time may use a
// FileWatch.
class CAIRN_EXPORT FileWatch {
 public:
  virtual ~FileWatch() = default;
  // Waits up to `timeout` for an event that no Wait has told yet. Events count from the moment when
  // the watch was made. Returns kNone if nothing happened.
  virtual absl::StatusOr<FileEvent> Wait(std::chrono::milliseconds timeout) = 0;
};

// An open file. Reads and writes take a position. They transfer all bytes or return an error, and
// may run in several threads at the same time.
//
// Errors name the path. Each comment lists the errors that have a meaning for Cairn. Any call may
// also return an error of the storage: kPermissionDenied, kResourceExhausted if the disk is full,
// or kInternal if the disk fails. Calls that change a file which is open for reading only return
// kFailedPrecondition.
class CAIRN_EXPORT File {
 public:
  virtual ~File() = default;

  virtual absl::StatusOr<int64_t> Size() const = 0;
  // Returns the bytes of disk space that the file takes. A file with holes takes fewer than its
  // size.
  virtual absl::StatusOr<int64_t> AllocatedSize() const = 0;
  // Fills dst from byte `offset` on.
  // Errors: kOutOfRange if the file ends before dst is full.
  virtual absl::Status ReadAt(int64_t offset, MutableBytes dst) const = 0;
  // Reads up to the size of dst, or less at the end of the file. Returns the number of bytes read.
  virtual absl::StatusOr<size_t> ReadSome(int64_t offset, MutableBytes dst) const = 0;
  // Returns how many bytes should be announced before they are read, by WillRead or, if each chunk
  // has a file, by FileSystem::WillOpen. By default 0: reading is fast without it.
  virtual int64_t read_ahead() const { return 0; }
  // Announces that these bytes will be read soon. A file that is far away begins to fetch them, all
  // at the same time, and does not wait. By default does nothing.
  virtual void WillRead(std::span<const FileRange> /*ranges*/) const {}
  // Returns true if no byte of the file ever changes and the file never grows: new content at its
  // path is another file. Such a file is read without locks. By default false.
  virtual bool is_immutable() const { return false; }
  // Writes src at byte `offset`. The file grows if it ends before.
  virtual absl::Status WriteAt(int64_t offset, Bytes src) = 0;
  // Sets the size of the file. New bytes are zero.
  virtual absl::Status Truncate(int64_t size) = 0;
  // Reserves disk space for the bytes from the present end up to `size`. The file may grow to that
  // size; its new bytes are then zero. Holes before the end stay holes.
  // Errors: kResourceExhausted if the disk is full; kUnimplemented if the file system cannot
  // reserve space.
  virtual absl::Status Reserve(int64_t size) = 0;
  // Reserves disk space for `size` bytes from `offset` on, those among them that lie in holes or
  // past the end, and keeps the size of the file. Truncate gives back what lies past the end, and
  // so may this if it fails. By default returns kUnimplemented.
  // Errors: as for Reserve.
  virtual absl::Status Allocate(int64_t offset, int64_t size);
  // Frees the disk space of bytes that will not be read again. They become zero. The size of the
  // file stays the same.
  // Errors: kUnimplemented if the file system has no holes.
  virtual absl::Status PunchHole(int64_t offset, int64_t size) = 0;
  // Makes all earlier writes durable.
  virtual absl::Status Sync(SyncMode mode) = 0;
  // Announces that bytes [offset, offset + size) will be synced soon. The file system may begin to
  // write them to the disk.
  virtual void SyncSoon(int64_t /*offset*/, int64_t /*size*/) {}
  // Maps bytes [offset, offset + size) for reading. The offset need not be aligned. The mapping may
  // include up to `room` bytes more. Touch such a byte only after the file has grown to hold it, or
  // to hold another byte of the same 4 KiB.
  // Errors: kOutOfRange if the range ends after the file; kUnimplemented if files cannot be mapped,
  // and Cairn then reads copies.
  virtual absl::StatusOr<std::shared_ptr<const Mapping>> Map(int64_t offset, int64_t size,
                                                             int64_t room) const = 0;
  virtual absl::StatusOr<FileIdentity> Identity() const = 0;
  // Returns when the file was last written, in nanoseconds since 1970 by the clock of this machine.
  // By default returns kUnimplemented: then Cairn may not notice that another Blosc2 changes a
  // frame in place.
  virtual absl::StatusOr<int64_t> ModifiedAt() const;
  // Takes a lock on one byte, which may lie after the end of the file. The lock belongs to this
  // File and ends with it.
  // Errors: kUnavailable if another File, in this or another process, holds an incompatible lock;
  // kFailedPrecondition if `mode` is exclusive and the file is open for reading only.
  virtual absl::Status LockByte(int64_t offset, LockMode mode) = 0;
  // Takes the exclusive lock of a byte, and waits for it up to `timeout`. Waiters are served in
  // their order if 2^40 bytes or more lie before the byte. By default polls LockByte.
  // Errors: as for LockByte; kUnavailable only after `timeout`.
  virtual absl::Status WaitForByte(int64_t offset, std::chrono::milliseconds timeout);
  // Returns true if another File, in any process, waits for the byte. By default false.
  virtual absl::StatusOr<bool> HasWaiters(int64_t /*offset*/) const { return false; }
  // Ends this File's lock on the byte. Children that were forked since keep a shared lock. In a
  // forked child it ends only the child's share: an exclusive lock belongs to the process that took
  // it.
  virtual absl::Status UnlockByte(int64_t offset) = 0;
  // Returns true if another File, in this or another process, holds a lock of any mode on one of
  // the bytes [offset, offset + count).
  virtual absl::StatusOr<bool> IsLocked(int64_t offset, int64_t count) const = 0;
  // Lists the holders of such locks, including this process: one for each byte and process, in no
  // order. Use it for diagnosis: it looks at all processes of the machine. By default empty.
  virtual absl::StatusOr<std::vector<LockHolder>> LockHolders(int64_t /*offset*/,
                                                              int64_t /*count*/) const {
    return std::vector<LockHolder>();
  }
  // Takes an exclusive lock on the whole file by flock, which is independent of LockByte. The lock
  // ends with this File.
  // Errors: kUnavailable if another program holds the lock; kFailedPrecondition if the file cannot
  // be a lock file. PosixFileSystem() refuses one of more than 4,096 bytes or with several names.
  virtual absl::Status LockWhole() = 0;
  // Begins to watch the file. By default returns kUnimplemented, and Cairn then polls the file.
  virtual absl::StatusOr<std::unique_ptr<FileWatch>> Watch() const;
};

class FileSystem;

// Describes a directory in a file system that shows an object store; see object_store.h.
struct ObjectDirectoryInfo {
  // The objects, by their names in the directory. Null means that the directory is not in a store.
  std::shared_ptr<ObjectStore> store;
  std::chrono::seconds grace{0};  // see ObjectFileOptions
  int64_t read_ahead = 0;         // see File::read_ahead
  // The opened directory. Null in the answer of an opened directory.
  std::shared_ptr<FileSystem> files = nullptr;
};

// Says what a file is opened for.
enum class FileMode {
  kRead,
  kReadWrite,
  kCreateNew,  // for reading and writing; kAlreadyExists if something exists at the path
};

// Opens, renames and lists files by their paths. A FileSystem is thread-safe. If a std::shared_ptr
// owns it, it lives as long as the frames that are opened in it.
//
// Each comment lists the errors that have a meaning for Cairn. Any call may also return an error of
// the storage, as for File.
class CAIRN_EXPORT FileSystem {
 public:
  virtual ~FileSystem() = default;

  // Opens a file.
  // Errors: kNotFound if nothing exists at `path`; kAlreadyExists if `mode` is kCreateNew and
  // something exists there.
  virtual absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, FileMode mode) = 0;
  // Opens with kCreateNew a file that will replace `old`. If `old` exists, the file gets its
  // attributes: owner, group, permissions to read, write and execute, access control list and
  // extended attributes. Until it has them, only its owner may open it. If `old` lies in a
  // directory next to `path`, only those may open the file who may enter that directory.
  // Errors: kAlreadyExists if something exists at `path`; kFailedPrecondition if the process may
  // not give an attribute, and no file is left then.
  virtual absl::StatusOr<std::unique_ptr<File>> CreateFor(const std::string& path,
                                                          const std::string& old);
  // Gives `from` the name `to`. A file that replaces a file, or a directory that replaces a
  // directory, gets the attributes that the old one has at that moment.
  // Errors:
  //   kNotFound if nothing exists at `from`.
  //   kAlreadyExists if `replace` is false and something exists at `to`.
  //   kFailedPrecondition if the process may not give an attribute.
  virtual absl::Status Rename(const std::string& from, const std::string& to, bool replace) = 0;
  // Removes a file.
  // Errors: kNotFound if nothing exists at `path`.
  virtual absl::Status Remove(const std::string& path) = 0;
  // Makes the names in the directory of `path` durable.
  virtual absl::Status SyncDirectoryOf(const std::string& path) = 0;

  // The next calls are for directories, which sparse frames need. A file system without directories
  // keeps their definitions, which return kUnimplemented.
  //
  // Opens a directory as a file system of its own. Its paths are the plain names in the directory.
  // There a name with a slash gives kInvalidArgument, and a symbolic link is not followed but gives
  // kDataLoss. A new file there has no more permissions than the directory.
  // Errors: kNotFound if nothing exists at `path`; kFailedPrecondition if a file exists there.
  virtual absl::StatusOr<std::shared_ptr<FileSystem>> OpenDirectory(const std::string& path);
  // Makes an empty directory.
  // Errors: kAlreadyExists if something exists at `path`.
  virtual absl::Status MakeDirectory(const std::string& path);
  // Makes a directory that will replace `old`, as CreateFor does for files. If `old` is a file,
  // those who may read it may read and search the directory.
  // Errors: as for CreateFor; kFailedPrecondition also if `old` is a file with an access control
  // list.
  virtual absl::Status MakeDirectoryFor(const std::string& path, const std::string& old);
  // Removes an empty directory.
  // Errors: kNotFound if nothing exists at `path`; kFailedPrecondition if the directory is not
  // empty.
  virtual absl::Status RemoveDirectory(const std::string& path);
  // Lists the names in a directory, in no order and without "." and "..". In an opened directory,
  // "." is the directory itself.
  virtual absl::StatusOr<std::vector<std::string>> List(const std::string& path);
  // Lists the names that begin with `prefix`. A file system that can stop early looks only at the
  // first `most` names, whichever they are. By default looks at all names of List.
  virtual absl::StatusOr<std::vector<std::string>> ListSome(const std::string& path,
                                                            std::string_view prefix, int64_t most);
  // Announces that these files of an opened directory will be opened and read soon; see
  // File::WillRead. By default does nothing.
  virtual void WillOpen(std::span<const FileHint> /*files*/) {}
  // Swaps two names in one step. They may belong to files or directories. If both are of one kind,
  // the one that gets the name `b` also gets the attributes of the other.
  // Errors: kUnimplemented if the file system cannot swap names; kFailedPrecondition if the process
  // may not give an attribute.
  virtual absl::Status Exchange(const std::string& a, const std::string& b);

  // Returns a path that leads to the same place after the process has changed its working
  // directory. Symbolic links stay in the path. A frame asks once, when it is opened, and uses the
  // answer from then on. By default returns `path` itself.
  // Errors: kInvalidArgument if `path` contains a zero byte.
  virtual absl::StatusOr<std::string> Absolute(const std::string& path) { return path; }
  // Returns the path with its symbolic links resolved. Returns `path` itself if nothing exists
  // there yet.
  virtual std::string Resolve(const std::string& path) { return path; }
  // Returns the identity of the file or directory at `path`.
  // Errors: kNotFound if nothing exists there.
  virtual absl::StatusOr<FileIdentity> Identity(const std::string& path) = 0;
  // Returns the identity of a file that somebody left at `path` for the writer of `other`. Checks
  // that the owner of the file surely may write `other`, too. This is so for the owner of `other`,
  // for root, and for any user if everybody may write `other`. The check is needed because a user
  // who may put a file into a folder may not be allowed to change the other files there. By default
  // files have no owners, and nothing is checked.
  // Errors: kNotFound if nothing exists at `path`; kPermissionDenied if the owner may not write
  // `other`, or if a link, a file with two names or another kind of thing is at `path`. The message
  // says what is there and who owns it.
  virtual absl::StatusOr<FileIdentity> IdentityOfLeft(const std::string& path,
                                                      const std::string& /*other*/) {
    return Identity(path);
  }
  // Describes the objects in a directory, which may be none. An opened directory is called ".".
  // Frames in object stores are written differently from files: by any number of writers. By
  // default the answer says that the directory is not in a store.
  virtual ObjectDirectoryInfo ObjectsIn(const std::string& /*path*/) { return {}; }
  // Returns a number for this run of the machine. While the number stays the same, all writes can
  // be read back, including those of other processes and those that were not synced. After a
  // restart or a power cut the number is a different one. 0 means unknown.
  virtual uint64_t BootId() const { return 0; }
};

// Returns the files of the operating system.
CAIRN_EXPORT const std::shared_ptr<FileSystem>& PosixFileSystem();

// Makes files in memory for one process. A file lives until this object and everything that has the
// file open are destroyed. Files have plain names, and nothing survives the process.
CAIRN_EXPORT std::shared_ptr<FileSystem> MakeMemoryFileSystem();

}  // namespace cairn

#endif  // CAIRN_FILE_SYSTEM_H_
