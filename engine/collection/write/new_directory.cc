#include "engine/collection/write/new_directory.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "engine/base/random.h"
#include "engine/base/status.h"
#include "engine/format/sparse_names.h"
#include "engine/frame/files/frame_location.h"
#include "engine/frame/files/frame_locks.h"

namespace cairn::collection {

namespace {

// No member has the id 0. If a copy dies after it is complete, the next writer removes the file.
constexpr std::string_view kClaimName(".cairn-0000000000000000");
// A claim with this content says that the directory was empty, so that all in it is the copy's.
constexpr std::string_view kWasEmpty("an unfinished copy of a collection\n");
constexpr int kMaxAttempts = 16;
constexpr int kMaxDepth = 512;  // of groups
// At most this many names beside the copy are looked at.
constexpr int64_t kMaxNames = 10'000;

absl::Status IsThere(const std::string& path, std::string_view what) {
  return absl::AlreadyExistsError(absl::StrCat(path, ": ", std::string(what)));
}

bool IsMadeByCopies(std::string_view name) {
  return KindOfFile(name).has_value() || name.ends_with(".tmp") || name == kLedgerName;
}

// Removes what a dead copy has made in the directory, but for its claim.
absl::Status Sweep(FileSystem& directory, int depth) {
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::string> names, directory.List("."));
  // Another collection has come to lie there.
  if (depth > 0 && std::ranges::find(names, kLedgerName) != names.end()) return absl::OkStatus();
  for (const std::string& name : names) {
    if (IsMadeByCopies(name)) {
      CAIRN_RETURN_IF_ERROR(directory.Remove(name));
    } else if (depth < kMaxDepth) {
      const absl::StatusOr<std::shared_ptr<FileSystem>> group = directory.OpenDirectory(name);
      if (!group.ok()) continue;
      CAIRN_RETURN_IF_ERROR(Sweep(**group, depth + 1));
      directory.RemoveDirectory(name).IgnoreError();  // it may hold more
    }
  }
  return absl::OkStatus();
}

// Takes the lock of a claim. Errors: kAlreadyExists if a living copy has it; kAborted if the file
// was removed meanwhile.
absl::Status LockClaim(FileSystem& files, const std::string& path, File& claim) {
  const absl::Status locked = claim.LockByte(frame::kWriterLockByte, LockMode::kExclusive);
  if (absl::IsUnavailable(locked)) return IsThere(path, "another copy is being made");
  CAIRN_RETURN_IF_ERROR(locked);
  CAIRN_ASSIGN_OR_RETURN(const bool there, frame::RefersTo(files, path, claim));
  return there ? absl::OkStatus() : absl::AbortedError(path + " was removed");
}

// Returns true if the claim was made in an empty directory.
absl::StatusOr<bool> WasEmpty(const File& claim) {
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, claim.Size());
  return size == static_cast<int64_t>(kWasEmpty.size());
}

void RemoveIfDead(FileSystem& around, const std::string& name) {
  const absl::StatusOr<std::shared_ptr<FileSystem>> directory = around.OpenDirectory(name);
  if (!directory.ok()) return;
  const std::string claim(kClaimName);
  const absl::StatusOr<std::unique_ptr<File>> file =
      (*directory)->Open(claim, FileMode::kReadWrite);
  if (file.ok()) {
    if (!LockClaim(**directory, claim, **file).ok()) return;
    if (WasEmpty(**file).value_or(false) && !Sweep(**directory, 0).ok()) return;
    // The claim goes last: until then the rest can be found again.
    const absl::StatusOr<std::vector<std::string>> left = (*directory)->List(".");
    if (!left.ok() || left->size() > 1 || !(*directory)->Remove(claim).ok()) return;
  }
  around.RemoveDirectory(name).IgnoreError();
}

// Removes what dead copies to `target` have left beside it.
void RemoveDeadBeside(FileSystem& files, const std::string& target) {
  const size_t slash = target.rfind('/');
  const auto around = files.OpenDirectory(slash == 0 ? "/" : target.substr(0, slash));
  if (!around.ok()) return;
  const std::string base = target.substr(slash + 1);
  const std::string stem = std::string(format::TemporaryStemOf(base)) + ".";
  const auto names = (*around)->ListSome(".", stem, kMaxNames);
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    if (format::IsTemporaryNameOf(base, name)) RemoveIfDead(**around, name);
  }
}

std::string TemporaryNameOf(std::string_view target) {
  const size_t name = target.rfind('/') + 1;
  const size_t stem = format::TemporaryStemOf(target.substr(name)).size();
  return absl::StrFormat("%s.%016x.tmp", target.substr(0, name + stem), RandomNumber());
}

}  // namespace

