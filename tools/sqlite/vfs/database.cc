#include "tools/sqlite/vfs/database.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <unistd.h>
#include <utility>

#include "cairn/file_system.h"
#include "tools/status.h"

namespace cairn::sqlite {

namespace {

// There is no filter, because pages change too much from byte to byte for one.
CompressionOptions PageCompression() {
  return {.codec = Codec::kLz4, .clevel = PageLevel(Codec::kLz4), .filters = {}};
}

// Returns a number that a forked process does not share, like getpid, but without a system call.
int ThisProcess() {
  static std::atomic<int> forks = 0;
  static const bool counts = pthread_atfork(nullptr, nullptr, [] { ++forks; }) == 0;
  return counts ? forks.load(std::memory_order_relaxed) : getpid();
}

int64_t DeadBytes(const Frame& frame) { return frame.snapshot().info().dead_bytes.value_or(0); }

}  // namespace

absl::Status Database::Create(const std::string& path, const DatabaseOptions& options,
                              const VfsOptions& vfs) {
  CreateOptions create;
  create.file_system = vfs.files;
  create.compression = CompressionOf(options, PageCompression());
  create.chunksize = options.chunksize.has_value() ? *options.chunksize : ChunkSize::AsFirstChunk();
  const absl::StatusOr<std::unique_ptr<File>> empty = vfs.files->Open(path, FileMode::kReadWrite);
  if (empty.ok()) {
    // Processes that find the empty file replace it in turn.
    RETURN_IF_ERROR((*empty)->WaitForByte(0, std::chrono::seconds(10)));
    ASSIGN_OR_RETURN(const FileIdentity locked, (*empty)->Identity());
    ASSIGN_OR_RETURN(const FileIdentity there, vfs.files->Identity(path));
    ASSIGN_OR_RETURN(const int64_t size, (*empty)->Size());
    if (locked != there || size > 0) return absl::OkStatus();
    create.overwrite = true;
    return Frame::Create(path, create).status();
  }
  const absl::Status created = Frame::Create(path, create).status();
  return absl::IsAlreadyExists(created) ? absl::OkStatus() : created;
}

absl::StatusOr<std::shared_ptr<Database>> Database::Open(const std::string& path,
                                                         const DatabaseOptions& options,
                                                         const VfsOptions& vfs) {
  ASSIGN_OR_RETURN(const FileIdentity identity, vfs.files->Identity(path));
  OpenOptions open;
  open.file_system = vfs.files;
  open.generation = options.generation;
  open.use_mmap = options.mmap;
  open.cache_memory = kCacheMemory;
  ASSIGN_OR_RETURN(Frame frame, Frame::Open(path, open));
  return std::shared_ptr<Database>(new Database(path, options, vfs, std::move(frame), identity),
                                   [](Database* database) {
                                     if (database->IsOfThisProcess()) delete database;
                                   });
}

Database::Database(std::string path, DatabaseOptions options, const VfsOptions& vfs, Frame frame,
                   FileIdentity identity)
    : path_(std::move(path)),
      options_(std::move(options)),
      vfs_(vfs),
      process_(ThisProcess()),
      identity_(identity),
      frame_(std::move(frame)) {}

Database::~Database() {
  {
    const MutexLock lock(mutex_);
    closing_ = true;
  }
  keeping_.NotifyAll();
  if (keeper_.has_value()) ::pthread_join(*keeper_, nullptr);
  // A program that asked for no sync must not wait for one now.
  if (!writer_.has_value() || !(is_durable_ || HasLeftMuch())) return;
  // If another process writes, that one settles the frame.
  if (!kept_ && !writer_->Resume().ok()) return;
  if (HasLeftMuch()) GiveBackSpace().IgnoreError();
  writer_->Close().IgnoreError();
}

bool Database::IsOfThisProcess() const { return process_ == ThisProcess(); }

bool Database::LeadsTo(const std::optional<FileIdentity>& file) const {
  const absl::StatusOr<FileIdentity> there = vfs_.files->Identity(path_);
  return there.ok() && *there == file;
}

bool Database::IsCurrent() const { return IsOfThisProcess() && LeadsTo(identity_); }

bool Database::IsWritable() const {
  const Snapshot newest = frame_.snapshot();
  return newest.info().typesize == 1 && !newest.info().variable_chunks &&
         newest.info().chunksize.value_or(0) <= DatabaseOptions::kMaxChunk &&
         !newest.array().has_value();
}

bool Database::IsOfferedToAnother(const void* owner) const {
  return offered_to_ != nullptr && offered_to_ != owner && Clock::now() < offer_end_;
}

bool Database::IsNext(const void* owner, const void* taker) const {
  if (owner_ != nullptr || IsOfferedToAnother(owner)) return false;
  return waiting_.front() == taker || offered_to_ == owner;
}

absl::Status Database::TakeTurn(const void* owner, const void* taker, Clock::time_point deadline) {
  const MutexLock lock(mutex_);
  while (owner_ == this) turn_.Wait(mutex_);  // the owner is the keeper, which is quick
  waiting_.push_back(taker);
  while (!IsNext(owner, taker)) {
    if (Clock::now() >= deadline) {
      std::erase(waiting_, taker);
      turn_.NotifyAll();
      return absl::UnavailableError(path_ + " is being written by another connection");
    }
    turn_.WaitUntil(mutex_, IsOfferedToAnother(owner) ? std::min(deadline, offer_end_) : deadline);
  }
  std::erase(waiting_, taker);
  owner_ = taker;
  offered_to_ = nullptr;
  return absl::OkStatus();
}

absl::Status Database::OpenWriter(Clock::time_point deadline) {
  WriterOptions options;
  options.compression = CompressionOf(options_, frame_.snapshot().create_options().compression);
  options.opening = Durability::kProcess;  // synchronous=OFF waits for no disk
  options.keep_generations = options_.keep_generations;
  options.staged_memory = kStagedMemory;
  options.wait = std::max(std::chrono::milliseconds(0),
                          std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()));
  dead_before_ = DeadBytes(frame_);
  ASSIGN_OR_RETURN(writer_, frame_.OpenWriter(options));
  return absl::OkStatus();
}

