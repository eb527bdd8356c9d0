// Runs SQLite's own benchmark over databases of an extension: speedtest1 EXTENSION ARGUMENTS...
// speedtest1.sh compiles it with the source of the benchmark, whose main is renamed.
#include <sqlite3.h>
#include <stddef.h>
#include <stdio.h>

int Speedtest1(int argc, char** argv);

int main(int argc, char** argv) {
  sqlite3* db = NULL;
  char* message = NULL;
  if (argc < 2) return 2;
  sqlite3_config(SQLITE_CONFIG_URI, 1);
  if (argv[1][0] != '\0') {
    sqlite3_open(":memory:", &db);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, NULL);
    if (sqlite3_load_extension(db, argv[1], NULL, &message) != SQLITE_OK) {
      fprintf(stderr, "%s: %s\n", argv[1], message);
      return 1;
    }
    sqlite3_close(db);
  }
  argv[1] = argv[0];
  return Speedtest1(argc - 1, argv + 1);
}
