// Does what a program in C does that keeps its database in a frame: use EXTENSION DATABASE.
#include <sqlite3.h>
#include <stdio.h>

static int Fails(sqlite3* db, const char* what) {
  fprintf(stderr, "%s: %s\n", what, sqlite3_errmsg(db));
  return 1;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  sqlite3* db = NULL;
  sqlite3_open(":memory:", &db);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, NULL);
  if (sqlite3_load_extension(db, argv[1], NULL, NULL) != SQLITE_OK) return Fails(db, argv[1]);
  sqlite3_close(db);

  char* uri = sqlite3_mprintf("file:%s?vfs=cairn", argv[2]);
  if (sqlite3_open_v2(uri, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI,
                      NULL) != SQLITE_OK) {
    return Fails(db, uri);
  }
  sqlite3_free(uri);
  if (sqlite3_exec(db,
                   "CREATE TABLE IF NOT EXISTS t(a); BEGIN; INSERT INTO t VALUES(1); COMMIT;"
                   "BEGIN; INSERT INTO t VALUES(2); ROLLBACK",
                   NULL, NULL, NULL) != SQLITE_OK) {
    return Fails(db, "SQL");
  }
  sqlite3_stmt* count = NULL;
  if (sqlite3_prepare_v2(db, "SELECT sum(a) FROM t", -1, &count, NULL) != SQLITE_OK ||
      sqlite3_step(count) != SQLITE_ROW) {
    return Fails(db, "SELECT");
  }
  printf("%d\n", sqlite3_column_int(count, 0));
  sqlite3_finalize(count);
  return sqlite3_close(db) == SQLITE_OK ? 0 : Fails(db, "close");
}
