// Tcl commands that show tests the pages of a database in a frame, where they look into the file of
// a database of SQLite's own: cairn_size FILE, cairn_read FILE OFFSET BYTES, cairn_write FILE
// OFFSET HEX.
#include "logical_bytes.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <tcl.h>

enum { kMostPage = 65536 };

// A file of the VFS `cairn` with a lock of this level.
typedef struct {
  sqlite3_filename name;
  sqlite3_file* file;
} Opened;

static int Open(Tcl_Interp* interp, const char* path, int level, Opened* opened) {
  sqlite3_vfs* vfs = sqlite3_vfs_find("cairn");
  char* full = malloc((size_t)vfs->mxPathname + 1);
  int code = vfs->xFullPathname(vfs, path, vfs->mxPathname + 1, full) & ~SQLITE_OK_SYMLINK;
  int flags = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_READWRITE;
  opened->name = sqlite3_create_filename(full, "", "", 0, NULL);
  opened->file = calloc(1, (size_t)vfs->szOsFile);
  free(full);
  if (code == SQLITE_OK) code = vfs->xOpen(vfs, opened->name, opened->file, flags, &flags);
  for (int next = SQLITE_LOCK_SHARED; code == SQLITE_OK && next <= level; ++next) {
    if (next == SQLITE_LOCK_PENDING) continue;  // nobody asks for it
    code = opened->file->pMethods->xLock(opened->file, next);
  }
  if (code != SQLITE_OK) Tcl_AppendResult(interp, path, ": ", sqlite3_errstr(code), NULL);
  return code;
}

static void Close(Opened* opened) {
  if (opened->file->pMethods != NULL) {
    opened->file->pMethods->xUnlock(opened->file, SQLITE_LOCK_NONE);
    opened->file->pMethods->xClose(opened->file);
  }
  sqlite3_free_filename(opened->name);
  free(opened->file);
}

static int Size(void* unused, Tcl_Interp* interp, int count, Tcl_Obj* const* words) {
  (void)unused;
  if (count != 2) return TCL_ERROR;
  Opened opened;
  int code = Open(interp, Tcl_GetString(words[1]), SQLITE_LOCK_SHARED, &opened);
  sqlite3_int64 size = 0;
  if (code == SQLITE_OK) code = opened.file->pMethods->xFileSize(opened.file, &size);
  Close(&opened);
  if (code == SQLITE_OK) Tcl_SetObjResult(interp, Tcl_NewWideIntObj(size));
  return code == SQLITE_OK ? TCL_OK : TCL_ERROR;
}

static int Read(void* unused, Tcl_Interp* interp, int count, Tcl_Obj* const* words) {
  (void)unused;
  int offset, bytes;
  if (count != 4 || Tcl_GetIntFromObj(interp, words[2], &offset) != TCL_OK ||
      Tcl_GetIntFromObj(interp, words[3], &bytes) != TCL_OK) {
    return TCL_ERROR;
  }
  Opened opened;
  int code = Open(interp, Tcl_GetString(words[1]), SQLITE_LOCK_SHARED, &opened);
  sqlite3_int64 size = 0;
  if (code == SQLITE_OK) code = opened.file->pMethods->xFileSize(opened.file, &size);
  if (offset + bytes > size) bytes = offset < size ? (int)(size - offset) : 0;
  unsigned char* read = malloc((size_t)bytes + 1);
  if (code == SQLITE_OK && bytes > 0) {
    code = opened.file->pMethods->xRead(opened.file, read, bytes, offset);
  }
  Close(&opened);
  Tcl_Obj* hex = Tcl_NewObj();
  for (int i = 0; i < bytes; ++i) Tcl_AppendPrintfToObj(hex, "%02X", read[i]);
  free(read);
  Tcl_SetObjResult(interp, hex);
  return code == SQLITE_OK ? TCL_OK : TCL_ERROR;
}

// Whole pages are written: those that the bytes lie in.
static int Patch(sqlite3_file* file, sqlite3_int64 offset, const unsigned char* bytes, int count) {
  unsigned char header[100] = {0};
  file->pMethods->xRead(file, header, sizeof(header), 0);
  int size = header[16] << 8 | header[17];
  if (size == 1) size = kMostPage;
  if (size < 512 || (size & (size - 1)) != 0) size = 1024;  // it was spoilt; the suite's default
  static unsigned char page[kMostPage];
  int code = SQLITE_OK;
  while (code == SQLITE_OK && count > 0) {
    const int within = (int)(offset % size);
    const int part = count < size - within ? count : size - within;
    code = file->pMethods->xRead(file, page, size, offset - within);
    if (code != SQLITE_OK && code != SQLITE_IOERR_SHORT_READ) return code;
    memcpy(page + within, bytes, (size_t)part);
    code = file->pMethods->xWrite(file, page, size, offset - within);
    offset += part;
    bytes += part;
    count -= part;
  }
  return code;
}

static int Write(void* unused, Tcl_Interp* interp, int count, Tcl_Obj* const* words) {
  (void)unused;
  int offset;
  if (count != 4 || Tcl_GetIntFromObj(interp, words[2], &offset) != TCL_OK) return TCL_ERROR;
  const char* hex = Tcl_GetString(words[3]);
  const int bytes = (int)strlen(hex) / 2;
  unsigned char* written = malloc((size_t)bytes + 1);
  for (int i = 0; i < bytes; ++i) {
    const char digits[3] = {hex[2 * i], hex[2 * i + 1], '\0'};
    written[i] = (unsigned char)strtol(digits, NULL, 16);
  }
  Opened opened;
  int code = Open(interp, Tcl_GetString(words[1]), SQLITE_LOCK_EXCLUSIVE, &opened);
  if (code == SQLITE_OK) code = Patch(opened.file, offset, written, bytes);
  if (code == SQLITE_OK) code = opened.file->pMethods->xSync(opened.file, SQLITE_SYNC_NORMAL);
  if (code == SQLITE_OK) {
    code = opened.file->pMethods->xFileControl(opened.file, SQLITE_FCNTL_COMMIT_PHASETWO, NULL);
  }
  Close(&opened);
  free(written);
  if (code == SQLITE_OK) Tcl_SetObjResult(interp, Tcl_NewIntObj(bytes));
  return code == SQLITE_OK ? TCL_OK : TCL_ERROR;
}

static int Init(Tcl_Interp* interp) {
  Tcl_CreateObjCommand(interp, "cairn_size", Size, NULL, NULL);
  Tcl_CreateObjCommand(interp, "cairn_read", Read, NULL, NULL);
  Tcl_CreateObjCommand(interp, "cairn_write", Write, NULL, NULL);
  return TCL_OK;
}

void OfferLogicalBytes(void) { Tcl_StaticPackage(NULL, "Cairn", Init, NULL); }