absl::Status Database::Resume(Clock::time_point deadline) {
  {
    const MutexLock lock(mutex_);
    if (std::exchange(kept_, false)) return absl::OkStatus();
  }
  deadline = std::max(deadline, Clock::now() + 2 * vfs_.keep);
  if (!writer_.has_value()) return OpenWriter(deadline);
  const absl::Status resumed = writer_->Resume(
      std::max(std::chrono::milliseconds(0),
               std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now())));
  if (resumed.ok() || absl::IsUnavailable(resumed)) return resumed;
  // A failed write has stopped the writer, so the file is looked at again.
  writer_.reset();
  return OpenWriter(deadline);
}

absl::Status Database::CheckProcess() const {
  if (IsOfThisProcess()) return absl::OkStatus();
  return absl::FailedPreconditionError(path_ + " was opened by the process that forked this one");
}

absl::Status Database::Take(const void* owner, const void* taker, Clock::time_point deadline) {
  RETURN_IF_ERROR(TakeTurn(owner, taker, deadline));
  const absl::Status resumed = Resume(deadline);
  if (resumed.ok()) return resumed;
  const MutexLock lock(mutex_);
  owner_ = nullptr;
  turn_.NotifyAll();
  return resumed;
}

absl::Status Database::Acquire(const void* owner, std::chrono::milliseconds wait) {
  RETURN_IF_ERROR(CheckProcess());
  {
    const MutexLock lock(mutex_);
    if (owner_ == owner) return absl::OkStatus();
  }
  RETURN_IF_ERROR(Take(owner, owner, Clock::now() + wait));
  CountRow();
  return absl::OkStatus();
}