absl::StatusOr<NewDirectory> NewDirectory::Begin(const Site& to) {
  RemoveDeadBeside(*to.files, to.root);
  for (int attempt = 1;; ++attempt) {
    const bool is_there = to.files->Identity(to.root).ok();
    Site site = to;
    if (!is_there) site.root = TemporaryNameOf(to.root);
    NewDirectory made(std::move(site), to.root);
    if (!is_there) {
      CAIRN_RETURN_IF_ERROR(made.AboutTarget(to.files->MakeDirectory(made.site_.root)));
    }
    const absl::Status claimed = made.Claim();
    if (claimed.ok()) return made;
    if (!absl::IsAborted(claimed)) return made.AboutTarget(claimed);
    if (attempt == kMaxAttempts) return WithCode(absl::StatusCode::kUnavailable, claimed);
  }
}

NewDirectory::~NewDirectory() {
  if (claim_ != nullptr && owner_.is_here()) LetGo();
}

// The claim is made before the directory is looked at, and gets its content after that: a process
// that dies in between has said nothing about what is there.
absl::Status NewDirectory::Claim() {
  FileSystem& files = *site_.files;
  const std::string path = absl::StrCat(site_.root, "/", std::string(kClaimName));
  const absl::StatusOr<std::shared_ptr<FileSystem>> directory = files.OpenDirectory(site_.root);
  if (absl::IsFailedPrecondition(directory.status())) return IsThere(site_.root, "a file is there");
  if (absl::IsNotFound(directory.status())) return absl::AbortedError(site_.root + " was removed");
  CAIRN_RETURN_IF_ERROR(directory.status());
  CAIRN_ASSIGN_OR_RETURN(std::vector<std::string> names, (*directory)->List("."));
  std::erase(names, kClaimName);
  const bool is_complete = std::ranges::find(names, kLedgerName) != names.end();
  absl::StatusOr<std::unique_ptr<File>> claim = absl::NotFoundError(path);
  if (names.empty()) claim = files.Open(path, FileMode::kCreateNew);
  if (!claim.ok() && !is_complete) claim = files.Open(path, FileMode::kReadWrite);
  if (absl::IsNotFound(claim.status())) {
    if (!names.empty()) return IsThere(site_.root, "the directory is not empty");
    return absl::AbortedError(path + " was removed");
  }
  CAIRN_RETURN_IF_ERROR(claim.status());
  CAIRN_RETURN_IF_ERROR(LockClaim(files, path, **claim));
  claim_ = *std::move(claim);
  return ClaimLeft();
}

// Looks at the directory again, now that no other copy can change it.
absl::Status NewDirectory::ClaimLeft() {
  CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<FileSystem> directory,
                         site_.files->OpenDirectory(site_.root));
  CAIRN_ASSIGN_OR_RETURN(const bool was_empty, WasEmpty(*claim_));
  const bool is_complete = directory->Identity(std::string(kLedgerName)).ok();
  if (was_empty && !is_complete) CAIRN_RETURN_IF_ERROR(Sweep(*directory, 0));
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::string> names, directory->List("."));
  if (names.size() > 1) {
    LetGo();
    return IsThere(site_.root, "the directory is not empty");
  }
  return claim_->WriteAt(0, std::as_bytes(std::span(kWasEmpty)));
}

// Another program may have put something into the directory, which then stays.
void NewDirectory::LetGo() {
  site_.files->Remove(absl::StrCat(site_.root, "/", std::string(kClaimName))).IgnoreError();
  if (site_.root != target_) site_.files->RemoveDirectory(site_.root).IgnoreError();
  claim_.reset();
}

absl::Status NewDirectory::Publish() {
  if (site_.root != target_) {
    // A file system that limits permissions would give the directory those of a file.
    FileSystem& files = *frame::FilesOrPosix(site_.options.members.file_system);
    const std::string temporary = site_.root;
    absl::Status renamed = files.Rename(temporary, target_, false);
    if (!renamed.ok() && !absl::IsAlreadyExists(renamed) && !files.Identity(target_).ok()) {
      // Some file systems cannot refuse to replace. A directory never replaces one that holds
      // anything.
      renamed = files.Rename(temporary, target_, true);
    }
    if (absl::IsAlreadyExists(renamed))
      return IsThere(target_, "something was put there meanwhile");
    CAIRN_RETURN_IF_ERROR(AboutTarget(renamed));
    site_.root = target_;
    if (const absl::Status synced = files.SyncDirectoryOf(target_); !synced.ok()) {
      if (files.Rename(target_, temporary, false).ok()) site_.root = temporary;
      return synced;
    }
  }
  const std::string path = absl::StrCat(target_, "/", std::string(kClaimName));
  site_.files->Remove(path).IgnoreError();  // the next writer would remove it, too
  claim_.reset();
  return absl::OkStatus();
}

absl::Status NewDirectory::AboutTarget(const absl::Status& status) const {
  std::string message(status.message());
  if (site_.root == target_ || !message.starts_with(site_.root)) return status;
  message.replace(0, site_.root.size(), target_);
  return absl::Status(status.code(), message);
}

}  // namespace cairn::collection
