// Linked into testfixture, which calls it as SQLITE_EXTRA_INIT: loads the extension that
// CAIRN_SQLITE names, if it is set, and makes its VFS the default.
#include <sqlite3.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "logical_bytes.h"

int UseCairn(const char* unused) {
  (void)unused;
  const char* extension = getenv("CAIRN_SQLITE");
  if (extension == NULL) return SQLITE_OK;
  sqlite3* db = NULL;
  char* message = NULL;
  int code = sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE, "unix");
  if (code == SQLITE_OK) {
    code = sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, NULL);
  }
  if (code == SQLITE_OK) code = sqlite3_load_extension(db, extension, NULL, &message);
  sqlite3_vfs* vfs = sqlite3_vfs_find("cairn");
  if (code == SQLITE_OK) code = vfs == NULL ? SQLITE_ERROR : sqlite3_vfs_register(vfs, 1);
  if (code != SQLITE_OK) {
    fprintf(stderr, "%s: %s\n", extension, message != NULL ? message : "brings no VFS");
  }
  sqlite3_close(db);
  if (code != SQLITE_OK) return code;  // or the tests would judge another VFS
  OfferLogicalBytes();
  return SQLITE_OK;
}