void Database::AwaitTurn(const void* owner, std::chrono::milliseconds wait) {
  const char taker = 0;
  // A failure shows at the next try.
  if (!IsOfThisProcess() || !Take(owner, &taker, Clock::now() + wait).ok()) return;
  const bool keep = vfs_.keep.count() > 0;
  if (!keep) SuspendWriter();
  const MutexLock lock(mutex_);
  owner_ = nullptr;
  offered_to_ = owner;
  offer_end_ = Clock::now() + kOffer;
  turn_.NotifyAll();
  if (keep) KeepUntil(offer_end_);
}

// Returns true if more than an eighth of the live bytes is unused, because giving space back looks
// at each page.
bool Database::HasLeftMuch() const {
  const int64_t much = std::max(kLeastToGive, frame_.snapshot().info().cbytes / 8);
  return options_.keep_generations == 0 && DeadBytes(frame_) - dead_before_ > much;
}

absl::Status Database::GiveBackSpace() {
  return writer_->Reclaim({.keep_generations = options_.keep_generations}).status();
}

void Database::SuspendWriter() {
  if (!writer_->Suspend().ok()) writer_.reset();
}

void Database::CountRow() {
  const bool goes_on = Clock::now() < released_ + vfs_.keep &&
                       frame_.snapshot().info().generation == released_generation_;
  row_ = goes_on ? std::min(row_ + 1, kRow) : 0;
}

bool Database::IsWaitedFor() {
  const Clock::time_point now = Clock::now();
  if (now < looked_ + kLook) return false;
  looked_ = now;
  const absl::StatusOr<bool> waits = writer_->HasWaiters();
  return !waits.ok() || *waits;
}

void Database::Release(const void* owner, Outcome outcome) {
  if (!IsOfThisProcess()) return;
  {
    const MutexLock lock(mutex_);
    if (owner_ != owner) return;
  }
  const bool pays =
      outcome == Outcome::kNotDurable || (outcome == Outcome::kDurable && row_ == kRow);
  const bool keep = vfs_.keep.count() > 0 && pays && !IsWaitedFor() && HasKeeper();
  if (!keep) SuspendWriter();
  const MutexLock lock(mutex_);
  owner_ = nullptr;
  released_generation_ = frame_.snapshot().info().generation;
  released_ = Clock::now();
  turn_.NotifyAll();
  if (keep) KeepUntil(released_ + vfs_.keep);
}

// The writer must have no owner.
void Database::KeepUntil(Clock::time_point end) {
  kept_ = true;
  keep_end_ = end;
  if (keeper_sleeps_) keeping_.NotifyAll();
}

// Returns true if there is a keeper, and starts it if not. The program's signals are not for it.
bool Database::HasKeeper() {
  if (keeper_.has_value()) return true;
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread{};
  const auto run = [](void* self) -> void* {
    static_cast<Database*>(self)->SuspendWhenIdle();
    return nullptr;
  };
  if (::pthread_create(&thread, nullptr, run, this) == 0) keeper_ = thread;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return keeper_.has_value();
}

void Database::SuspendWhenIdle() {
  const MutexLock lock(mutex_);
  while (!closing_) {
    if (!kept_ || owner_ != nullptr) {
      keeper_sleeps_ = true;
      keeping_.Wait(mutex_);  // waits for the end of a transaction
      keeper_sleeps_ = false;
    } else if (Clock::now() < keep_end_) {
      keeping_.WaitUntil(mutex_, keep_end_);
    } else {
      owner_ = this;
      kept_ = false;
      mutex_.Unlock();
      SuspendWriter();
      mutex_.Lock();
      owner_ = nullptr;
      turn_.NotifyAll();
    }
  }
}

bool Database::IsOwned() const {
  const MutexLock lock(mutex_);
  return owner_ != nullptr;
}

}  // namespace cairn::sqlite
