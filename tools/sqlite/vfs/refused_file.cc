#include "tools/sqlite/vfs/refused_file.h"

#include <algorithm>

namespace cairn::sqlite {

namespace {

// This is a control of our own. SQLite leaves the numbers above 100 to VFSs.
constexpr int kAskRefusal = 0x636e7266;

struct Refusal {
  int code = SQLITE_OK;
  std::string message;
};

// An extension of each new connection, in the form that sqlite3_auto_extension needs.
int TellRefusal(sqlite3* db, char** message, const sqlite3_api_routines* /*api*/) {
  Refusal refusal;
  if (sqlite3_file_control(db, "main", kAskRefusal, &refusal) != SQLITE_OK) return SQLITE_OK;
  if (refusal.code == SQLITE_OK) return SQLITE_OK;
  *message = sqlite3_mprintf("cairn: %s", refusal.message.c_str());
  return refusal.code;
}

}  // namespace

int RefusedFile::Read(int64_t /*offset*/, MutableBytes dst) {
  std::ranges::fill(dst, std::byte{0});
  return SQLITE_IOERR_SHORT_READ;
}

int RefusedFile::Size(int64_t& size) {
  size = 0;
  return code_;
}

int RefusedFile::Control(int op, void* arg) {
  switch (op) {
    case kAskRefusal:
      *static_cast<Refusal*>(arg) = {.code = code_, .message = message_};
      return SQLITE_OK;
    case SQLITE_FCNTL_PRAGMA:
      *static_cast<char**>(arg) = sqlite3_mprintf("cairn: %s", message_.c_str());
      return code_;
    default:
      return SQLITE_NOTFOUND;
  }
}

int TellRefusals() { return sqlite3_auto_extension(reinterpret_cast<void (*)()>(&TellRefusal)); }

}  // namespace cairn::sqlite
